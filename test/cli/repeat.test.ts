import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Comparison } from '../../src/report/compare/compare.ts'
import { assay, withFolder } from '../e2e/command.ts'
import { answerChat, key, startTarget } from '../run/target.ts'
import { openStore } from '../store/opened.ts'

const env = { ASSAY_API_KEY: key }

test('run --repeat makes runs of one name, each with its own seed, that compare takes together', {
  tags: 'whole',
}, async () => {
  const target = await startTarget((_, response) => answerChat(response, 'Yes.', 2))
  try {
    await withFolder(async (folder) => {
      const scenario = join(folder, 'r.yaml')
      writeFileSync(
        scenario,
        `name: r
question: Is it fast?
model: svc-k2
seed: 40
steps: { chat: { endpoint: chat } }
phases: [{ name: steady, load: constant, rate: 100/s, max_requests: 40 }]
`,
      )
      const db = join(folder, 'a.duckdb')
      const call = (...args: readonly string[]) =>
        assay([...args, '--db', db], { env, cwd: folder }).ended
      const run = (...more: readonly string[]) =>
        call('run', scenario, '--base-url', target.baseUrl, ...more)
      const few = await run('--repeat', '2')
      expect([few.code, few.stderr]).toEqual([
        2,
        expect.stringContaining('--repeat: expected 3 to 100 runs; got 2.'),
      ])
      const apart = await run('--repeat', '3', '--junit', join(folder, 'j.xml'))
      expect([apart.code, apart.stderr]).toEqual([
        2,
        expect.stringContaining('--junit: --repeat cannot take it.'),
      ])
      const broken = await run('--repeat', '3', '--before-each', 'exit 7')
      expect([broken.code, broken.stderr]).toEqual([
        2,
        expect.stringContaining(
          '--before-each: expected the command to end with 0; it ended with 7.',
        ),
      ])
      expect((await run('--before-each', 'true')).stderr).toContain('expected --repeat, too')
      expect(target.requests).toBe(0)

      const made = await run(
        '--repeat',
        '3',
        '--run-id',
        'before',
        '--before-each',
        `echo again >> ${join(folder, 'starts')}`,
        '--no-first-requests',
      )
      expect(made.stderr).toBe('')
      expect(made.stdout.trimEnd().split('\n').at(-1)).toBe(
        `Next: assay compare before latest --db ${db}  # after as many runs of another build; compares both`,
      )
      expect(target.requests).toBe(120)
      expect(readFileSync(join(folder, 'starts'), 'utf8')).toBe('again\n'.repeat(3))
      await run('--repeat', '3', '--run-id', 'after', '--no-first-requests')
      // How busy this machine is does not matter here.
      const store = await openStore(db)
      await store.execute(`UPDATE runs SET verdict = 'valid'`)
      store.close()
      const { stdout } = await call('compare', 'before', 'after', '--json')
      const comparison = JSON.parse(stdout) as Comparison
      expect(comparison.repeats).toEqual({ a: 3, b: 3 })
      expect([comparison.a.run.seed, comparison.b.run.seed]).toEqual([42, 42])
      const shown = await call('compare', 'previous', 'latest')
      expect(shown.stdout).toContain('The intervals are between 3 runs of a and 3 of b.')
    })
  } finally {
    await target.close()
  }
})
