import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pageNames, writeReport } from '../../src/report/page.ts'
import { fillTable } from '../../src/report/temp-table.ts'
import type { Store } from '../../src/store/open.ts'
import { canBrowse, openBrowser } from '../chromium.ts'
import { editAttempts } from '../store/edit-attempts.ts'
import { seededOptions, seededStore, seedUsage } from './seeded.ts'

const hostile = [
  '</script><script>window.owned=1</script>',
  '"><img src=x onerror="window.owned=1">',
  "'-window.owned=1-'{{1}}",
  '<svg onload=window.owned=1><style>*{display:none}</style>',
  '=cmd()|calc',
  '\u001b[31mred\u001b[0m\u0007\u0000',
  '\u202egnirts desrever\u2066',
  '<!--<script>',
  'javascript:window.owned=1',
] as const

const folder = mkdtempSync(join(tmpdir(), 'assay-hostile-'))
const fileOf = (page: string) => join(folder, `${page}.html`)
let store: Store

/** Every text that a service, a scenario's author or a log can choose, in turn. */
beforeAll(async () => {
  store = await seededStore({ attempts: 400 })
  await seedUsage(store)
  await fillTable(store, 'hostile', { texts: 'VARCHAR[]' }, [{ texts: hostile }])
  const list = '(SELECT texts FROM hostile)'
  const pick = (column: string) =>
    `${column} = ${list}[1 + (hash(slot) % ${hostile.length})::INTEGER]`
  await editAttempts(
    store,
    `
    UPDATE edited SET ${['step', 'model', 'error_code', 'error_type', 'reason', 'account', 'response_model', 'response_id', 'finish_reason', 'phase'].map(pick).join(', ')};
    UPDATE edited SET error_code = repeat('x', 1000000), step = repeat('y', 1000000) WHERE slot = 7;
  `,
  )
  await store.execute(`
    UPDATE runs SET scenario = ${list}[1], base_url = ${list}[2], assay_version = ${list}[4];
    UPDATE histograms SET step = ${list}[3];
    UPDATE usage_events SET model = ${list}[1 + (at_us // 900000000 % ${hostile.length})::INTEGER], key_fp = ${list}[2], account = ${list}[3], error_code = ${list}[4];
    UPDATE usage_events SET model = repeat('z', 1000000) WHERE id = 'e601';
    UPDATE findings SET says = ${list}[1], rule = 'BILL-' || ${list}[2], severity = ${list}[4],
      detail_json = replace(detail_json, '829 credits', '</script><script>window.owned=1</script>');
  `)
  for (const page of pageNames) {
    await writeReport({ ...seededOptions(store), page, out: fileOf(page) })
  }
}, 60_000)
afterAll(() => store.close())

describe('strings that a service chose to do harm', () => {
  for (const page of pageNames) {
    test(`are text on the page ${page}: no script, no element, no control character, bounded`, () => {
      const text = readFileSync(fileOf(page), 'utf8')
      const [markup, ...scripts] = text.split('<script')
      expect(scripts.length).toBeLessThanOrEqual(2)
      for (const tag of ['<img', '<svg onload', '<!--', '<style>*'])
        expect(markup!.includes(tag), tag).toBe(false)
      for (const mark of ['\u001b', '\u0000', '\u0007', '\u202e', '\u2066']) {
        expect(text.includes(mark)).toBe(false)
      }
      expect(text.length).toBeLessThan(3_000_000)
    })
  }
})

describe.skipIf(!canBrowse)('in a browser (needs chromium: apt-get install chromium)', () => {
  test('no page runs anything of theirs, logs anything or grows out of a phone', async () => {
    const browser = await openBrowser()
    try {
      // The page run holds all of launch and audit.
      for (const page of ['run', 'usage']) {
        const context = await browser.newContext({
          viewport: { width: 375, height: 800 },
          offline: true,
        })
        const tab = await context.newPage()
        const noticed: string[] = []
        tab.on('console', (message) => noticed.push(message.text()))
        tab.on('pageerror', (error) => noticed.push(error.message))
        await tab.goto(`file://${fileOf(page)}`)
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
        expect(await html.evaluate((root) => root.scrollWidth)).toBeLessThanOrEqual(375)
        expect(noticed).toEqual([])
        await context.close()
      }
    } finally {
      await browser.close()
    }
  }, 60_000)
})
