import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { openStore } from '../../src/store/session/open.ts'
import { main, withFolder } from '../e2e/command.ts'
import { answerChat, key, startTarget } from '../run/target.ts'

test(
  'requests are not sent when the process has no file descriptors left, and the run is invalid',
  { tags: 'whole' },
  () =>
    withFolder(async (folder) => {
      // Slow enough that each user needs a connection of its own.
      const target = await startTarget(
        (_, response) => void setTimeout(() => answerChat(response), 300),
      )
      const [path, db] = [join(folder, 'files.yaml'), join(folder, 'files.duckdb')]
      writeFileSync(
        path,
        `name: files
question: Does it name its own limit?
model: svc-k2
steps: { chat: { endpoint: chat } }
phases: [{ name: a, load: concurrency, users: 200, duration: 1s }]
`,
      )
      const run = ['run', path, '--base-url', target.baseUrl, '--db', db]
      const child = spawn(
        'sh',
        ['-c', 'ulimit -n 120; exec "$@"', 'sh', process.execPath, main, ...run],
        { env: { ...process.env, ASSAY_API_KEY: key }, stdio: ['ignore', 'pipe', 'inherit'] },
      )
      const exit = once(child, 'exit')
      const out = await text(child.stdout)
      expect(await exit).toEqual([4, null])
      expect(out).toMatch(/this machine +failed +no-open-file, [\d,]+ requests/)
      expect(out).toContain('Every row is there')
      expect(out).not.toContain('could not be written')
      expect(out.replace(/\s+/g, ' ')).toContain(
        'this machine: This process may open no more files: raise ulimit -n, or lower max_in_flight.',
      )
      const store = await openStore(db)
      const ends = await store.rows(
        'SELECT DISTINCT outcome, reason FROM attempts ORDER BY outcome',
      )
      store.close()
      target.close()
      expect(ends).toEqual([
        { outcome: 'not_sent', reason: 'no-open-file' },
        { outcome: 'ok', reason: null },
      ])
    }),
)

/** A network namespace with few ports. */
const ownNetwork = ['-rn', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']
const mayHaveOne = spawnSync('unshare', [...ownNetwork, 'true']).status === 0

test.runIf(mayHaveOne)(
  'requests are not sent when the machine has no local ports left, and the run is invalid',
  { tags: 'whole' },
  () =>
    withFolder(async (folder) => {
      const [path, db] = [join(folder, 'ports.yaml'), join(folder, 'ports.duckdb')]
      writeFileSync(
        path,
        `name: ports
question: Does it name its own limit?
model: svc-k2
steps: { chat: { endpoint: chat } }
phases: [{ name: a, load: concurrency, users: 200, duration: 1s }]
`,
      )
      const target = resolve(import.meta.dirname, '../run/target.ts')
      const script = `
        import { spawn } from 'node:child_process'
        import { writeFileSync } from 'node:fs'
        import { answerChat, startTarget } from ${JSON.stringify(target)}
        const target = await startTarget((_, response) => setTimeout(() => answerChat(response), 300))
        writeFileSync('/proc/sys/net/ipv4/ip_local_port_range', '40000 40060')
        const run = ['run', ${JSON.stringify(path)}, '--base-url', target.baseUrl, '--db', ${JSON.stringify(db)}]
        spawn(process.execPath, [${JSON.stringify(main)}, ...run], { stdio: 'inherit' })
          .on('exit', (code) => process.exit(code))`
      const child = spawn(
        'unshare',
        [...ownNetwork, process.execPath, '--input-type=module-typescript', '-e', script],
        { env: { ...process.env, ASSAY_API_KEY: key }, stdio: ['ignore', 'pipe', 'inherit'] },
      )
      const exit = once(child, 'exit')
      const out = (await text(child.stdout)).replace(/\s+/g, ' ')
      expect(await exit).toEqual([4, null])
      expect(out).toMatch(/this machine failed no-local-port, [\d,]+ requests/)
      expect(out).toContain(
        'this machine: This machine has no local port left: let connections be used again, widen net.ipv4.ip_local_port_range',
      )
      const store = await openStore(db)
      const ends = await store.rows(
        'SELECT DISTINCT outcome, reason FROM attempts ORDER BY outcome',
      )
      store.close()
      expect(ends).toEqual([
        { outcome: 'not_sent', reason: 'no-local-port' },
        { outcome: 'ok', reason: null },
      ])
    }),
)
