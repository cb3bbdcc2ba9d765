import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { type Comparison, compareRuns } from '../../src/report/compare/compare.ts'
import { judgeGate, parseGate } from '../../src/report/compare/gate.ts'
import { fillCompared, renderComparison } from '../../src/report/compare-page.ts'
import type { Store } from '../store/opened.ts'
import { seededStore } from './seeded.ts'

let store: Store
let comparison: Comparison

beforeAll(async () => {
  store = await seededStore({ attempts: 600 })
  const side = (runId: string) => ({ store, runId })
  comparison = await compareRuns(side('run-sweep'), side('run-1'), defaultContract, 1)
})
afterAll(() => store.close())

test('a comparison page shows conditions and changes with intervals, without warnings', async () => {
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
  const { html } = await renderComparison(store, comparison, [])
  expect(html).toMatch(/b fails more: errors \d+\.\d % before, now \d+\.\d %/)
  const because = /<h2>.*?<\/h2><p>(.*?)<\/p>/.exec(html)?.[1]
  expect(because).toMatch(
    /^Latencies are .* are left\. Most on credits each: \+34\.2\u00a0% \[.*?\]\. Of \d+ figures/,
  )
  const folded = html.slice(html.indexOf('<details>'), html.indexOf('</details>'))
  expect(folded).toContain('unclear')
  expect(folded).not.toMatch(/>(better|worse)</)
  expect(html.slice(0, html.indexOf('<details>'))).not.toContain('>unclear<')
})

test('a run compared with itself shows no difference beyond chance', async () => {
  const side = { store, runId: 'run-1' }
  const same = await compareRuns(side, side, defaultContract, 1)
  const { html } = await renderComparison(store, same, [])
  expect(html).toContain('No difference beyond chance over all steps')
})

test('every change beyond chance is drawn, however many there are', async () => {
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
