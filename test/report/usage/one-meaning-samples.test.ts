import { describe, expect, test } from 'vitest'
import { defaultContract } from '../../../src/contract/default.ts'
import type { Answers } from '../../../src/portal/api/shapes.ts'
import { enterPrices } from '../../../src/report/usage/prepare.ts'
import { importFile } from '../../../src/store/import/import-file.ts'
import { exportedSumsSql, sumDimensions } from '../../../src/store/quarters/sums.ts'
import { limitTo } from '../../../src/store/session/account.ts'
import { openExistingStore } from '../../../src/store/session/open.ts'
import { inSession } from '../../../src/store/session/session.ts'
import { served, settingsOf, tokenOf } from '../../portal/portal.ts'
import { type Expected, moreSamples, samples } from '../../store/import/samples.ts'
import { csvOf } from './meaning.ts'

/** The figures that each sample states (`expected.json`), as these readers show them. The page is asked in test/store/import. */

const years = 'from=2015-01-01&to=2030-01-01'

const numberIn = (text: string | null | undefined) =>
  text === null || text === undefined || text === '' ? null : Number(text)
const added = (values: readonly (number | null)[]) => {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((all, each) => all + each, 0)
}
/** Digits that no sum of doubles loses. */
const exact = (cost: Readonly<Record<string, string | number>>) =>
  Object.fromEntries(
    Object.entries(cost)
      .map(([unit, amount]) => [unit, Number(Number(amount).toFixed(9))] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
const figuresIn = ({ requests, tokens, cost }: Expected) => ({
  requests,
  tokens,
  cost: exact(cost),
})

interface Line {
  readonly unit: string
  readonly amount: string | null
  readonly requests: string | null
  readonly [column: string]: string | null
}
/** The figures of lines of a file. */
function summed(lines: readonly Line[]) {
  const of = (column: string) =>
    added(lines.filter(({ type }) => type === 'usage').map((line) => numberIn(line[column])))
  const cost: Record<string, number> = {}
  for (const { unit, amount } of lines) {
    const value = numberIn(amount)
    if (value !== null) cost[unit] = (cost[unit] ?? 0) + value
  }
  return {
    requests: of('requests'),
    tokens: {
      ...{ input: of('input_tokens'), cached: of('cached_tokens') },
      ...{ cacheWrite: of('cache_write_tokens'), output: of('output_tokens') },
      reasoning: of('reasoning_tokens'),
    },
    cost: exact(cost),
  }
}

/** By day every third; all by night. */
const played = [...samples, ...moreSamples].filter(
  (_, at) => process.env.NIGHTLY !== undefined || at % 3 === 0,
)

describe.each(played)('$name', { tags: 'whole' }, (sample) => {
  test('says the same in export sums, the API and its CSV', async () => {
    const expected = figuresIn(sample.expected)
    const service = await served([], settingsOf(), async (store) => {
      for (const each of sample.imports) await importFile(store, { ...each, source: 'sample' })
      await store.execute(
        `UPDATE usage_events SET account = 'a'; UPDATE usage_statements SET account = 'a'`,
      )
    })
    try {
      const store = await openExistingStore(service.file)
      try {
        await inSession(store, {}, async (session) => {
          await enterPrices(session, defaultContract)
          await limitTo(session, { account: 'a', keys: null })
          for (const by of sumDimensions) {
            const lines = await session.rows<Line>(
              `SELECT COLUMNS(*)::VARCHAR FROM (${exportedSumsSql([by], { timezone: 'UTC', fromUs: null, toUs: null })})`,
            )
            expect([by, summed(lines)]).toEqual([by, expected])
          }
        })
      } finally {
        store.close()
      }
      const token = await tokenOf('a')
      const ask = async (path: string) => (await service.ask(path, token)).text()
      const summary = JSON.parse(await ask(`/v1/usage/summary?${years}`)) as Answers['summary']
      const { tokens } = summary
      expect({
        requests: numberIn(summary.requests.value),
        tokens: Object.fromEntries(
          Object.entries(tokens).map(([kind, { value }]) => [kind, numberIn(value)]),
        ),
      }).toEqual({ requests: expected.requests, tokens: expected.tokens })
      const breakdown = await ask(`/v1/usage/breakdown?${years}&by=model`)
      const { total } = JSON.parse(breakdown) as Answers['breakdown']
      expect(total).toMatchObject({ requests: expected.requests, ...expected.tokens })
      expect(total.failed === null).toBe(expected.requests === null)
      const csv = csvOf(await ask(`/v1/export?${years}&bucket=month`))
      expect(summed(csv as unknown as Line[])).toEqual(expected)
    } finally {
      await service.close()
    }
  }, 120_000)
})
