import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { errorColours, othersColour, seriesColours } from '../../src/chart/theme.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { renderFindings } from '../../src/report/findings.ts'
import { latestFindings } from '../../src/report/latest-findings.ts'
import { partsIn, prepareTop, rowsOf } from '../../src/report/page.ts'
import type { PageName } from '../../src/report/pages.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { openStore, type Store } from '../store/opened.ts'
import { attempt, enterEndedRun, novemberUs } from './attempts.ts'
import { seededOptions, seededStore, seedStreams } from './seeded.ts'

/** The rows behind a chart of a page. */
async function behind(store: Store, page: PageName, folder: string, name: string, runIds = ['a']) {
  await prepareTop(store, { ...seededOptions(store), page, runIds })
  return rowsOf(store, partOf(folder, name))
}

const partOf = (folder: string, name: string) =>
  partsIn([folder]).find((part) => part.name === name)!

/** R-7, as in numpy. */
function quantile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const place = (sorted.length - 1) * p
  const low = Math.floor(place)
  const above = sorted[Math.min(low + 1, sorted.length - 1)]!
  return sorted[low]! + (place - low) * (above - sorted[low]!)
}

const rounded = (value: unknown) => Math.round(Number(value) * 1000) / 1000

describe('the load charts of a search', () => {
  let store: Store
  beforeAll(async () => {
    store = await seededStore({ attempts: 60 })
    await seedStreams(store)
  })
  afterAll(() => store.close())

  /** The trials of `run-sweep` in seeded.ts: request `i` takes `base + i % 17` ms; of the last, each twentieth fails. */
  const trials = [10, 20, 40, 80, 160].map((perS, at) => {
    const base = 20 + 10 * at ** 3
    const all = Array.from({ length: Math.min(400, 5 * perS) }, (_, i) => i)
    const good = at === 4 ? all.filter((i) => i % 20 !== 0) : all
    return { perS, base, ms: good.map((i) => base + (i % 17)), isHeld: at < 3 }
  })
  // A p95 needs 130 samples, and a p99 662.
  const percentilesOf = (n: number) => [
    ['p50', 0.5] as const,
    ...(n < 130 ? [] : [['p95', 0.95] as const]),
  ]
  const shown = (of: (trial: (typeof trials)[number]) => readonly number[]) =>
    trials.flatMap((trial) =>
      percentilesOf(trial.ms.length).map(([statistic, p]) => [
        ...[trial.perS, statistic, rounded(quantile(of(trial), p)), 100],
        trial.isHeld ? 'sustained' : 'not sustained',
      ]),
    )
  const columns = (rows: readonly Record<string, unknown>[]) =>
    rows.map((row) => [row.offered_per_s, row.statistic, rounded(row.ms), row.n, row.verdict])

  test('have a dot for each trial and percentile with enough samples, and mark the safe rate', {
    tags: 'whole',
  }, async () => {
    const rows = await behind(store, 'launch', 'launch', '04-response-by-load', ['run-sweep'])
    expect(columns(rows)).toEqual(shown(({ ms }) => ms))
    expect(rows.map(({ first, safe_per_s }) => [first, safe_per_s])).toEqual(
      rows.map((_, at) => [at === 0, 36]),
    )
  })

  test('have the share of each trial within the objective, also of a trial that failed at once', {
    tags: 'whole',
  }, async () => {
    const rows = await behind(store, 'launch', 'launch', '02-goodput-by-load', ['run-sweep'])
    const shares = rows.filter(({ what }) => what === 'good')
    expect(shares.map(({ offered_per_s }) => offered_per_s)).toEqual(trials.map(({ perS }) => perS))
    expect(shares.filter(({ share }) => typeof share !== 'number')).toEqual([])
  })

  test('show time to first token with its objective', { tags: 'whole' }, async () => {
    const rows = await behind(store, 'launch', 'launch', '03-first-token-by-load', ['run-streams'])
    expect(columns(rows)).toEqual(shown(({ base, ms }) => ms.map(() => base * 0.9 - 0.3)))
    expect(new Set(rows.map(({ objective_ms }) => objective_ms))).toEqual(new Set([95]))
  })
})

describe('a chart of one run', () => {
  let store: Store
  const runOf = async (rows: readonly AttemptRow[], scenario = {}) => {
    store = await openStore(':memory:')
    await enterEndedRun(store, 'a', {
      ...{ contract: defaultContract.name, scenarioJson: JSON.stringify(scenario) },
    })
    await appendAttempts(store, rows)
  }

  test('shows response time over time, each percentile as soon as its interval has enough samples', {
    tags: 'whole',
  }, async () => {
    const rows = Array.from({ length: 2000 }, (_, at) => {
      const [us, ms] = [at * 10_000, at < 1000 ? 50 : 200]
      const end = us + ms * 1000
      return attempt(at, { intendedUs: us, sentUs: us, headersUs: end, doneUs: end, closedUs: end })
    })
    await runOf(rows, { objectives: { responseUs: 150_000 } })
    const shown = await behind(store, 'launch', 'launch', '06-response-over-time')
    store.close()
    for (const { at_s, response_ms } of shown) {
      expect([at_s, response_ms]).toEqual([at_s, Number(at_s) < 10 ? 50 : 200])
    }
    const of = (statistic: string) => shown.filter((row) => row.statistic === statistic)
    expect(of('p95').map(({ at_s, n }) => [at_s, n])).toEqual(
      Array.from({ length: 10 }, (_, at) => [2 * at, 200]),
    )
    expect(of('p50').map(({ at_s, n }) => [at_s, n])).toEqual(
      Array.from({ length: 80 }, (_, at) => [at / 4, 25]),
    )
    // One interval with 662 samples is no line.
    expect(of('p99')).toEqual([])
    expect(shown.map(({ objective_ms }) => objective_ms)).toEqual(shown.map(() => 150))
  })

  test('never shows fewer credits spent than before, though answers come out of order', {
    tags: 'whole',
  }, async () => {
    await runOf(
      [1000, 882, 948, 870].map((creditsRemaining, slot) => attempt(slot, { creditsRemaining })),
    )
    const shown = await behind(store, 'launch', 'launch', '43-balance')
    store.close()
    expect(shown.map(({ spent, credits }) => [spent, credits])).toEqual([
      [0, 1000],
      [118, 882],
      [118, 948],
      [130, 870],
    ])
  })

  test('shows a credit too much of 154 as a step that stays, and says so at the witness', {
    tags: 'whole',
  }, async () => {
    let balance = 1000
    const rows = Array.from({ length: 153 }, (_, slot) => {
      balance -= slot === 77 ? 2 : 1
      return attempt(slot, { creditsRemaining: balance })
    })
    await runOf(rows)
    const detail = {
      ...{ verdict: 'fail', observations: 153, expected: '153 credits', observed: '154 credits' },
      witnesses: [{ runId: 'a', slot: 77, retry: 0, shows: 'remaining 921 after 923, cost 1' }],
    }
    await store.execute(
      `INSERT INTO findings VALUES ('x', make_timestamp(${novemberUs}), ['a'], 'BILL-10', 'must', 'fail', 153, 'One price', $1)`,
      [JSON.stringify(detail)],
    )
    await prepareTop(store, { ...seededOptions(store), page: 'audit', runIds: ['a'] })
    await renderFindings(store, await latestFindings(store), [], new Map(), () => ['audit'])
    await store.execute(`SET VARIABLE rule = 'BILL-10'`)
    const shown = await rowsOf(store, partOf('finding', '10-balance-line'))
    store.close()
    // Forty neighbours on each side.
    expect(shown.map(({ excess }) => excess)).toEqual([
      ...Array.from({ length: 40 }, () => 0),
      ...Array.from({ length: 41 }, () => 1),
    ])
    expect(shown.flatMap(({ mark }, at) => (mark === null ? [] : [[at, mark]]))).toEqual([
      [40, '1 too much'],
    ])
  })

  test('names five kinds of errors, and the rest together and last', {
    tags: 'whole',
  }, async () => {
    const codes = ['a', 'a', 'a', 'b', 'b', 'c', 'c', 'd', 'd', 'e', 'e', 'f', 'g']
    await runOf(
      codes.map((errorCode, slot) =>
        attempt(slot, { outcome: 'http_error', status: 503, errorCode, doneUs: null }),
      ),
    )
    const shown = await behind(store, 'launch', 'launch', '40-errors-over-time')
    store.close()
    const sums = Map.groupBy(shown, ({ error }) => error as string)
    expect(
      [...sums].map(([error, rows]) => [error, rows.reduce((sum, { n }) => sum + Number(n), 0)]),
    ).toEqual([
      ...[
        ['503 a', 3],
        ['503 b', 2],
        ['503 c', 2],
        ['503 d', 2],
        ['503 e', 2],
      ],
      ['(other)', 2],
    ])
  })
})

interface Scale {
  readonly domain: readonly string[]
  readonly range: readonly string[]
}

/** The colours that the shipped charts give to names: chart, names and colours. */
function namedColours(): readonly (readonly [chart: string, Scale])[] {
  const folder = new URL('../../reports/', import.meta.url)
  const charts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return charts
    .filter((name) => name.endsWith('.vl.json'))
    .flatMap((name) => {
      const found: (readonly [string, Scale])[] = []
      JSON.parse(readFileSync(new URL(name, folder), 'utf8'), (key, value) => {
        if (key === 'color' && value?.scale?.range !== undefined) found.push([name, value.scale])
        return value
      })
      return found
    })
}

test('colours of the shipped charts are of the palette, differ in a chart, and mean the same in each', () => {
  const bad = /fail|error|429|worse|end not known|lag/
  const palette = [...seriesColours, othersColour]
  expect(namedColours().length).toBeGreaterThan(8)
  for (const [chart, { domain, range }] of namedColours()) {
    expect([chart, range.filter((colour) => !palette.includes(colour))]).toEqual([chart, []])
    expect([chart, new Set(range).size]).toEqual([chart, domain.length])
    for (const [at, name] of domain.entries()) {
      if (!bad.test(name)) continue
      expect([chart, name, [...errorColours, othersColour].includes(range[at]!)]).toEqual([
        chart,
        name,
        true,
      ])
    }
  }
})
