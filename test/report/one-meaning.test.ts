import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { measureNames, measures } from '../../src/measure/measures.ts'
import { compareRuns } from '../../src/report/compare/compare.ts'
import { partsOf, prepareTop, rowsOf } from '../../src/report/page.ts'
import { percentiles } from '../../src/report/summary/distribution-shape.ts'
import { flatRows } from '../../src/report/summary/figures.ts'
import type { SummaryGroup } from '../../src/report/summary/group-shape.ts'
import { markdownSummary } from '../../src/report/summary/markdown.ts'
import type { RunSummary } from '../../src/report/summary/shape.ts'
import { summarise } from '../../src/report/summary/summarise.ts'
import { csvSummary, jsonSummary } from '../../src/report/summary/tables.ts'
import { terminalFigures } from '../../src/report/summary/terminal.ts'
import { shownTimes } from '../../src/report/summary/words.ts'
import { histogramBytes } from '../../src/run/count/histogram-bytes.ts'
import { TimeHistogram } from '../../src/run/count/time-histogram.ts'
import { checkThreshold } from '../../src/run/judge/thresholds/check.ts'
import type { Objectives } from '../../src/scenario/scenario.ts'
import { parseThreshold, timeMetrics } from '../../src/scenario/threshold.ts'
import { appendAttempts, Recorder } from '../../src/store/attempts/recorder.ts'
import { startRun } from '../../src/store/runs/runs.ts'
import { randomObjectives, randomRun } from '../measure/random-runs.ts'
import { tries } from '../nightly/tries.ts'
import { startOf } from '../run/rows.ts'
import { openStore, type Store } from '../store/opened.ts'
import { launchText } from './launch-text.ts'

/** A run with its rows, and the gaps of its streams as the recorder keeps them. */
async function enter(
  store: Store,
  runId: string,
  rows: readonly AttemptRow[],
  objectives: Objectives,
  gapsUs: readonly number[],
): Promise<void> {
  await startRun(store, { ...startOf(runId), scenarioJson: JSON.stringify({ objectives }) })
  await appendAttempts(
    store,
    rows.map((row) => ({ ...row, runId })),
  )
  const counts = new TimeHistogram()
  for (const us of gapsUs) counts.record(us)
  const recorder = await Recorder.open(store)
  recorder.append(
    'histograms',
    ['steady', 'warmup'].map((part) => ({
      runId,
      phase: part,
      part,
      step: 'stream',
      metric: 'itl',
      intervalUs: 0,
      intervalLengthUs: 5e6,
      samples: counts.samples,
      hdr: histogramBytes(counts.slice()),
    })),
  )
  await recorder.close()
}

/** Times of one request; those of a task have no step. */
const attemptTimes = timeMetrics.filter((name) => !['task', 'task_service'].includes(name))

/** Every threshold figure that has the same name in a summary. */
async function thresholdFigures(store: Store, objectives: Objectives, step: string | null) {
  const figures: Record<string, number | null> = {}
  const check = async (text: string) => {
    const threshold = parseThreshold(`${step === null ? '' : `${step}.`}${text}`)
    if (typeof threshold === 'string') throw new Error(threshold)
    return checkThreshold(store, threshold, { runId: 'r', contract: defaultContract, objectives })
  }
  for (const metric of attemptTimes) {
    for (const statistic of ['p50', 'p95', 'mean', 'max']) {
      const { value, result, samples } = await check(`${metric}.${statistic} < 400ms`)
      figures[`${metric} ${statistic}`] = value
      figures[`${metric} n`] = samples
      if (result === 'held') figures[`${metric} ${statistic} held`] = 1
    }
  }
  for (const [name, text] of [
    ['errors', 'errors < 1%'],
    ['goodput', 'goodput > 1%'],
    ['not sent', 'not_sent < 1%'],
    ['sent', 'requests > 1'],
    ['sent/s', 'requests.rate > 1/s'],
    ['tokens', 'tokens > 1'],
    ['tokens/s', 'tokens.rate > 1/s'],
  ] as const) {
    figures[name] = (await check(text)).value
  }
  return figures
}

/** The same figures from a summary. */
function summaryFigures(group: SummaryGroup, held: Readonly<Record<string, number | null>>) {
  const figures: Record<string, number | null> = {}
  for (const metric of attemptTimes) {
    const name = metric.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
    const of = group.metrics[name as keyof SummaryGroup['metrics']]
    Object.assign(figures, {
      [`${metric} p50`]: of.p50.us,
      [`${metric} p95`]: of.p95.us,
      [`${metric} mean`]: of.meanUs,
      [`${metric} max`]: of.maxUs,
      [`${metric} n`]: of.n,
    })
    for (const [p, enough] of [
      ['p50', 11],
      ['p95', 59],
    ] as const) {
      // A threshold is held on a percentile that the table refuses only if no request came near the limit of 400 ms. One on an
      // "at least" value may be: it would hold even if the timeouts had never ended.
      const isFar = of.n >= enough && of.maxUs !== null && of.maxUs <= 200_000
      const told = (of[p].mark !== 'too-few' && of[p].mark !== 'none') || isFar
      if (told && held[`${metric} ${p} held`] === 1) figures[`${metric} ${p} held`] = 1
    }
    for (const each of ['mean', 'max']) {
      if (held[`${metric} ${each} held`] === 1) figures[`${metric} ${each} held`] = 1
    }
  }
  const { counts } = group
  return {
    ...figures,
    errors: counts.sent === 0 ? null : counts.failed / counts.sent,
    goodput: counts.judged === 0 ? null : group.goodput,
    'not sent': counts.notSent / counts.attempts,
    sent: counts.sent === 0 ? null : counts.sent,
    'sent/s': counts.sent === 0 ? null : group.sentPerS,
    tokens: group.completionTokens,
    'tokens/s': group.completionTokensPerS,
  }
}

const withCommas = (value: number) => value.toLocaleString('en-US')
const near = (value: number | null) => (value === null ? null : expect.closeTo(value, 6))
const nearAll = (figures: Readonly<Record<string, number | null>>) =>
  Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, near(value)]))

/** Numbers of a row in the terminal's or Markdown's table; values marked too few are null. */
function cellsOf(cells: readonly string[]): readonly (number | null)[] {
  return cells.map((cell) => {
    const number = cell.replaceAll(/[\\,]/g, '').trim()
    return /^[>~]?[\d.]+$/.test(number) ? Number(number.replace(/^[>~]/, '')) : null
  })
}

/** The expected numbers of a summary table, to their four digits. The terminal folds rows without any percentile. */
function tableRows({ all, steps }: RunSummary, isFolded = false) {
  const groups = steps.length > 1 ? [all, ...steps] : [all]
  return groups.flatMap((group) =>
    shownTimes
      .map((name) => group.metrics[name])
      .filter(({ n, p50 }) => n > 0 && !(isFolded && p50.mark === 'too-few'))
      .map((of) => [
        of.n,
        ...percentiles.map(([name]) => {
          const { us, mark } = of[name]
          const told = us !== null && mark !== 'too-few'
          return told ? expect.closeTo(us / 1000, us >= 1e6 ? -0.4 : us >= 1e5 ? 0.9 : 1.8) : null
        }),
      ]),
  )
}

async function partRows(store: Store, name: string) {
  return rowsOf(store, partsOf('launch').find((part) => part.name === name)!)
}

async function checkPage(store: Store, summary: RunSummary): Promise<void> {
  const { all, steps } = summary
  const ms = (us: number | null) => (us === null ? null : expect.closeTo(us / 1000, 6))
  const by = (group: SummaryGroup) => group.step ?? 'all steps'
  const groups = [...steps, all]
  const latency = groups.filter(({ metrics }) => metrics.service.n > 0)
  expect(await partRows(store, '10-latency-by-step')).toMatchObject(
    latency.map((group) => ({
      step: by(group),
      n: group.metrics.service.n,
      service_p50_ms: ms(group.metrics.service.p50.us),
      service_p999_ms: ms(group.metrics.service.p999.us),
      response_p95_ms: ms(group.metrics.response.p95.us),
      service_cut_ms: ms(group.metrics.service.lowestCensoredUs),
    })),
  )
  const streams = groups.filter(({ metrics }) => metrics.ttft.n > 0)
  expect(await partRows(store, '20-token-timing')).toMatchObject(
    streams.map((group) => ({
      step: by(group),
      n: group.metrics.ttft.n,
      ttft_p95_ms: ms(group.metrics.ttft.p95.us),
      response_ttft_p95_ms: ms(group.metrics.responseTtft.p95.us),
      tpot_p50_ms: ms(group.metrics.tpot.p50.us),
      tpot_n: group.metrics.tpot.n,
      itl_p99_ms: ms(group.metrics.itl.p99.us),
      itl_n: group.metrics.itl.n,
    })),
  )
  const went = await partRows(store, '34-where-requests-went')
  expect(went.slice(0, groups.length)).toMatchObject(
    groups.map((group) => ({
      step: by(group),
      attempts: group.counts.attempts,
      sent: group.counts.sent,
      ok: group.counts.ok,
      aborted: group.counts.aborted,
    })),
  )
  const sum = (rows: readonly Readonly<Record<string, unknown>>[], name: string) =>
    rows.reduce((total, row) => total + Number(row[name]), 0)
  const good = await partRows(store, '33-goodput')
  if (all.counts.good !== null) {
    expect([sum(good, 'good'), sum(good, 'n')]).toEqual([all.counts.good, all.counts.judged])
  }
  const wrong = await partRows(store, '41-errors')
  expect(sum(wrong, 'n')).toBe(all.counts.attempts - all.counts.ok)
  expect(sum(wrong, 'expected')).toBe(all.counts.onPurpose)
  const [assay] = await partRows(store, '60-other-tools')
  if (all.metrics.ttft.n > 0) {
    expect(assay).toMatchObject({
      n: all.metrics.ttft.n,
      ttft_p50_ms: ms(all.metrics.ttft.p50.us),
      tpot_p99_ms: ms(all.metrics.tpot.p99.us),
    })
  }
  const curve = await partRows(store, '12-percentile-curve')
  for (const clock of ['service', 'response'] as const) {
    const p90 = curve.find((row) => row.clock === `${clock} time` && row.percentile === 90)
    expect(p90?.latency_ms ?? null).toEqual(
      all.metrics[clock].p90.mark === 'too-few' || all.metrics[clock].n === 0
        ? null
        : expect.closeTo(all.metrics[clock].p90.us! / 1000, 2),
    )
  }
  for (const [name, metric] of [
    ['21-time-to-first-token', 'ttft'],
    ['22-between-tokens', 'tpot'],
  ] as const) {
    const drawn = await partRows(store, name)
    for (const row of drawn) {
      expect(row.n).toBeGreaterThanOrEqual(all.metrics[metric][row.statistic as 'p50'].needs)
    }
  }
  const page = await launchText(store)
  const cards = Object.fromEntries(
    [...page.matchAll(/<dt>([^<]*)<\/dt><dd>([^<]*)<span[^>]*>([^<]*)</g)].map(
      ([, label, value, aside]) => [label, `${value}; ${aside}`],
    ),
  )
  const { counts } = all
  const share = (part: number, whole: number) => `${((100 * part) / whole).toFixed(2)}`
  expect(cards.Sent).toMatch(new RegExp(`^${counts.sent};`))
  expect(cards['Unexpected failures']).toContain(
    `; ${counts.failed}, and ${counts.onPurpose} on purpose`,
  )
  if (counts.good !== null && counts.judged > 0) {
    expect(cards.Goodput).toContain(`; ${counts.good} of ${counts.judged} met`)
    // A request that may be good makes the share a lower bound.
    const isLeast = (counts.maybeGood ?? 0) > 0
    expect(cards.Goodput!.startsWith('≥')).toBe(isLeast)
    expect(Number.parseFloat(cards.Goodput!.replace(/^≥\s/, ''))).toBeCloseTo(
      Number(share(counts.good, counts.judged)),
      0,
    )
  }
  const tooFew = all.metrics.ttft.n < all.metrics.ttft.p50.needs
  const first = cards['Time to first token, median']
  expect(first?.startsWith('n too small')).toBe(all.metrics.ttft.n === 0 ? undefined : tooFew)
  if (!tooFew) {
    const shown = Number(/[\d.,]+/.exec(cards['Time to first token, median']!)![0].replace(',', ''))
    expect(Math.abs(shown / (all.metrics.ttft.p50.us! / 1000) - 1)).toBeLessThan(0.006)
  }
}

async function checkComparison(store: Store, a: RunSummary): Promise<void> {
  const { differences } = await compareRuns(
    { store, runId: 'r' },
    { store, runId: 'other' },
    defaultContract,
  )
  for (const { step, metric, statistic, a: figure } of differences) {
    const group = a.steps.find((each) => each.step === step) ?? a.all
    if (metric === 'credits') continue
    const expected =
      metric === 'errors'
        ? group.counts.sent === 0
          ? null
          : group.counts.failed / group.counts.sent
        : metric === 'throughput'
          ? group.okPerS
          : metric === 'tokens'
            ? group.completionTokensPerS
            : statistic === 'mean'
              ? group.metrics[metric].meanUs
              : group.metrics[metric][statistic as 'p50'].us
    expect([step, metric, statistic, figure]).toEqual([step, metric, statistic, near(expected)])
  }
}

test('a named figure has one value in threshold, terminal, JSON, Markdown, CSV, page and comparison', {
  tags: 'whole',
  timeout: 240_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      randomRun(),
      randomRun(),
      randomObjectives,
      fc.array(fc.nat({ max: 90_000 }), { maxLength: 200, size: 'max' }),
      async (rows, others, objectives, gapsUs) => {
        const store = await openStore(':memory:')
        try {
          await enter(store, 'r', rows, objectives, gapsUs)
          await enter(store, 'other', others, objectives, gapsUs)
          const summary = await summarise(store, 'r', defaultContract)
          for (const group of [summary.all, summary.steps.at(-1)!]) {
            for (const of of Object.values(group.metrics)) {
              const ascending = [of.minUs, ...percentiles.map(([name]) => of[name].us), of.maxUs]
              expect(ascending).toEqual(ascending.toSorted((a, b) => a! - b!))
            }
            const held = await thresholdFigures(store, objectives, group.step)
            // Goodput has no meaning without objectives; a threshold on it counts every success.
            if (group.goodput === null) held.goodput = null
            expect(held).toEqual(nearAll(summaryFigures(group, held)))
          }
          expect(JSON.parse(jsonSummary(summary))).toEqual(JSON.parse(JSON.stringify(summary)))
          const [head, ...lines] = csvSummary(summary).trimEnd().split('\r\n')
          expect(
            lines.map((line) => Object.fromEntries(zip(head!.split(','), line.split(',')))),
          ).toEqual(
            flatRows(summary).map((row) =>
              Object.fromEntries(
                Object.entries(row).map(([name, value]) => [
                  name,
                  value === null ? '' : String(value),
                ]),
              ),
            ),
          )
          const titles = shownTimes.map((name) => (name === 'itl' ? 'ITL' : measures[name].title))
          const metricTitle = new RegExp(`(?:${titles.join('|')}) {2,}(.*)$`)
          const terminal = terminalFigures(summary).split('\n')
          expect(
            terminal.flatMap((line) => {
              const figures = metricTitle.exec(line)?.[1]
              return figures === undefined ? [] : [cellsOf(figures.trim().split(/ +/))]
            }),
          ).toEqual(tableRows(summary, true))
          const markdown = markdownSummary(summary).split('\n')
          const { counts, goodput } = summary.all
          for (const text of [terminalFigures(summary), markdownSummary(summary)]) {
            const failed = /(\S+)(?: %)? unexpected failures: (\S+) of (\S+) sent/.exec(text)!
            expect(failed.slice(2)).toEqual([withCommas(counts.failed), withCommas(counts.sent)])
            if (counts.sent === 0) expect(failed[1]).toBe('-')
            else expect(Number(failed[1])).toBeCloseTo((100 * counts.failed) / counts.sent, 0)
            const told = /([\d.]+) % goodput: (\S+) of (\S+) met/.exec(text)
            expect(told?.slice(2) ?? null).toEqual(
              goodput === null ? null : [withCommas(counts.good!), withCommas(counts.judged)],
            )
            if (told !== null) expect(Number(told[1])).toBeCloseTo(100 * goodput!, 0)
          }
          expect(
            markdown.flatMap((line) => {
              const cells = line.split(' | ')
              return cells.length === 10 && !/---|metric/.test(line)
                ? [cellsOf([cells[2]!, ...cells.slice(4, 9)])]
                : []
            }),
          ).toEqual(tableRows(summary))
          await prepareTop(store, {
            store,
            page: 'launch',
            contract: defaultContract,
            runIds: ['r'],
            timeZone: 'UTC',
            nowUs: 0,
          })
          await checkPage(store, summary)
          await checkComparison(store, summary)
        } finally {
          store.close()
        }
      },
    ),
    { numRuns: tries(2, 8), endOnFailure: true },
  )
})

const zip = (names: readonly string[], cells: readonly string[]) =>
  names.map((name, at) => [name, cells[at]!] as const)

test('attempt_measures has one row for each measure of an attempt, with the value of its column', async () => {
  const store = await openStore(':memory:')
  await fc.assert(
    fc.asyncProperty(randomRun(40), async (rows) => {
      const runId = `run of ${rows.length}`
      await appendAttempts(
        store,
        rows.map((row) => ({ ...row, runId })),
      )
      const column = (name: string) => name.replace(/[A-Z]/g, (at) => `_${at.toLowerCase()}`)
      const wide = measureNames.map((name) => {
        const cut = measures[name].cut === null ? 'false' : `${column(name)}_cut`
        const us = `${column(name)}_us::DOUBLE`
        return `{n: count(${us}), us: list(${us} ORDER BY ${us}) FILTER (${us} IS NOT NULL), cut: count(*) FILTER (${cut})} AS ${column(name)}`
      })
      const [columns] = await store.rows(`SELECT ${wide.join(', ')} FROM attempt_values`)
      const long = await store.rows(
        `SELECT measure, {n: count(*), us: list(us::DOUBLE ORDER BY us), cut: count(*) FILTER (at_least)} AS told
         FROM attempt_measures GROUP BY measure`,
      )
      expect(Object.fromEntries(long.map(({ measure, told }) => [measure, told]))).toEqual(
        Object.fromEntries(
          Object.entries(columns!).filter(([, told]) => Number((told as { n: bigint }).n) > 0),
        ),
      )
    }),
    { numRuns: 2, endOnFailure: true },
  )
  store.close()
})
