import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChartRow, ChartSpec } from '../../src/chart/spec.ts'
import { renderSvg } from '../../src/chart/svg.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { compareRuns } from '../../src/report/compare/compare.ts'
import { fillCompared, fillSearched } from '../../src/report/compare-page.ts'
import { partsIn, prepareTop } from '../../src/report/page.ts'
import type { PageName } from '../../src/report/pages.ts'
import type { Part } from '../../src/report/part.ts'
import type { Store } from '../store/opened.ts'
import { seededOptions, seededStore, seedStreams, seedUsage } from './seeded.ts'

let store: Store

beforeAll(async () => {
  store = await seededStore({ attempts: 600 })
  await seedUsage(store)
  await store.execute(
    `INSERT INTO model_prices SELECT DISTINCT 'svc', model, 1 FROM attempts WHERE model IS NOT NULL`,
  )
  await seedMetrics(store)
  await seedStreams(store)
  await seedTasks(store)
})
afterAll(() => store.close())

/** What a vLLM exposed during a run: a queue that grows for half a minute and shrinks again. */
async function seedMetrics(store: Store): Promise<void> {
  await store.execute(`
    INSERT INTO metric_sources VALUES ('run-1', 0, 'http://127.0.0.1:8000/metrics', 'vLLM', 'auto', 1000000);
    INSERT INTO metric_scrapes SELECT 'run-1', 0, s * 1000000, 900, 12000, CASE s WHEN 0 THEN 'start' WHEN 60 THEN 'end' END, NULL
      FROM range(61) AS t(s);
    INSERT INTO metric_series VALUES
      ('run-1', 0, 0, 'vllm:num_requests_running', 'vllm:num_requests_running', 'gauge', '{}'),
      ('run-1', 1, 0, 'vllm:num_requests_waiting', 'vllm:num_requests_waiting', 'gauge', '{}'),
      ('run-1', 2, 0, 'vllm:request_success_total', 'vllm:request_success', 'counter', '{}');
    INSERT INTO metric_points SELECT 'run-1', 0, s * 1000000, least(8, s // 2) FROM range(61) AS t(s);
    INSERT INTO metric_points SELECT 'run-1', 1, s * 1000000, greatest(0, 30 - abs(30 - s) - 10) FROM range(61) AS t(s);
    INSERT INTO metric_points SELECT 'run-1', 2, s * 1000000, 100 + 10 * s FROM range(61) AS t(s);
  `)
}

/** Tasks of agents, and answers that are not what their step expects. */
async function seedTasks(store: Store): Promise<void> {
  await store.execute(`
    INSERT INTO tasks SELECT 'run-1', n, 'fix', phase, part, 1000000 * n, 1000000 * n + 400000 + 10000 * n, 'ok', 3, 0, 20000
      FROM (SELECT phase, part FROM attempts WHERE run_id = 'run-1' AND part = 'steady' LIMIT 1), range(20) AS t(n);
    INSERT INTO wrong_answers SELECT run_id, slot, retry, 'it lacks "carat"', 'A unit of weight.'
      FROM attempts WHERE run_id = 'run-1' AND part = 'steady' AND outcome = 'ok' ORDER BY slot LIMIT 3;
  `)
}

/** A chart is shown if its query returns rows. */
const searches: Readonly<Record<string, string>> = {
  '04-response-by-load': 'run-sweep',
  '03-first-token-by-load': 'run-streams',
  '02-goodput-by-load': 'run-sweep',
}
const runOf = (part: string) => searches[part] ?? 'run-1'

/** The page that the tables of the queries were last prepared for. */
let prepared = ''

async function rowsOf(page: PageName, part: Part) {
  const wanted = `${page} ${runOf(part.name)}`
  if (prepared !== wanted) await prepare(page, part)
  prepared = wanted
  return store.rows(part.sql)
}

async function prepare(page: PageName, part: Part): Promise<void> {
  await prepareTop(store, {
    ...seededOptions(store),
    page,
    runIds: page === 'usage' ? [] : [runOf(part.name)],
    timeZone: page === 'usage' ? 'America/New_York' : 'Asia/Kolkata',
    usage: {
      contract: defaultContract,
      fromUs: null,
      toUs: null,
      by: 'model',
      sources: ['gateway'],
      grants: [
        { name: 'Starter', credits: 500, expiresUs: null },
        { name: 'Standard', credits: 4200, expiresUs: Date.UTC(2026, 3, 1) * 1000 },
      ],
    },
  })
}

/** Combinations of chart layers without rows: every one, if there are few. */
function thinned(chart: ChartSpec): readonly ChartSpec[] {
  const whole = chart.vegaLite as unknown as { layer?: readonly Layer[] } & Layer
  const layers = whole.layer ?? [whole]
  // With many layers, each alone without rows, and all of them.
  const cases =
    layers.length > 4
      ? [...layers.map((_, at) => 2 ** at), 2 ** layers.length - 1]
      : Array.from({ length: 2 ** layers.length - 1 }, (_, which) => which + 1)
  return cases.map((which) => {
    const thin = layers.map((layer, at) => ((which >> at) & 1 ? without(layer) : layer))
    const vegaLite = whole.layer === undefined ? thin[0] : { ...whole, layer: thin }
    return { ...chart, vegaLite: vegaLite as unknown as ChartSpec['vegaLite'] }
  })
}

type Layer = { readonly transform?: readonly unknown[] }
const without = (layer: Layer): Layer => ({
  ...layer,
  transform: [...(layer.transform ?? []), { filter: 'false' }],
})

/** For each column, the rows with that column entirely unmeasured. */
const unmeasured = (rows: readonly ChartRow[]) =>
  Object.keys(rows[0] ?? {}).map((column) => rows.map((row) => ({ ...row, [column]: null })))

async function rowsOfAny(folder: string, part: Part): Promise<readonly ChartRow[]> {
  if (folder === 'compare') {
    const ofSearches = part.name === '05-goodput-by-rate'
    const names = ['run-sweep', ofSearches ? 'run-streams' : 'run-1']
    const [a, b] = names.map((runId) => ({ store, runId }))
    const comparison = await compareRuns(a!, b!, seededOptions(store).contract)
    await fillCompared(store, comparison)
    await fillSearched(store, comparison)
    return store.rows(part.sql)
  }
  if (folder !== 'finding') return rowsOf(folder as PageName, part)
  await prepare('audit', part)
  await store.execute(`SET VARIABLE rule = 'BILL-10'`)
  return store.rows(part.sql)
}

/** The first rows, one a line; sums of fractions in any order are the same in eight digits. */
const textOf = (rows: readonly ChartRow[]) =>
  rows
    .slice(0, 40)
    .map((row) =>
      JSON.stringify(row, (_, value) =>
        typeof value === 'bigint'
          ? Number(value)
          : typeof value === 'number'
            ? Number(value.toPrecision(8))
            : value,
      ),
    )
    .join('\n')
    .concat('\n')

const folders = ['launch', 'audit', 'usage', 'run', 'compare', 'finding']

for (const folder of folders) {
  describe(`the charts of reports/${folder}`, () => {
    for (const part of partsIn([folder])) {
      const { chart } = part
      if (chart === null) {
        test(`${part.name} is a table with the rows of its golden file`, async () => {
          const rows = await rowsOfAny(folder, part)
          expect(rows.length).toBeGreaterThan(0)
          await expect(textOf(rows)).toMatchFileSnapshot(`golden/${folder}-${part.name}.txt`)
        })
        continue
      }
      test(`${part.name} matches its golden drawing, and has no warnings if any layer or column is empty`, {
        tags: 'whole',
      }, async () => {
        const rows = await rowsOfAny(folder, part)
        const { svg, warnings } = await renderSvg(chart, rows, { id: part.name, widthPx: 500 })
        expect(warnings).toEqual([])
        expect(rows.length).toBeGreaterThan(0)
        await expect(svg.replaceAll('><', '>\n<')).toMatchFileSnapshot(
          `golden/${folder}-${part.name}.svg`,
        )
        const few = rows.filter((_, at) => at % Math.ceil(rows.length / 60) === 0)
        const cases = [
          ...[[], ...unmeasured(few)].map((some) => ({ chart, rows: some })),
          ...thinned(chart).map((thin) => ({ chart: thin, rows: few })),
        ]
        for (const each of cases) {
          const drawn = await renderSvg(each.chart, each.rows, { id: 'c', widthPx: 311 })
          expect(drawn.warnings).toEqual([])
        }
      })
    }
  })
}
