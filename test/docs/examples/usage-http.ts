import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { usageHandler } from 'assay'

// A path instead of a store: the file is open for moments only, so a cron job can import into it.
const usage = usageHandler('assay.duckdb', 'usage.yaml')
await usage.ready
export const server = createServer(getRequestListener(usage, { overrideGlobalObjects: false }))
server.on('close', () => void usage.close())
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1')
