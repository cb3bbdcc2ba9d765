import { afterAll, beforeAll, expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { compareRuns } from '../../src/report/compare/compare.ts'
import { markdownComparison, terminalComparison } from '../../src/report/compare/formats.ts'
import { headlineOf } from '../../src/report/compare/headline.ts'
import { otherRatesText, searchWords } from '../../src/report/compare/searches.ts'
import { renderComparison } from '../../src/report/compare-page.ts'
import { editAttempts } from '../store/edit-attempts.ts'
import type { Store } from '../store/opened.ts'
import { seededStore } from './seeded.ts'

let store: Store

/** The search of `run-sweep`, which sustains 40/s and fails at 80/s, again with another answer. */
async function searchAgain(
  runId: string,
  answer: { readonly held: number | null; readonly failed: number; readonly objective?: string },
): Promise<void> {
  await editAttempts(
    store,
    `INSERT INTO edited SELECT * REPLACE ('${runId}' AS run_id) FROM edited WHERE run_id = 'run-sweep'`,
  )
  const [row] = await store.rows<{ verdict_json: string }>(
    `SELECT verdict_json FROM runs WHERE run_id = 'run-sweep'`,
  )
  const verdict = JSON.parse(row!.verdict_json)
  const { held, failed, objective } = answer
  verdict.sweeps[0].safeRate =
    held === null
      ? { kind: 'bracket', lowPerS: 20, failedPerS: failed, needs: null }
      : { kind: 'held', heldPerS: held, safePerS: held, failedPerS: failed, budget: 'quick' }
  if (objective !== undefined) verdict.sweeps[0].objective = objective
  await store.execute(
    `INSERT INTO runs SELECT * REPLACE ('${runId}' AS run_id, '${JSON.stringify(verdict)}' AS verdict_json)
     FROM runs WHERE run_id = 'run-sweep'`,
  )
}

beforeAll(async () => {
  store = await seededStore({ attempts: 100 })
  await searchAgain('run-more', { held: 80, failed: 160 })
  await searchAgain('run-same', { held: 40, failed: 80 })
  await searchAgain('run-near', { held: 50, failed: 80 })
  await searchAgain('run-short', { held: null, failed: 80 })
  await searchAgain('run-other', { held: 80, failed: 160, objective: '99 % of answers within 1 s' })
})
afterAll(() => store.close())

const compared = (a: string, b: string) =>
  compareRuns({ store, runId: a }, { store, runId: b }, defaultContract)

test('a search whose sustained rate failed in the other sustains more, and the other way round less', {
  tags: 'whole',
}, async () => {
  const more = headlineOf(await compared('run-sweep', 'run-more'), [])
  expect(more).toMatchObject({
    tone: 'good',
    summary: 'b sustains more: 40/s before, now 80/s',
  })
  expect(more.because).toContain(
    'The limit of a is between 40/s and 80/s, that of b between 80/s and 160/s.',
  )
  const less = headlineOf(await compared('run-more', 'run-sweep'), [])
  expect(less).toMatchObject({ tone: 'warn', summary: 'b sustains less: 80/s before, now 40/s' })
})

test('of limits that may be equal, or are not known, no difference is claimed', {
  tags: 'whole',
}, async () => {
  for (const b of ['run-near', 'run-short', 'run-same']) {
    const { searches } = await compared('run-sweep', b)
    expect([b, searches!.verdict]).toEqual([b, 'unclear'])
  }
  const { summary } = headlineOf(await compared('run-sweep', 'run-near'), [])
  expect(summary).toBe('No difference in the sustained rate is known: 40/s and 50/s')
})

test('times at different rates are not compared, and every format says so and how to compare them', {
  tags: 'whole',
}, async () => {
  const comparison = await compared('run-sweep', 'run-more')
  expect(comparison.differences.map(({ metric }) => metric)).toEqual(['credits'])
  const sentence =
    'Times, errors and throughput are not compared, because those of a are at 40/s and those of b at 80/s. To compare them, run both at one rate: assay bench URL --rate 40/s.'
  const { html, warnings } = await renderComparison(store, comparison, [])
  expect(warnings).toEqual([])
  for (const text of [
    terminalComparison(comparison, []).replaceAll('\n', ' '),
    markdownComparison(comparison, []),
    html,
  ]) {
    expect(text.replace(/<[^>]+>/g, '')).toContain(sentence)
  }
  expect(html).toContain('Share within the objective against load')
})

test('times at one rate are compared, beside the rates that were sustained', {
  tags: 'whole',
}, async () => {
  const comparison = await compared('run-sweep', 'run-same')
  expect(comparison.differences.some(({ metric }) => metric === 'response')).toBe(true)
  const lines = terminalComparison(comparison, []).split('\n')
  expect(lines.find((line) => line.startsWith('sustained rate'))).toMatch(/ 40\/s +40\/s$/)
  expect(lines.every((line) => line.length <= 80)).toBe(true)
})

test('a trial has the interval of its share within the objective', async () => {
  const { searches } = await compared('run-sweep', 'run-more')
  // 100 of 100 requests held, as the verdict says; its rows are 50 good requests.
  expect(searches!.a.trials[0]).toMatchObject({ perS: 10, goodput: 1, high: 1 })
  expect(searches!.a.trials[0]!.low).toBeCloseTo(0.025 ** (1 / 50), 6)
})

test('searches of different objectives are not compared by their rates', {
  tags: 'whole',
}, async () => {
  const { summary, because } = headlineOf(await compared('run-sweep', 'run-other'), [])
  expect(summary).toBe('The searches have different objectives, so their rates are not compared')
  expect(because).toContain('95 % of answers within 1 s')
})

test('of limits that are not known no range is said to overlap, and no rate of none is compared', () => {
  const side = {
    ...{ objective: 'ttft', sustainedPerS: null, failedPerS: null, figuresPerS: null },
    ...{ budget: 'quick', of: 'requests' as const, trials: [] },
  }
  const unknown = { a: side, b: side, verdict: 'unclear' as const, isAtOneRate: false }
  expect(searchWords(unknown as never)[1]).toBe(
    'The limit of a is not known, that of b not known. A longer search narrows them: assay bench --continue.',
  )
  expect(otherRatesText(unknown as never)).toBe(
    'Times, errors and throughput are not compared, because neither search has figures at one rate.',
  )
  const ofTasks = { ...side, of: 'tasks' as const, figuresPerS: 2 }
  const text = otherRatesText({
    ...unknown,
    a: ofTasks,
    b: { ...ofTasks, figuresPerS: 3 },
  } as never)
  // `bench --rate` is a rate of requests.
  expect(text).toMatch(/run both at one rate\.$/)
})
