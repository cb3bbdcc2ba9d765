import { startNullServer } from '../src/run/self-test/null-server.ts'

/** The null server as a process of its own, to be pinned to a core. */
const server = await startNullServer(Number(process.argv[2] ?? 100))
process.stdout.write(`${JSON.stringify({ baseUrl: server.baseUrl })}\n`)
