// @module-tag whole
import { expect, test } from 'vitest'
import { judgementText } from '../../src/cli/runs/run-judgement.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { run } from '../../src/run/run.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import { randomOf } from '../../src/user/random.ts'
import { answerChat, key, query, startTarget, withStorePath } from './target.ts'

test.each([
  ['', /cold start +not judged +chat (response|TTFT) \d+ % slower in the first [\d.]+ s/, 400],
  [
    'warmup: auto',
    /warm-up +held +cut off: chat (response|TTFT) \d+ % slower in the first [\d.]+ s/,
    330,
  ],
])(
  'a run says how it began, with "%s", and what it did about it',
  {
    tags: 'whole',
  },
  async (warmUp, told, most) => {
    const random = randomOf(5)
    const target = await startTarget((_, response) => {
      // The noise of the service is larger than that of this machine.
      const noiseMs = 300 * random()
      setTimeout(() => answerChat(response), (target.requests > 80 ? 100 : 900) + noiseMs)
    })
    try {
      await withStorePath(async (dbPath) => {
        const scenario = parseScenario(
          `name: a
question: b
model: svc-k2
${warmUp}
steps:
  chat: { endpoint: chat }
phases:
  - { name: main, load: constant, rate: 100/s, duration: 4s }
`,
          'a.yaml',
          defaultContract,
        )
        const result = await run(scenario, {
          baseUrl: target.baseUrl,
          dbPath,
          keys: { default: key },
        })
        expect(judgementText(result).replaceAll(/\s+/g, ' ')).toMatch(told)
        const [row] = await query<{ n: number }>(
          dbPath,
          `SELECT count(*)::INTEGER AS n FROM attempts WHERE part = 'steady'`,
        )
        expect(row!.n).toBeLessThanOrEqual(most)
        expect(row!.n).toBeGreaterThan(most - 90)
      })
    } finally {
      target.close()
    }
  },
)
