import { expect, onTestFinished, test } from 'vitest'
import { parseContract } from '../../src/contract/load.ts'
import { AttemptCosts, type CostedAttempt } from '../../src/price/attempts/attempt-costs.ts'
import { tokenColumnNames } from '../../src/price/attempts/column-usage.ts'
import { readRunCosts } from '../../src/price/attempts/run-costs.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { attempt, enterEndedRun } from '../report/attempts.ts'
import { emptyStore } from '../store/opened.ts'

const changing = (from: string) =>
  parseContract(
    {
      ...{ name: 'g', extends: 'none', currency: 'USD', charged: { success: 'full' } },
      models: [
        {
          ...{ id: 'svc-k2', price: { input: 4, output: 20 } },
          changes: [{ from, price: { input: 400, output: 20 } }],
        },
      ],
    },
    'g.yaml',
  )

const blank = Object.fromEntries(tokenColumnNames.map((name) => [name, null])) as Record<
  (typeof tokenColumnNames)[number],
  null
>
const sentAt = (iso: string): CostedAttempt => ({
  ...{ ...blank, promptTokens: 1000, completionTokens: 10, cachedTokens: 0 },
  ...{ severalPasses: false, model: 'svc-k2', responseModel: null, outcome: 'ok' },
  ...{ finishReason: 'stop', serviceTier: null, atMs: Date.parse(iso) },
})

test.each([
  ['a second', '2026-12-01T00:00:30Z', '2026-12-01T00:00:29.999Z', '2026-12-01T00:00:30Z'],
  ['a millisecond', '2026-12-01T00:00:30.5Z', '2026-12-01T00:00:30.499Z', '2026-12-01T00:00:30.5Z'],
  ['a minute', '2026-12-01T00:01:00Z', '2026-12-01T00:00:59.999Z', '2026-12-01T00:01:00Z'],
])(
  'a price that changes with %s has no effect before, whichever is asked first',
  (_, from, before, after) => {
    for (const [first, second] of [
      [before, after],
      [after, before],
    ] as const) {
      const costs = new AttemptCosts(changing(from), changing(from).prices!)
      const units = new Map([first, second].map((at) => [at, costs.unitsOf(sentAt(at))]))
      expect([units.get(before), units.get(after)]).toEqual([42n * 10n ** 14n, 4002n * 10n ** 14n])
    }
  },
)

test('attempts of a run have the price of the moment when each was sent', async () => {
  const store = await emptyStore()
  onTestFinished(() => store.close())
  await enterEndedRun(store, 'a', { startedAtUs: Date.UTC(2026, 11, 1, 0, 0, 50) * 1000 })
  const costsFrom = async (from: string) => {
    const contract = changing(from)
    const costs = (await readRunCosts(store, ['a'], contract, { by: 'attempts.slot' }))!
    return costs.kinds
      .toSorted((a, b) => Number(a.step) - Number(b.step))
      .map(({ units }) => Number(units) / 1e12)
  }
  await appendAttempts(
    store,
    [9, 11, 25, 45].map((slot) => attempt(slot, { completionTokens: 1 })),
  )
  expect(await costsFrom('2026-12-01T00:01:00Z')).toEqual([60, 4020, 4020, 4020])
  expect(await costsFrom('2026-12-01T00:01:20Z')).toEqual([60, 60, 60, 4020])
})
