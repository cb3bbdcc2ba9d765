import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Finding, isBroken } from '../../src/audit/verdict.ts'
import type { RunResult } from '../../src/run/run.ts'
import { assay, withFolder, withService } from '../e2e/command.ts'

const contractB = `extends: svc
name: other
models: [{ id: svc-k2, context_window_tokens: 8192, cost_credits: 3 }]
`

const scenario = (a: string, b: string) => `name: pair
question: Does each keep its own promises?
model: svc-k2
targets:
  a: { base_url: "${a}", key_env: KEY_A }
  b: { base_url: "${b}", key_env: KEY_B, contract: b.yaml }
steps: { chat: { endpoint: chat, stream: true, include_usage: true, max_tokens: 8 } }
phases: [{ name: steady, load: constant, rate: 20/s, max_requests: 60 }]
thresholds:
  - errors < 50%
  - credits <= 100
capture: all
`

/** The rules that the audit of one side of a pair says are broken, and its exit code. */
async function brokenBy(folder: string, run: string, db: string, ...more: readonly string[]) {
  const { code, stdout } = await assay(['audit', run, '--db', db, '--json', ...more], {
    cwd: folder,
  }).ended
  const { findings } = JSON.parse(stdout) as { readonly findings: readonly Finding[] }
  return { code, broken: findings.filter(isBroken).map(({ rule }) => rule) }
}

test.each([
  [['--fault', 'done-twice'], [], ['SSE-04'], []],
  [[], ['--fault', 'done-twice'], [], ['SSE-04']],
])(
  'of a service with %j and one with %j, the audit accuses the faulty one alone',
  { tags: 'whole', timeout: 120_000 },
  async (faultA, faultB, ofA, ofB) => {
    await withFolder(async (folder) => {
      const contract = join(folder, 'b.yaml')
      writeFileSync(contract, contractB)
      await withService(faultA, async (a) => {
        await withService(['--contract', contract, ...faultB], async (b) => {
          writeFileSync(join(folder, 'pair.yaml'), scenario(a.baseUrl, b.baseUrl))
          const keyOf = ({ keys }: typeof a) => keys.at(-1)!.apiKey
          const { stdout } = await assay(
            ['run', 'pair.yaml', '--db', 'a.duckdb', '--run-id', 'p', '--json'],
            { env: { KEY_A: keyOf(a), KEY_B: keyOf(b) }, cwd: folder },
          ).ended
          // A threshold is of each target, by the prices of its own contract.
          const ran = JSON.parse(stdout) as Record<'a' | 'b', RunResult>
          const credits = (name: 'a' | 'b') => ran[name].thresholds[1]
          expect(credits('a')).toMatchObject({ result: 'held', value: 60 })
          expect(credits('b')).toMatchObject({ result: 'missed', value: 180 })
          const auditA = await brokenBy(folder, 'p-a', 'a.duckdb')
          const auditB = await brokenBy(folder, 'p-b', 'a-b.duckdb', '--contract', contract)
          expect([auditA.broken, auditB.broken]).toEqual([ofA, ofB])
          expect([auditA.code, auditB.code].map((code) => code === 0)).toEqual([
            ofA.length === 0,
            ofB.length === 0,
          ])
          // By the contract of a, an honest b charges too much.
          const contractA = join(folder, 'a.yaml')
          writeFileSync(contractA, 'extends: svc\nname: one\n')
          const wrong = await brokenBy(folder, 'p-b', 'a-b.duckdb', '--contract', contractA)
          expect(wrong.broken).toContain('BILL-01')
        })
      })
    })
  },
)
