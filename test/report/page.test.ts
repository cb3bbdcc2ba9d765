import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { compareRuns } from '../../src/report/compare/compare.ts'
import { renderComparison } from '../../src/report/compare-page.ts'
import { writeReport } from '../../src/report/page.ts'
import { pageNames } from '../../src/report/pages.ts'
import { ofColours, violations } from '../axe.ts'
import { canBrowse, openBrowser } from '../chromium.ts'
import type { Store } from '../store/opened.ts'
import { seededOptions, seededStore, seedUsage } from './seeded.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-pages-'))
const fileOf = (page: string) => join(folder, `${page}.html`)
let store: Store

beforeAll(async () => {
  store = await seededStore({ attempts: 1500 })
  const options = seededOptions(store)
  for (const page of pageNames) await writeReport({ ...options, page, out: fileOf(page) })
  await writeReport({ ...options, page: 'launch', runIds: ['run-sweep'], out: fileOf('search') })
  const [a, b] = ['run-sweep', 'run-1'].map((runId) => ({ store, runId }))
  const comparison = await compareRuns(a!, b!, options.contract)
  writeFileSync(fileOf('compare'), (await renderComparison(store, comparison, [])).html)
  await writeReport({ ...options, page: 'audit', reportsFolder: ownReports(), out: fileOf('own') })
  await writeMonth()
  await writePriced()
})
afterAll(() => store.close())

const sums = {
  title: 'Sums of each place, USD',
  head: ['requests of', 'requests', 'computed', 'stated', 'logged', 'taken'],
  rows: [
    ['all requests', '2', '0.000614', '0.000614', '0.000338', '0.000614'],
    ['big, streamed', '1', '0.000276', '0.000276', '0', ''],
  ],
}
const behind = {
  title: 'Requests behind the differences, USD',
  head: ['request', 'model', 'ended', 'computed', 'stated', 'logged'],
  rows: [['run-1 3.0', 'big, streamed', 'success', '0.000276', '0.000276', '0']],
}

/** An audit whose costs differ between the places. */
async function writePriced(): Promise<void> {
  const priced = await seededStore({ attempts: 60 })
  const detail = {
    ...{ verdict: 'fail', observations: 2, expected: 'one cost at all places' },
    ...{ observed: '1 of 2 requests differ', tables: [sums, behind] },
    witnesses: [{ runId: 'run-1', slot: 3, retry: 0, shows: 'costs differ between the places' }],
  }
  await priced.execute(
    `INSERT INTO findings
     SELECT audit_id, audited_at, run_ids, 'PRICE-08', 'advice', 'fail', 2, 'One sum', $1
     FROM findings LIMIT 1`,
    [JSON.stringify(detail)],
  )
  await writeReport({ ...seededOptions(priced), page: 'audit', out: fileOf('priced') })
  priced.close()
}

/** Usage of several keys with a forecast: lost bands, expiring credits, costs, and an unusual hour. */
async function writeMonth(): Promise<void> {
  const month = await seededStore({ attempts: 60 })
  await seedUsage(month)
  await month.execute(`
    INSERT INTO usage_events SELECT * REPLACE ('dear' AS id, 400 AS credits)
    FROM usage_events WHERE outcome = 'ok' AND at_us >= epoch_us(TIMESTAMP '2026-03-03 03:00:00') ORDER BY at_us LIMIT 1`)
  await writeReport({
    ...seededOptions(month),
    ...{ page: 'usage', timeZone: 'Europe/Berlin', out: fileOf('month') },
    usage: {
      ...{ contract: defaultContract, fromUs: null, toUs: null, by: 'key', sources: ['gateway'] },
      grants: [
        { name: 'Starter', credits: 500, expiresUs: null },
        { name: 'Standard', credits: 8200, expiresUs: Date.UTC(2026, 3, 1) * 1000 },
      ],
      ...{ keyNames: { '0a1b2c3d4e5f': 'billing (a1b2)' }, creditUsd: 0.006 },
    },
  })
  month.close()
}

/** A user's own folder: a chart and a table. */
function ownReports(): string {
  const own = mkdtempSync(join(folder, 'own-'))
  const sql = 'SELECT step, count(*) AS n FROM shown_attempts GROUP BY step ORDER BY step'
  writeFileSync(join(own, '90-mine.sql'), sql)
  writeFileSync(join(own, '91-mine-too.sql'), `-- title: My own table\n${sql}`)
  const chart = {
    title: 'My own chart',
    description: 'Bars of attempts by step.',
    usermeta: { empty: 'No attempt.' },
    mark: 'bar',
    encoding: {
      x: { field: 'n', type: 'quantitative', title: 'attempts' },
      y: { field: 'step', type: 'nominal', title: 'step' },
    },
  }
  writeFileSync(join(own, '90-mine.vl.json'), JSON.stringify(chart))
  return own
}

/** A tab with the page, and its messages and requests. */
async function openPage(browser: Browser, page: string, javaScriptEnabled: boolean) {
  const context = await browser.newContext({ javaScriptEnabled, offline: true })
  const tab = await context.newPage()
  const noticed: string[] = []
  tab.on('console', (message) => noticed.push(message.text()))
  tab.on('pageerror', (error) => noticed.push(error.message))
  tab.on('request', (request) => {
    if (!request.url().startsWith('file:')) noticed.push(`request to ${request.url()}`)
  })
  await tab.goto(`file://${fileOf(page)}`)
  return { tab, noticed, close: () => context.close() }
}

/** Opens every folded part but the tables of charts. */
const unfold = (tab: Page) =>
  tab.locator('details:not(.as-table)').evaluateAll((all) => {
    for (const each of all) each.setAttribute('open', '')
  })

/** Scrolls each chart into view, which makes it interactive. */
async function wake(tab: Page): Promise<void> {
  await unfold(tab)
  for (const figure of await tab.locator('figure[data-chart]').all()) {
    await figure.scrollIntoViewIfNeeded()
    await figure.and(tab.locator('.is-live')).waitFor({ state: 'attached' })
  }
}

/** Visual faults: overflow, blank or cut charts, text in the colour of its background. */
function eyesores(tab: Page): Promise<readonly string[]> {
  return tab.locator('html').evaluate((html) => {
    const faults: string[] = []
    const lightness = (color: string) => {
      const [red, green, blue] = (color.match(/[\d.]+/g) ?? []).map(Number)
      return (0.2126 * red! + 0.7152 * green! + 0.0722 * blue!) / 255
    }
    const view = html.ownerDocument.defaultView!
    const width = html.clientWidth
    if (html.scrollWidth > width) faults.push(`${html.scrollWidth} px in ${width} px`)
    const dark = view.matchMedia('(prefers-color-scheme: dark)').matches
    const print = view.matchMedia('print').matches
    const paper = lightness(
      view.getComputedStyle(html.querySelector('figure.card')!).backgroundColor,
    )
    if (dark && !print ? paper > 0.3 : paper < 0.8) faults.push(`paper of lightness ${paper}`)
    for (const figure of html.querySelectorAll('figure')) {
      const drawings = [...figure.querySelectorAll('.chart-drawings svg')].filter((svg) =>
        svg.checkVisibility({ visibilityProperty: true }),
      )
      if (drawings.length !== 1) faults.push(`${figure.id}: ${drawings.length} drawings`)
      for (const svg of drawings) {
        const [box, frame] = [svg.getBoundingClientRect(), figure.getBoundingClientRect()]
        if (box.height < 40) faults.push(`${figure.id}: ${box.height} px high`)
        if (box.left < frame.left || box.right > frame.right + 1 || box.right > width) {
          faults.push(`${figure.id}: cut at the side`)
        }
        for (const text of svg.querySelectorAll('text')) {
          const ink = lightness(view.getComputedStyle(text).fill)
          if (Math.abs(ink - paper) < 0.3)
            faults.push(`${figure.id}: "${text.textContent}" is faint`)
          const words = text.getBoundingClientRect()
          const room = words.width > 0 && (words.right > frame.right || words.left < frame.left)
          if (room) faults.push(`${figure.id}: "${text.textContent}" is cut`)
        }
        // A scale between colours that are variables is drawn black.
        const black = [...svg.querySelectorAll('.mark-rect path, [fill^="rgb"]')].filter(
          (mark) => view.getComputedStyle(mark).fill === 'rgb(0, 0, 0)',
        )
        if (black.length > 0) faults.push(`${figure.id}: ${black.length} marks are black`)
        if (svg.querySelectorAll('text, path, rect, line').length < 1)
          faults.push(`${figure.id}: blank`)
      }
    }
    return faults
  })
}

/** On a busy machine, checking every word of a page once takes longer than the usual second. */
const looking = { timeout: 5_000 }

describe.skipIf(!canBrowse)(
  'a page in a browser (needs chromium: apt-get install chromium)',
  () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await openBrowser()
    })
    afterAll(() => browser.close())

    // The run page contains all of launch but the charts of a search.
    const pages = ['audit', 'usage', 'month', 'run', 'compare', 'own']
    // The quick half has each page once, with scripts or without, in two looks.
    const withScripts = ['usage', 'own']
    const once = pages.map((page) => ({ page, script: withScripts.includes(page) }))
    const all = [
      ...pages.flatMap((page) => [true, false].map((script) => ({ page, script }))),
      { page: 'search', script: true },
    ]
    type Look = readonly [width: number, colorScheme: 'light' | 'dark']
    const twoLooks: readonly Look[] = [
      [1440, 'light'],
      [375, 'dark'],
    ]
    const fourLooks = twoLooks.flatMap(([width]): readonly Look[] => [
      [width, 'light'],
      [width, 'dark'],
    ])
    const isComplete = async (page: string, script: boolean, looks: readonly Look[]) => {
      const { tab, noticed, close } = await openPage(browser, page, script)
      expect(await tab.locator('figure').count()).toBeGreaterThan(0)
      for (const [width, colorScheme] of looks) {
        await tab.setViewportSize({ width, height: 900 })
        if (script) await wake(tab)
        else await unfold(tab)
        await tab.emulateMedia({ media: 'screen', colorScheme })
        await expect.poll(() => eyesores(tab), looking).toEqual([])
        const rules = colorScheme === 'dark' ? ofColours : undefined
        if (script) expect(await violations(tab, rules)).toEqual([])
      }
      // A4 less its margins, from a reader with dark mode.
      await tab.setViewportSize({ width: 688, height: 1000 })
      await tab.emulateMedia({ media: 'print', colorScheme: 'dark' })
      await expect.poll(() => eyesores(tab), looking).toEqual([])
      expect(noticed).toEqual([])
      await close()
    }
    test.each(once)(
      '$page, scripts $script, is complete, without messages and without overflow: desktop, dark phone, paper',
      ({ page, script }) => isComplete(page, script, twoLooks),
    )
    test.each(all)(
      '$page, scripts $script, is complete, without messages and without overflow: desktop, phone, light, dark, paper',
      { tags: 'whole' },
      ({ page, script }) => isComplete(page, script, fourLooks),
    )

    test.each([1440, 375])(
      'the sums of all places and the requests behind each difference stand apart, at %i px',
      { tags: 'whole' },
      async (width) => {
        const { tab, close } = await openPage(browser, 'priced', false)
        await tab.setViewportSize({ width, height: 900 })
        await unfold(tab)
        const finding = tab.locator('#PRICE-08')
        const parts = await finding.locator('h3, .table-scroll').all()
        const boxes = await Promise.all(parts.map((part) => part.boundingBox()))
        for (const [at, box] of boxes.slice(1).entries()) {
          expect(box!.y).toBeGreaterThanOrEqual(boxes[at]!.y + boxes[at]!.height)
        }
        for (const { title, head, rows } of [sums, behind]) {
          const region = finding.getByRole('region', { name: title, exact: true })
          const cells = await region
            .locator('tr')
            .evaluateAll((all) =>
              all.map((row) => [...row.children].map((cell) => cell.textContent?.trim())),
            )
          expect(cells).toEqual([head, ...rows])
        }
        await close()
      },
    )

    // Next to the first column, which is sticky.
    test.each([
      ['audit', 'Witnesses of BILL-10', 'shows'],
      ['audit', 'Rules: could not be decided', 'promise'],
      ['compare', 'Every figure', 'verdict'],
      ['month', 'When each rate band is lost', 'about'],
      ['month', 'Credits that expire unused', 'expires'],
      ['month', 'Models', 'credits'],
    ])(
      'on a phone, %s: the table "%s" shows the column "%s"',
      { tags: 'whole' },
      async (page, table, column) => {
        const { tab, close } = await openPage(browser, page, false)
        await tab.setViewportSize({ width: 375, height: 900 })
        await unfold(tab)
        const region = tab.getByRole('region', { name: table, exact: true })
        const head = region.getByRole('columnheader', { name: column }).first()
        const box = (await head.boundingBox())!
        expect(box.x + box.width).toBeLessThanOrEqual(375)
        const first = region.locator('tbody th').first()
        const left = (await first.boundingBox())!.x
        await region.evaluate((scrolled) => scrolled.scrollBy(400, 0))
        expect((await first.boundingBox())!.x).toBe(left)
        await close()
      },
    )

    /** A4 less margins of 14 mm, in CSS pixels. */
    const sheet = { width: 688, height: 1016 }

    test.each([
      ['launch', 2],
      ['search', 2],
      ['audit', 2],
      ['run', 3],
      ['compare', 3],
    ])(
      'on paper, %s has at most %i sheets, the figures on the first, and no sheet of a line',
      { tags: 'whole' },
      async (page, most) => {
        const { tab, close } = await openPage(browser, page, true)
        const pdf = (await tab.pdf({ format: 'A4', printBackground: true })).toString('latin1')
        expect(pdf.match(/\/Type \/Page\b/g)!.length).toBeLessThanOrEqual(most)
        await tab.setViewportSize(sheet)
        await tab.emulateMedia({ media: 'print' })
        const bottomOf = async (what: string) => {
          const box = (await tab.locator(what).first().boundingBox())!
          return box.y + box.height
        }
        expect(await bottomOf('.verdict')).toBeLessThan(sheet.height)
        if (page !== 'audit' && page !== 'compare') {
          expect(await bottomOf('.figures')).toBeLessThan(sheet.height)
        }
        // A part that is folded cannot be opened on paper.
        expect(await tab.locator('.fold:not([open]):visible').count()).toBe(0)
        // The end stays together with its heading.
        const end = tab.locator('section.end')
        if ((await end.count()) > 0) {
          expect(
            await end.evaluate(
              (each) => each.ownerDocument.defaultView!.getComputedStyle(each).breakInside,
            ),
          ).toBe('avoid')
        }
        const footer = tab.locator('footer')
        if ((await footer.count()) > 0) {
          expect(
            await footer.evaluate(
              (each) => each.ownerDocument.defaultView!.getComputedStyle(each).breakBefore,
            ),
          ).toBe('avoid')
        }
        await close()
      },
    )

    test.each(['run', 'search', 'audit', 'compare'])(
      '%s is read with forced colours, at 200 %, and by the keyboard alone',
      { tags: 'whole' },
      async (page) => {
        const { tab, noticed, close } = await openPage(browser, page, true)
        await tab.setViewportSize({ width: 1440, height: 900 })
        await wake(tab)
        await tab.emulateMedia({ forcedColors: 'active' })
        expect(await violations(tab)).toEqual([])
        const hidden = await tab.locator('html').evaluate((html) => {
          const view = html.ownerDocument.defaultView!
          const channels = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number)
          const paper = channels(view.getComputedStyle(html.ownerDocument.body).backgroundColor)
          const isPaper = (color: string) =>
            color.startsWith('rgb') &&
            channels(color)
              .slice(0, 3)
              .every((value, at) => Math.abs(value - paper[at]!) < 24)
          return [...html.querySelectorAll('.chart-live .mark-line path, .chart-live svg text')]
            .filter((mark) => {
              const { fill, stroke } = view.getComputedStyle(mark)
              return isPaper(mark.tagName === 'text' ? fill : stroke)
            })
            .map((mark) => mark.outerHTML.slice(0, 80))
        })
        expect(hidden).toEqual([])
        await tab.emulateMedia({ forcedColors: 'none' })
        // 200 % of a window of 1440 x 900.
        await tab.setViewportSize({ width: 720, height: 450 })
        await expect.poll(() => eyesores(tab), looking).toEqual([])
        expect(await violations(tab)).toEqual([])
        // Tab alone reaches the table of each chart, and Enter opens it.
        const charts = await tab.locator('figure[data-chart] .as-table').count()
        const opened = new Set<string>()
        await tab.locator('body').press('Tab')
        for (let presses = 0; presses < 400 && opened.size < charts; presses++) {
          const id = await tab.evaluate(`(() => {
            const at = document.activeElement
            return at?.parentElement?.matches('.as-table:not([open])') ? at.closest('figure').id : null
          })()`)
          if (typeof id === 'string') {
            await tab.keyboard.press('Enter')
            await tab.locator(`[id="${id}"] .as-table[open] tbody tr`).first().waitFor()
            opened.add(id)
          }
          await tab.keyboard.press('Tab')
        }
        expect(opened.size).toBe(charts)
        expect(charts).toBeGreaterThan(0)
        expect(noticed).toEqual([])
        await close()
      },
    )

    test('a choice on the usage page by key and by model keeps its rows and shows their sums', {
      tags: 'whole',
    }, async () => {
      const { tab, noticed, close } = await openPage(browser, 'usage', true)
      await unfold(tab)
      const card = tab.locator('[id="31-key-models"]')
      const rows = () => card.locator('tbody tr:visible').allTextContents()
      const before = await rows()
      expect(before.length).toBeGreaterThan(2)
      await card.getByRole('combobox', { name: 'key' }).selectOption('abcdef012345')
      await card.getByRole('combobox', { name: 'model' }).selectOption('svc-k2.5')
      expect(await rows()).toEqual(before.filter((row) => row.startsWith('abcdef012345svc-k2.5')))
      const credits = await card.locator('tbody tr:visible td').nth(1).textContent()
      expect(await card.getByRole('status').textContent()).toContain(
        `1 of ${before.length} rows, credits ${credits}, requests`,
      )
      await card.getByRole('combobox', { name: 'key' }).selectOption('all')
      await card.getByRole('combobox', { name: 'model' }).selectOption('all')
      expect(await rows()).toEqual(before)
      expect(await card.getByRole('status').textContent()).toBe('')
      expect(noticed).toEqual([])
      await close()
    })

    test('a filter changes charts, cards and tables and the address, and the keyboard opens a day, an hour and its requests', {
      tags: 'whole',
    }, async () => {
      const { tab, noticed, close } = await openPage(browser, 'month', true)
      const cards = () => tab.locator('.b-cards dd').allTextContents()
      const whole = await cards()
      await tab.getByRole('combobox', { name: 'key' }).selectOption('billing (a1b2)')
      expect(tab.url()).toMatch(/#key=billing\+%28a1b2%29$/)
      expect(await cards()).not.toEqual(whole)
      const models = tab.locator('#board-by-key tbody tr')
      expect(await models.count()).toBe(1)
      const shared = tab.url()
      await tab.getByRole('combobox', { name: 'show' }).selectOption('requests')
      expect(await tab.locator('#board-use h3').textContent()).toBe('Requests by day')
      const stage = tab.locator('#board-use .b-stage')
      await stage.focus()
      for (const key of ['End', 'ArrowLeft', 'ArrowLeft']) await tab.keyboard.press(key)
      expect(await tab.locator('#board-use .b-said').textContent()).toMatch(
        /^Thu, 12 Mar 2026: billing \(a1b2\) \d+$/,
      )
      await tab.keyboard.press('Enter')
      expect(await tab.locator('#board-use h3').textContent()).toBe('Requests by hour')
      await tab.keyboard.press('End')
      await tab.keyboard.press('Enter')
      expect(tab.url()).toContain('from=2026-03-12T23%3A00&to=2026-03-13')
      await tab.getByText('The requests of this hour').first().waitFor()
      await tab.goBack()
      await tab.goBack()
      expect(await tab.locator('#board-use h3').textContent()).toBe('Requests by day')
      await tab.locator('#board-use summary').click()
      const days = tab.getByRole('region', { name: 'Requests by day' }).locator('tbody tr')
      // The table is filled once the browser has told that it is open.
      await days.first().waitFor()
      expect(await days.count()).toBe(31)
      const again = await browser.newPage()
      await again.goto(shared)
      expect(await again.locator('#board-by-key tbody tr').count()).toBe(1)
      await again.close()
      expect(noticed).toEqual([])
      await close()
    })

    test('the usage page is reached by the keyboard in every chart, and holds in a frame of 700 px, at 200 %, in forced colours and on paper', {
      tags: 'whole',
    }, async () => {
      const { tab, noticed, close } = await openPage(browser, 'month', true)
      const charts = await tab.locator('#board figure').all()
      expect(charts.length).toBe(5)
      for (const chart of charts) {
        const said = chart.locator('.b-said')
        await chart.locator('.b-stage').focus()
        await tab.keyboard.press('End')
        const last = await said.textContent()
        expect(last).toMatch(/\S: ?\S/)
        await tab.keyboard.press('ArrowLeft')
        expect(await said.textContent()).not.toBe(last)
      }
      // An unusual hour has its rank over its bar, and opens its day.
      const marks = tab.locator('.b-marks button')
      expect(await marks.first().textContent()).toMatch(
        /^▾1 \w{3} \d+ \w{3} \d\d:00: \d+ credits, usually \d/,
      )
      const overBars = await tab.locator('#board-use .b-cut, #board-use .b-dear').allTextContents()
      expect(overBars).toContainEqual(expect.stringMatching(/(^| )▾1$/))
      // A figure is one line: its value is not broken between digits.
      await tab.setViewportSize({ width: 700, height: 900 })
      const broken = await tab.locator('.figures dd').evaluateAll((all) =>
        all.flatMap((dd) => {
          const range = dd.ownerDocument.createRange()
          range.selectNodeContents(dd.firstChild!)
          return range.getClientRects().length > 1 ? [dd.textContent] : []
        }),
      )
      expect(broken).toEqual([])
      // Words in charts are as large as those around them.
      const scales = () =>
        tab.evaluate(`[...document.querySelectorAll('#board svg')]
          .map((svg) => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width)
          .filter((scale) => scale < 0.85 || scale > 1.2)`)
      await expect.poll(scales).toEqual([])
      // 1,440 px at 200 %.
      await tab.setViewportSize({ width: 720, height: 450 })
      await wake(tab)
      await expect.poll(() => eyesores(tab), looking).toEqual([])
      await tab.emulateMedia({ forcedColors: 'active' })
      const swatches = await tab
        .locator('#board-use .b-legend i')
        .evaluateAll((all) =>
          all.map((each) => each.ownerDocument.defaultView!.getComputedStyle(each).backgroundColor),
        )
      expect(swatches.length).toBeGreaterThan(1)
      expect(new Set(swatches).size).toBe(swatches.length)
      await tab.emulateMedia({ forcedColors: 'none', media: 'print' })
      // On paper, an unusual hour is text.
      expect(await marks.first().isVisible()).toBe(true)
      // A4 less its margins is 269 mm high: the answer, the first chart and the figures are on sheet 1.
      await tab.setViewportSize({ width: 688, height: 1000 })
      const figures = (await tab.locator('.b-cards .figures').boundingBox())!
      expect(figures.y + figures.height).toBeLessThan((269 / 25.4) * 96)
      expect(noticed).toEqual([])
      await close()
    })

    describe('a chart', () => {
      let tab: Page
      let close: () => Promise<void>
      beforeAll(async () => {
        const opened = await openPage(browser, 'run', true)
        tab = opened.tab
        close = opened.close
        await tab.setViewportSize({ width: 1440, height: 900 })
        await unfold(tab)
      })
      afterAll(() => close())

      const live = async (id: string): Promise<Locator> => {
        const figure = tab.locator(`[id="${id}"]`)
        await figure.scrollIntoViewIfNeeded()
        await figure.and(tab.locator('.is-live')).waitFor({ state: 'attached' })
        return figure
      }
      const tip = () => tab.locator('.chart-tip')

      test('shows the values of a bar under the pointer, and its legend filters', {
        tags: 'whole',
      }, async () => {
        const figure = await live('02-usage-by-hour')
        const bars = figure.locator('.chart-live .role-mark path')
        await bars.first().hover()
        await tip().waitFor({ state: 'visible' })
        expect(await tip().locator('dt').allTextContents()).toEqual(['hour', 'model', 'requests'])

        const faint = () =>
          bars.evaluateAll(
            (all) => all.filter((bar) => Number(bar.getAttribute('opacity')) < 0.5).length,
          )
        expect(await faint()).toBe(0)
        await figure.locator('.chart-live .role-legend-symbol path').first().click({ force: true })
        await expect.poll(faint).toBeGreaterThan(0)
      })

      test('downloads its rows as CSV on a click, from a file and offline', {
        tags: 'whole',
      }, async () => {
        const saved = async (from: Page, title: string) => {
          const button = from.getByRole('button', { name: `CSV: ${title}` })
          const [file] = await Promise.all([from.waitForEvent('download'), button.click()])
          const lines = readFileSync(await file.path(), 'utf8').split('\r\n')
          return [file.suggestedFilename(), ...lines.slice(0, 2)]
        }
        // A chart that becomes live under the pointer may move its button between down and up.
        await live('30-throughput')
        expect(await saved(tab, 'Requests planned, sent and succeeded')).toEqual([
          '30-throughput.csv',
          'at_s,what,requests_per_s',
          '0,planned,76',
        ])
        const usage = await openPage(browser, 'month', true)
        expect(await saved(usage.tab, 'Failed requests (%) by day')).toEqual([
          'usage-failures-2026-02-12-2026-03-14.csv',
          'start,end,requests,failed,of them 429',
          expect.stringMatching(
            /^2026-02-12T00:00:00\+01:00,2026-02-13T00:00:00\+01:00,\d+,\d+,\d+$/,
          ),
        ])
        expect(usage.noticed.filter((each) => !each.includes('blob:'))).toEqual([])
        await usage.close()
      })

      test('is also a table, which the keyboard opens', async () => {
        const figure = await live('30-throughput')
        await figure.locator('.as-table summary').focus()
        await tab.keyboard.press('Enter')
        const table = figure.getByRole('region', {
          name: 'Requests planned, sent and succeeded, as a table',
        })
        // The rows are written when it opens.
        await table.locator('tbody tr').first().waitFor()
        expect(await table.locator('thead th').allTextContents()).toEqual([
          'at_s',
          'what',
          'requests_per_s',
        ])
        expect(await table.locator('tbody tr').first().locator('td').allTextContents()).toEqual([
          '0',
          'planned',
          '76',
        ])
      })

      test('shows the nearest point of a line, anywhere in the plot', async () => {
        const figure = await live('42-rate-remaining')
        const box = (await figure.locator('.chart-live svg').boundingBox())!
        const at = (share: number) =>
          tab.mouse.move(box.x + box.width * share, box.y + box.height / 2)
        await at(0.4)
        await tip().waitFor({ state: 'visible' })
        expect(await tip().locator('dt').allTextContents()).toEqual(
          expect.arrayContaining(['account', 'remaining', 'limit']),
        )
        const early = Number(await tip().locator('dd').first().textContent())
        await at(0.8)
        await expect
          .poll(async () => Number(await tip().locator('dd').first().textContent()))
          .toBeGreaterThan(early)
        await tab.mouse.move(box.x - 30, box.y - 30)
        await tip().waitFor({ state: 'hidden' })
      })

      test('zooms with Ctrl and the wheel, pans by dragging, and resets on a double click', async () => {
        const figure = await live('30-throughput')
        const ticks = async () => {
          const labels = figure.locator('.chart-live .role-axis-label').first().locator('text')
          return (await labels.allTextContents()).map(Number).sort((a, b) => a - b)
        }
        const whole = await ticks()
        const drawing = figure.locator('.chart-live svg')
        // Its table, if it is open, would else be what is in view.
        await drawing.scrollIntoViewIfNeeded()
        const box = (await drawing.boundingBox())!
        const [x, y] = [box.x + box.width / 2, box.y + box.height * 0.6]
        await tab.mouse.move(x, y)
        await tab.keyboard.down('Control')
        await tab.mouse.wheel(0, -400)
        await tab.keyboard.up('Control')
        await expect.poll(ticks).not.toEqual(whole)
        const near = await ticks()
        const span = (labels: readonly number[]) => labels.at(-1)! - labels[0]!
        expect(span(near)).toBeLessThan(span(whole))
        await tab.mouse.down()
        await tab.mouse.move(x - 150, y, { steps: 4 })
        await tab.mouse.up()
        await expect.poll(ticks).not.toEqual(near)
        await tab.mouse.dblclick(x, y)
        await expect.poll(ticks).toEqual(whole)
        // Without Ctrl or Shift the wheel scrolls the page.
        await tab.mouse.wheel(0, -50)
        expect(await ticks()).toEqual(whole)
      })
    })
  },
)

describe('a page as a file', () => {
  test('allows only its own style and script, by their hashes', () => {
    const text = readFileSync(fileOf('run'), 'utf8')
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(text)?.[1] ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toMatch(/script-src 'sha256-[^']+'(;|$)/)
    expect(policy).not.toContain('unsafe')
  })

  test('links to no network address that a browser would open', () => {
    const text = readFileSync(fileOf('run'), 'utf8').replace(/<script>[\s\S]*<\/script>/, '')
    expect(text).not.toMatch(/(src|href|action)="(?!#)/)
  })

  test.each(pageNames)('%s is smaller than the limit of a mail: 1.5 MB', (page) => {
    expect(readFileSync(fileOf(page)).length).toBeLessThan(1_500_000)
  })

  test('has the verdict of the run before anything else', () => {
    const [beforeFigures] = readFileSync(fileOf('launch'), 'utf8').split('<figure')
    expect(beforeFigures).toContain('class="card verdict warn"')
    expect(beforeFigures).toContain(
      '4.3 % of the requests failed, and no threshold limits failures; every threshold was met',
    )
  })

  test('shows a failed rule with the expected and the actual values, and its witnesses', () => {
    const text = readFileSync(fileOf('audit'), 'utf8')
    for (const said of [
      'Observed 829 credits, expected between 812 and 815 credits',
      'attempt 124 of run',
      'remaining 41 after 43, cost 1',
    ]) {
      expect(text).toContain(said)
    }
    // The run has no request of this attempt, so nothing can be sent again.
    expect(text).not.toContain('<dt>reproduce</dt>')
  })
})
