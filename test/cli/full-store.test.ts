import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { openStore } from '../../src/store/session/open.ts'
import { main, withFolder } from '../e2e/command.ts'
import { answerChat, key, startTarget } from '../run/target.ts'

test(
  'a store that cannot grow ends the run with its summary, the file, the cause and a remedy',
  { tags: 'whole', timeout: 120_000 },
  () =>
    withFolder(async (folder) => {
      const target = await startTarget((_, response) => answerChat(response))
      const [path, db] = [join(folder, 'full.yaml'), join(folder, 'full.duckdb')]
      writeFileSync(
        path,
        `name: full
question: What is left?
model: svc-k2
steps: { chat: { endpoint: chat } }
phases: [{ name: a, load: concurrency, users: 16, duration: 90s }]
`,
      )
      const run = ['run', path, '--base-url', target.baseUrl, '--db', db]
      const child = spawn(
        'sh',
        ['-c', 'ulimit -f 3000; exec "$@"', 'sh', process.execPath, main, ...run],
        { env: { ...process.env, ASSAY_API_KEY: key }, stdio: ['ignore', 'pipe', 'ignore'] },
      )
      const exit = once(child, 'exit')
      const out = (await text(child.stdout)).replace(/\s+/g, ' ')
      expect(await exit).toEqual([4, null])
      expect(out).toMatch(/attempts [\d,]+ = sent [\d,]+ \+ not sent/)
      expect(out).toContain('Ended early: the store could not be written.')
      expect(out).toMatch(
        /recorder: \S*full\.duckdb\S* cannot be written: it may not grow further\. Raise ulimit -f/,
      )
      expect(out).toContain('Rows are missing, so nothing can be judged by this run.')
      expect(out).not.toContain('bug in Assay')
      const [, recorded] = /recorder failed ([\d,]+) of/.exec(out)!
      const store = await openStore(db)
      const [row] = await store.rows<{ n: number }>(
        'SELECT count(DISTINCT slot)::INTEGER AS n FROM attempts',
      )
      store.close()
      target.close()
      expect(row!.n).toBeGreaterThan(0)
      expect(row!.n).toBeGreaterThanOrEqual(Number(recorded!.replaceAll(',', '')))
    }),
)
