import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { type Comparison, compareRuns } from '../../src/report/compare/compare.ts'
import type { Difference } from '../../src/report/compare/differences.ts'
import { judgeGate, parseGate } from '../../src/report/compare/gate.ts'
import { headlineOf } from '../../src/report/compare/headline.ts'
import { fillCompared, renderComparison } from '../../src/report/compare-page.ts'
import type { Store } from '../store/opened.ts'
import { seededStore } from './seeded.ts'

let store: Store
let comparison: Comparison

beforeAll(async () => {
  store = await seededStore({ attempts: 600 })
  const side = (runId: string) => ({ store, runId })
  comparison = await compareRuns(side('run-sweep'), side('run-1'), defaultContract)
})
afterAll(() => store.close())

test('a comparison page shows conditions and changes with intervals, without warnings', {
  tags: 'whole',
}, async () => {
  const gates = [parseGate('p95 > +10%'), parseGate('tpot.p50 > +1%')]
  const results = gates.map((gate) => judgeGate(comparison, gate))
  const { html, warnings } = await renderComparison(store, comparison, results)
  expect(warnings).toEqual([])
  expect(html).toContain('How b differs from a')
  expect(html).toContain('all steps: response p95')
  const notPassed = results.filter(({ result }) => result !== 'passed').length
  expect(html).toContain(`${notPassed} of 2 gates not passed`)
})

test('a comparison page begins with the errors that grew, and folds unclear metrics', async () => {
  // The errors of the seeded runs come in bursts, so they alone do not differ significantly.
  const grown = comparison.differences.map((each) =>
    each.metric === 'errors' ? { ...each, verdict: 'worse' as const } : each,
  )
  const { html } = await renderComparison(store, { ...comparison, differences: grown }, [])
  expect(html).toMatch(/b fails more: errors \d+\.\d % before, now \d+\.\d %/)
  const because = /<h2>.*?<\/h2><p>(.*?)<\/p>/.exec(html)?.[1]
  expect(because).toMatch(
    /^Latencies are .* are left\. With each step, \d+ of \d+ figures are significantly worse and \d+ better; by chance alone, about \d+ of/,
  )
  const folded = html.slice(html.indexOf('<details>'), html.indexOf('</details>'))
  expect(folded).toContain('unclear')
  expect(folded).not.toMatch(/>(better|worse)</)
  expect(html.slice(0, html.indexOf('<details>'))).not.toContain('>unclear<')
})

test('right of zero is better, for figures of which less is better and for those of which more is', async () => {
  const change = comparison.differences.find(({ interval }) => interval !== null)!
  const of = (
    metric: Difference['metric'],
    change_: number,
    interval: Difference['interval'],
    verdict: Difference['verdict'],
  ): Difference => ({ ...change, metric, change: change_, interval, verdict })
  await fillCompared(store, {
    ...comparison,
    differences: [
      of('response', -0.25, [-0.5, -0.125], 'better'),
      of('throughput', -0.25, [-0.5, -0.125], 'worse'),
      of('errors', 0.5, [0.25, 0.75], 'worse'),
      of('tokens', 0.5, [0.25, 0.75], 'better'),
    ],
  })
  const sql = readFileSync(new URL('../../reports/compare/10-changes.sql', import.meta.url), 'utf8')
  const rows = await store.rows(sql)
  expect(rows.map((row) => [row.better_low, row.better, row.better_high, row.verdict])).toEqual([
    [12.5, 25, 50, 'better'],
    [-50, -25, -12.5, 'worse'],
    [-75, -50, -25, 'worse'],
    [25, 50, 75, 'better'],
  ])
})

test.each([
  [
    'response',
    -0.2,
    'better',
    'b is faster: response p95 -20.0 %; none of 1 figures worse, 1 better',
  ],
  ['ttft', 0.2, 'worse', 'b is slower: TTFT p95 +20.0 %; 1 of 1 figures worse, none better'],
  [
    'ttft',
    26.574,
    'worse',
    'b is slower: TTFT p95 27.6 times that of a; 1 of 1 figures worse, none better',
  ],
  ['throughput', -0.2, 'worse', 'b does less: ok/s -20.0 %; 1 of 1 figures worse, none better'],
  [
    'credits',
    0.3,
    'worse',
    'b costs more: credits each +30.0 %; 1 of 1 figures worse, none better',
  ],
  ['errors', -0.02, 'better', 'b fails less: errors 5.0 % before, now 3.0 %'],
] as const)('the headline says what a person would of %s: %d', (metric, change, verdict, said) => {
  const statistic =
    metric === 'response' || metric === 'ttft'
      ? 'p95'
      : metric === 'throughput'
        ? 'rate'
        : metric === 'errors'
          ? 'share'
          : 'each'
  const unit = metric === 'errors' ? 'share' : 'us'
  const difference = {
    ...comparison.differences[0]!,
    step: null,
    metric,
    statistic,
    unit,
    change,
    verdict,
    ...{ a: 0.05, b: 0.03 },
  } as Difference
  expect(
    headlineOf(
      { ...comparison, a: valid(comparison.a), b: valid(comparison.b), differences: [difference] },
      [],
    ).summary,
  ).toBe(said)
})

const valid = (side: Comparison['a']): Comparison['a'] => ({ ...side, verdict: 'valid' })

test('a run compared with itself shows no significant difference', { tags: 'whole' }, async () => {
  const side = { store, runId: 'run-1' }
  const same = await compareRuns(side, side, defaultContract)
  const { html } = await renderComparison(store, same, [])
  expect(html).toContain('No significant difference over all steps')
})

test('every significant change is drawn, however many there are', async () => {
  const change = comparison.differences.find(({ interval }) => interval !== null)!
  const differences = Array.from({ length: 45 }, (_, at) => ({
    ...change,
    step: `step ${at}`,
    verdict: 'worse' as const,
  }))
  await fillCompared(store, { ...comparison, differences })
  const sql = readFileSync(new URL('../../reports/compare/10-changes.sql', import.meta.url), 'utf8')
  const places = (await store.rows(sql)).map(({ place }) => place)
  expect(places).toEqual(differences.map((_, place) => place))
})

test('a page of an INVALID run counts and draws no change', { tags: 'whole' }, async () => {
  await store.execute(`UPDATE runs SET verdict = 'invalid' WHERE run_id = 'run-1'`)
  const sides = [
    { store, runId: 'run-sweep' } as const,
    { store, runId: 'run-1' } as const,
  ] as const
  const invalid = await compareRuns(...sides, defaultContract)
  const { html } = await renderComparison(store, invalid, [])
  expect(html).toContain('Nothing is compared: run b is INVALID')
  expect(html).not.toMatch(/figures are (significantly )?(worse|better)|better; about/)
  expect(html).not.toMatch(/>(better|worse)</)
})
