import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Cell } from '../../../src/audit/reconcile/lines.ts'
import { type Rational, readNumber } from '../../../src/money/rational.ts'
import { reconciliationPage } from '../../../src/report/reconcile/page.ts'
import { violations } from '../../axe.ts'
import { canBrowse, openBrowser } from '../../chromium.ts'

const money = (text: string): Rational => readNumber(text)!

const cell = (change: Partial<Cell>): Cell => ({
  ...{ day: '2026-11-09', model: 'gpt-large', account: 'shop', bill: money('0.0192') },
  ...{ logged: money('0.0192'), expected: money('0.01632'), difference: money('0.00288') },
  ...{ unknown: 0, causes: { price: money('0.00288') }, notes: [] },
  ...change,
})

/** A name as a service may choose it is text on the page. */
const hostile =
  '<img src=x onerror=alert(1)> & "long name of a model that does not end for some time"'

const cells = [
  cell({
    day: '2026-11-01',
    model: '',
    account: null,
    bill: money('0.0048'),
    logged: null,
    expected: money('0'),
    difference: money('0.0048'),
    causes: { tax: money('0.0048') },
  }),
  cell({
    notes: ['cache_read at the price of input', 'req-1: output 9 in the bill, 7 in the log'],
  }),
  cell({
    day: '2026-11-10',
    model: hostile,
    account: 'bakery',
    unknown: 2,
    causes: { price: money('0.001'), rounding: money('0.00188') },
  }),
]

const page = reconciliationPage({
  cells,
  joinedBy: 'id',
  unit: 'USD',
  withoutAmount: 0,
  billNotes: [],
})

test('the page of a bill in dispute states the difference, its causes and what is unknown', () => {
  expect(page).toContain('The bill is 0.01056 USD more than the contract gives for the log')
  expect(page).toContain('Of 2 lines of the log the cost is unknown')
  // Amounts of a column have as many decimals: 0.00288 + 0.001 of price, 0.0048 of tax.
  for (const amount of ['0.00388', '0.00480', '0.00188', '0.01056'])
    expect(page).toContain(`>${amount}<`)
  expect(page).not.toContain('<img')
})

test('a bill that is right says so, and a bill with unknown costs is no pass', () => {
  const right = { bill: money('1'), expected: money('1'), difference: money('0'), causes: {} }
  const of = (unknown: number) =>
    reconciliationPage({
      cells: [cell({ ...right, unknown })],
      joinedBy: 'id',
      unit: 'USD',
      withoutAmount: 0,
      billNotes: ['The bill: <b>.'],
    })
  expect(of(0)).toContain('class="card verdict good"')
  expect(of(0)).toContain('The bill is what the contract gives for the log')
  expect(of(1)).toContain('class="card verdict warn"')
  // A bill names its services: never markup.
  expect(of(0)).toContain('The bill: &#60;b&#62;.')
})

describe.skipIf(!canBrowse)('in a browser (needs chromium: apt-get install chromium)', () => {
  let browser: Browser
  const folder = mkdtempSync(join(tmpdir(), 'assay-reconcile-page-'))
  beforeAll(async () => {
    writeFileSync(join(folder, 'page.html'), page)
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser.close()
    rmSync(folder, { recursive: true })
  })

  test.each(
    ([1440, 390] as const).flatMap((width) =>
      (['light', 'dark'] as const).map((colorScheme) => [width, colorScheme] as const),
    ),
  )('it fits %d px in %s, and axe finds nothing', { tags: 'whole' }, async (width, colorScheme) => {
    const tab = await browser.newPage({ viewport: { width, height: 900 }, colorScheme })
    await tab.goto(`file://${join(folder, 'page.html')}`)
    await tab.locator('details').evaluateAll((all) => {
      for (const each of all) each.setAttribute('open', '')
    })
    expect(await violations(tab)).toEqual([])
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(width)
    if (process.env.ASSAY_SHOTS !== undefined) {
      await tab.screenshot({
        path: `${process.env.ASSAY_SHOTS}/${width}-${colorScheme}.png`,
        fullPage: true,
      })
    }
    await tab.close()
  })
})
