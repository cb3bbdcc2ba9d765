import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pageNames, writeReport } from '../../src/report/page.ts'
import type { Store } from '../../src/store/open.ts'
import { canBrowse, openBrowser } from '../chromium.ts'
import { seededOptions, seededStore } from './seeded.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-pages-'))
const fileOf = (page: string) => join(folder, `${page}.html`)
let store: Store

beforeAll(async () => {
  store = await seededStore({ attempts: 1500 })
  for (const page of pageNames)
    await writeReport({ ...seededOptions(store), page, out: fileOf(page) })
}, 60_000)
afterAll(() => store.close())

/** Looks at a page as a reader would, and says what a reader would notice. */
async function look(
  browser: Browser,
  page: string,
  options: { width: number; dark: boolean; script: boolean },
) {
  const context = await browser.newContext({
    viewport: { width: options.width, height: 900 },
    colorScheme: options.dark ? 'dark' : 'light',
    javaScriptEnabled: options.script,
    offline: true,
  })
  const tab = await context.newPage()
  const noticed: string[] = []
  tab.on('console', (message) => noticed.push(message.text()))
  tab.on('pageerror', (error) => noticed.push(error.message))
  tab.on('request', (request) => {
    if (!request.url().startsWith('file:')) noticed.push(`request to ${request.url()}`)
  })
  await tab.goto(`file://${fileOf(page)}`)
  const figures = await tab.locator('figure[data-chart]').count()
  if (options.script) {
    for (let at = 0; at < figures; at++) {
      const figure = tab.locator('figure[data-chart]').nth(at)
      await figure.scrollIntoViewIfNeeded()
      await figure.and(tab.locator('.is-live')).waitFor({ state: 'attached' })
    }
  }
  const widest = await tab.locator('html').evaluate((html) => html.scrollWidth)
  const seen = await tab.locator('.chart-drawings svg:visible').count()
  await context.close()
  return { noticed, widest, figures, seen }
}

describe.skipIf(!canBrowse)(
  'a page in a browser (needs chromium: apt-get install chromium)',
  () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await openBrowser()
    })
    afterAll(() => browser.close())

    // The page run holds all of launch.
    for (const page of pageNames.filter((name) => name !== 'launch')) {
      for (const width of [375, 1440]) {
        for (const script of [true, false]) {
          test(`${page} at ${width} px ${script ? 'with' : 'without'} JavaScript is whole, silent and within its width`, async () => {
            const { noticed, widest, figures, seen } = await look(browser, page, {
              width,
              script,
              dark: script,
            })
            expect(noticed).toEqual([])
            expect(widest).toBeLessThanOrEqual(width)
            expect(seen).toBeGreaterThanOrEqual(figures)
          }, 30_000)
        }
      }
    }
  },
)

describe.skipIf(!canBrowse)('a chart (needs chromium: apt-get install chromium)', () => {
  test('tells a bar under the pointer, and its legend filters', async () => {
    const browser = await openBrowser()
    try {
      const tab = await browser.newPage({ viewport: { width: 1440, height: 900 } })
      await tab.goto(`file://${fileOf('run')}`)
      const figure = tab.locator('[id="02-usage-by-hour"]')
      await figure.scrollIntoViewIfNeeded()
      await figure.and(tab.locator('.is-live')).waitFor({ state: 'attached' })
      const bars = figure.locator('.chart-live .role-mark path')
      await bars.first().hover()
      const tip = tab.locator('.chart-tip')
      await tip.waitFor({ state: 'visible' })
      expect(await tip.locator('dt').allTextContents()).toEqual(['hour', 'model', 'requests'])

      const faint = () =>
        bars.evaluateAll(
          (all) => all.filter((bar) => Number(bar.getAttribute('opacity')) < 0.5).length,
        )
      expect(await faint()).toBe(0)
      await figure.locator('.chart-live .role-legend-symbol path').first().click({ force: true })
      await expect.poll(faint).toBeGreaterThan(0)
    } finally {
      await browser.close()
    }
  }, 30_000)
})

describe('a page as a file', () => {
  test('allows its own style and script by their hashes and nothing else', () => {
    const text = readFileSync(fileOf('run'), 'utf8')
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(text)?.[1] ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toMatch(/script-src 'sha256-[^']+'(;|$)/)
    expect(policy).not.toContain('unsafe')
  })

  test('names no address of the network that a browser would open', () => {
    const text = readFileSync(fileOf('run'), 'utf8').replace(/<script>[\s\S]*<\/script>/, '')
    expect(text).not.toMatch(/(src|href|action)="(?!#)/)
  })

  test('gives the verdict of the run before anything else', () => {
    const text = readFileSync(fileOf('launch'), 'utf8')
    expect(text.indexOf('It holds: the run is valid and every threshold was met')).toBeGreaterThan(
      0,
    )
    expect(text.indexOf('class="card verdict good"')).toBeLessThan(text.indexOf('<figure'))
  })

  test('shows a failed rule with what was expected, what came, and its witnesses', () => {
    const text = readFileSync(fileOf('audit'), 'utf8')
    for (const said of [
      '1 rule failed',
      'between 812 and 815 credits',
      '829 credits',
      '#124',
      'remaining 41 after 43, cost 1',
    ]) {
      expect(text).toContain(said)
    }
  })
})
