import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compareRuns } from '../../src/report/compare/compare.ts'
import { renderComparison } from '../../src/report/compare-page.ts'
import { writeReport } from '../../src/report/page.ts'
import { canBrowse, openBrowser } from '../chromium.ts'
import { seededOptions, seededStore } from './seeded.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-labels-'))
const fileOf = (page: string) => join(folder, `${page}.html`)

/** Pairs of texts of one drawing that cover each other by more than a pixel and a half, with the drawing's title. */
const collisions = `(() => {
  const found = []
  for (const svg of document.querySelectorAll('svg')) {
    const title = svg.querySelector('title')?.textContent ?? svg.getAttribute('aria-label') ?? ''
    const texts = [...svg.querySelectorAll('text')]
      .map((text) => ({ words: text.textContent, box: text.getBoundingClientRect() }))
      .filter(({ words, box }) => words.trim() !== '' && box.width > 0 && box.height > 0)
    for (const [at, a] of texts.entries()) {
      for (const b of texts.slice(at + 1)) {
        const wide = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left)
        // A line of text is taller than its letters.
        const high = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top)
        if (wide > 1.5 && high > 4) found.push(title + ': ' + a.words + ' | ' + b.words)
      }
    }
  }
  return [...new Set(found)]
})()`
const openAll = `for (const folded of document.querySelectorAll('details')) folded.open = true`

describe.skipIf(!canBrowse)(
  'labels of charts (needs chromium: apt-get install chromium)',
  { tags: 'whole' },
  () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await openBrowser()
      const store = await seededStore({ attempts: 1500 })
      const options = seededOptions(store)
      for (const page of ['launch', 'usage', 'run'] as const)
        await writeReport({ ...options, page, out: fileOf(page) })
      await writeReport({
        ...options,
        page: 'launch',
        runIds: ['run-sweep'],
        out: fileOf('search'),
      })
      const [a, b] = ['run-sweep', 'run-1'].map((runId) => ({ store, runId }))
      const comparison = await compareRuns(a!, b!, options.contract)
      writeFileSync(fileOf('compare'), (await renderComparison(store, comparison, [])).html)
      store.close()
    }, 120_000)
    afterAll(async () => {
      await browser.close()
      rmSync(folder, { recursive: true })
    })

    const pages = ['launch', 'search', 'run', 'usage', 'compare']
    test.each(pages.flatMap((page) => [1440, 390].map((width) => [page, width] as const)))(
      'of the %s page never cover each other, at %s pixels, with and without scripts',
      async (page, width) => {
        for (const javaScriptEnabled of [true, false]) {
          const context = await browser.newContext({
            ...{ javaScriptEnabled, offline: true, viewport: { width, height: 900 } },
          })
          const tab = await context.newPage()
          await tab.goto(pathToFileURL(fileOf(page)).href)
          await tab.evaluate(openAll)
          await tab.waitForTimeout(300)
          expect(await tab.locator('svg text').count()).toBeGreaterThan(10)
          expect(await tab.evaluate(collisions)).toEqual([])
          await context.close()
        }
      },
      60_000,
    )
  },
)
