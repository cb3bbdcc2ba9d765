import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { audit } from '../../src/audit/audit.ts'
import { jsonText, junitText, markdownText } from '../../src/audit/format/machine.ts'
import { failuresOf, reproductions } from '../../src/audit/format/reproduce.ts'
import { sarifText } from '../../src/audit/format/sarif.ts'
import { terminalText } from '../../src/audit/format/terminal.ts'
import { compareRuns } from '../../src/report/compare/compare.ts'
import { markdownComparison, terminalComparison } from '../../src/report/compare/formats.ts'
import { judgeGate, parseGate } from '../../src/report/compare/gate.ts'
import { renderComparison } from '../../src/report/compare-page.ts'
import { readUsageOf, writeReport } from '../../src/report/page.ts'
import { pageNames, textFormats } from '../../src/report/pages.ts'
import { summarise } from '../../src/report/summary/summarise.ts'
import { terminalSummary } from '../../src/report/summary/terminal.ts'
import { vllmBlock, vllmFigures } from '../../src/report/summary/vllm.ts'
import { makeText } from '../../src/report/text.ts'
import { terminalUsage } from '../../src/report/usage/terminal.ts'
import { exportable, exportTable } from '../../src/store/files/export.ts'
import { canBrowse, openBrowser } from '../chromium.ts'
import type { Store } from '../store/opened.ts'
import {
  expectNoFormula,
  expectPlainHtml,
  expectPlainMarkdown,
  expectQuiet,
  expectXmlOf,
} from './harmless.ts'
import { hostileColumns, hostileTexts, makeHostile, ours } from './hostile.ts'
import { seededOptions, seededStore, seedUsage } from './seeded.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-hostile-'))
const fileOf = (page: string) => join(folder, `${page}.html`)
let store: Store

/** The profile holds text from answers of a service. */
const hostileOptions = () => {
  const options = seededOptions(store)
  const answers = structuredClone(options.profile.answers) as Record<string, object>
  answers['G-21'] = {
    status: 'answered',
    is: { unit: hostileTexts[0] },
    evidence: [hostileTexts[1]],
  }
  return { ...options, profile: { ...options.profile, answers } as typeof options.profile }
}

beforeAll(async () => {
  store = await seededStore({ attempts: 400 })
  await seedUsage(store)
  await store.execute(`
    INSERT INTO templates SELECT DISTINCT run_id, 1, step, 'POST', '/v1/chat/completions', '{}', '{}', 8, 1, 'x' FROM attempts;
    INSERT INTO bodies SELECT run_id, slot, retry, '{}', '', false, NULL FROM attempts WHERE slot % 10 = 0;
    INSERT INTO wrong_answers SELECT run_id, slot, retry, 'contains', '' FROM attempts WHERE slot % 10 = 0;
    INSERT INTO tasks SELECT run_id, slot, 'fix', phase, part, 0, 1e6, 'ok', 1, 0, 0 FROM attempts WHERE slot % 10 = 0;
    INSERT INTO run_shards (run_id, shard, shards, attempt, plan_hash, began_at, ended_us, machine_json, attempt_counts_json, verdict, verdict_json)
      SELECT run_id, 0, 1, 'a', 'a', started_at, 1, '{}', '{}', 'valid', '[]' FROM runs LIMIT 1;
    INSERT INTO usage_keys (account, key_fp, last_four) SELECT DISTINCT coalesce(account, ''), key_fp, 'ijkl' FROM usage_events WHERE key_fp IS NOT NULL;
    INSERT INTO usage_imports VALUES (1, '', '', 'jsonl', '{}', 0, 1, 1, 0, 0, NULL, NULL, false);
  `)
  await makeHostile(store)
  for (const page of pageNames) {
    const { warnings } = await writeReport({ ...hostileOptions(), page, out: fileOf(page) })
    expect(warnings).toEqual([])
  }
  const side = (runId: string) => ({ store, runId })
  const compared = await compareRuns(side('run-sweep'), side('run-1'), hostileOptions().contract)
  const gates = [judgeGate(compared, parseGate('p95 > +10%'))]
  writeFileSync(fileOf('compare'), (await renderComparison(store, compared, gates)).html)
  expectQuiet(terminalComparison(compared, gates), 'compare')
  expectPlainMarkdown(markdownComparison(compared, gates), 'compare')
})
afterAll(() => store.close())

const htmlPages = [...pageNames, 'compare']

describe('hostile strings from a service, a log or another tool', () => {
  test('are in every text column that outsiders can fill', async () => {
    for (const [table, columns] of await hostileColumns(store)) {
      for (const column of columns) {
        const [found] = await store.rows<{ n: number }>(
          `SELECT count(*) AS n FROM ${table} WHERE contains(${column}, 'window.owned') AND contains(${column}, '${column}')`,
        )
        expect(found!.n, `${table}.${column}`).toBeGreaterThan(0)
      }
    }
    const known = await store.rows<{ place: string }>(
      `SELECT table_name || '.' || column_name AS place FROM duckdb_columns() WHERE data_type = 'VARCHAR'`,
    )
    const places = Object.entries(ours).flatMap(([table, columns]) =>
      columns.map((column) => `${table}.${column}`),
    )
    expect(places.filter((place) => !known.some((each) => each.place === place))).toEqual([])
  })

  test.each(htmlPages)(
    'are text on the page %s: no script, no element, no control character',
    (page) => {
      const text = readFileSync(fileOf(page), 'utf8')
      expectPlainHtml(text, page)
      expect(text).toContain('window.owned')
    },
  )

  test.each(pageNames)(
    'are text in the page %s as Markdown, JSON and CSV',
    { tags: 'whole' },
    async (page) => {
      const told = new Map<string, string>()
      for (const format of textFormats) {
        told.set(format, await makeText({ ...hostileOptions(), page }, format))
      }
      expectPlainMarkdown(told.get('md')!, page)
      expectNoFormula(told.get('csv')!, page)
      // JSON is for programs: complete, but harmless when printed.
      expectQuiet(told.get('json')!, page, 10_000_000)
      JSON.parse(told.get('json')!)
    },
  )

  test('are text on a terminal: summary, vLLM block, usage', { tags: 'whole' }, async () => {
    const summary = await summarise(store, 'run-1', hostileOptions().contract)
    expectQuiet(terminalSummary(summary), 'summary')
    expectQuiet(vllmBlock(await vllmFigures(store, 'run-1'), summary), 'vLLM block')
    expectQuiet(
      terminalUsage(await readUsageOf(store, { ...hostileOptions(), page: 'usage' })),
      'usage',
    )
  })

  test('are text in every format of an audit', { tags: 'whole' }, async () => {
    const report = await audit(store, {
      contract: hostileOptions().contract,
      profile: hostileOptions().profile,
      runIds: ['run-1'],
      rules: [],
      auditId: 'audit-2',
      auditedAt: new Date(0),
    })
    const again = await reproductions(store, failuresOf(report.findings))
    expectQuiet(terminalText(report, again), 'terminal')
    expectPlainMarkdown(markdownText(report, again), 'Markdown')
    expectXmlOf(
      ['?xml', 'testsuites', 'testsuite', 'testcase', 'failure', 'system-out', 'skipped'],
      junitText(report, again),
      'JUnit',
    )
    for (const [what, text] of [
      ['SARIF', sarifText(report, again)],
      ['JSON', jsonText(report, again)],
    ] as const) {
      JSON.parse(text)
      expect(text.length, what).toBeLessThan(5_000_000)
    }
  })

  test.each(exportable)(
    'start no formula in the exported CSV of %s',
    { tags: 'whole' },
    async (what) => {
      const file = join(folder, `${what}.csv`)
      await exportTable(store, { what, file, format: 'csv' })
      const cells = readFileSync(file, 'utf8').matchAll(
        /(?:^|,)(?:"((?:[^"]|"")*)"|([^",\r\n]+))/gm,
      )
      const formulas = [...cells].filter(([, quoted, plain]) =>
        /^\s*[=@]|^\s*[+-](?![\d.])/.test(quoted ?? plain ?? ''),
      )
      expect(formulas.map(([cell]) => cell.slice(0, 60))).toEqual([])
    },
  )
})

describe.skipIf(!canBrowse)('in a browser (needs chromium: apt-get install chromium)', () => {
  test('on no page run scripts, add elements, log messages or overflow a phone', {
    tags: 'whole',
  }, async () => {
    const browser = await openBrowser()
    try {
      // The run page contains all of launch and audit.
      for (const page of ['run', 'usage', 'compare']) {
        const context = await browser.newContext({
          viewport: { width: 375, height: 800 },
          offline: true,
        })
        const tab = await context.newPage()
        const noticed: string[] = []
        tab.on('console', (message) => noticed.push(message.text()))
        tab.on('pageerror', (error) => noticed.push(error.message))
        await tab.goto(`file://${fileOf(page)}`)
        await tab.locator('details:not(.as-table)').evaluateAll((all) => {
          for (const each of all) each.setAttribute('open', '')
        })
        const figures = tab.locator('figure[data-chart]')
        for (let at = 0; at < (await figures.count()); at++) {
          await figures.nth(at).scrollIntoViewIfNeeded()
          await figures.nth(at).and(tab.locator('.is-live')).waitFor({ state: 'attached' })
        }
        const html = tab.locator('html')
        expect(
          await html.evaluate(
            (root) =>
              root.ownerDocument.defaultView !== null && 'owned' in root.ownerDocument.defaultView,
          ),
        ).toBe(false)
        const made = await html.evaluate((root) => ({
          scripts: root.querySelectorAll('script').length,
          styles: root.querySelectorAll('style').length,
          foreign: root.querySelectorAll(
            'img, iframe, object, embed, link, form:not(.vega-bindings), a[href^="javascript"]',
          ).length,
          handlers: [...root.querySelectorAll('*')].filter((element) =>
            [...element.attributes].some(({ name }) => name.startsWith('on')),
          ).length,
          width: root.scrollWidth,
        }))
        expect(made).toEqual({
          scripts: page === 'usage' ? 3 : 2,
          styles: 1,
          foreign: 0,
          handlers: 0,
          width: 375,
        })
        expect(noticed).toEqual([])
        await context.close()
      }
    } finally {
      await browser.close()
    }
  })
})
