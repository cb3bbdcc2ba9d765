import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canBrowse, openBrowser } from '../chromium.ts'
import { enterEvents, utc } from '../report/usage-events.ts'
import { nowMs, type Served, served, settingsOf, tokenOf } from './portal.ts'

describe.skipIf(!canBrowse)('files of the page (needs chromium)', () => {
  let browser: Browser
  let service: Served
  let usage: ReturnType<typeof serve>
  let url = ''
  beforeAll(async () => {
    const settings = settingsOf('accounts: { a: { label: Nordlicht, timezone: Europe/Berlin } }\n')
    service = await served([], settings, (store) =>
      enterEvents(
        store,
        Array.from({ length: 27 * 8 }, (_, at) => ({
          ...{ atUs: utc(2026, 11, 1) + at * 3 * 3600e6, account: 'a', id: `r${at}` },
          ...{ model: at % 3 === 0 ? 'large' : 'small', credits: at % 2 === 0 ? '0.1' : '0.7' },
          ...{ latencyUs: at % 4 === 0 ? null : 1000 * at, status: 200 },
        })),
      ),
    )
    usage = serve({ fetch: await service.portal.handler(), hostname: '127.0.0.1', port: 0 })
    await new Promise((done) => usage.once('listening', done))
    url = `http://127.0.0.1:${(usage.address() as AddressInfo).port}`
    browser = await openBrowser()
  }, 60_000)
  afterAll(async () => {
    await browser.close()
    usage.close()
    await service.close()
  })

  async function open(query: string, claims = {}) {
    const page = await browser.newPage({ reducedMotion: 'reduce' })
    await page.clock.setFixedTime(nowMs)
    await page.goto(`${url}/page?${query}#t=${await tokenOf('a', claims)}`)
    await page.waitForSelector('.b-first figure')
    return page
  }
  const press = (page: Page, format = 'csv') => page.locator(`[data-export=${format}]`).click()
  async function saved(page: Page, format?: string) {
    const file = page.waitForEvent('download')
    await press(page, format)
    const done = await file
    return {
      name: done.suggestedFilename(),
      lines: readFileSync((await done.path())!, 'utf8')
        .trimEnd()
        .split('\n'),
    }
  }

  test('the view of an hour is saved as that hour, and the page says the name', {
    tags: 'whole',
    timeout: 60_000,
  }, async () => {
    const page = await open('from=2026-11-26&to=2026-11-27')
    await page.evaluate("location.hash = 'from=2026-11-26T04&to=2026-11-26T05'")
    const { name, lines } = await saved(page)
    expect(name).toBe('usage-Nordlicht-2026-11-26T0400+0100-2026-11-26T0500+0100-hour.csv')
    expect(lines.slice(1).map((line) => line.slice(0, 25))).toEqual(['2026-11-26T04:00:00+01:00'])
    expect(await page.locator('.exports [role=status]').textContent()).toBe(`Saved: ${name}`)
    await page.close()
  })

  test('two years are saved by day, and a month by hour', {
    tags: 'whole',
    timeout: 60_000,
  }, async () => {
    const page = await open('from=2024-11-01&to=2026-12-01')
    const days = await saved(page)
    expect([days.name, days.lines.length]).toEqual([
      'usage-Nordlicht-2024-11-01-2026-11-30.csv',
      1 + 27 * 2,
    ])
    await page.locator('.exports select').selectOption('hour')
    await press(page)
    const said = page.locator('.exports [role=status]')
    await expect
      .poll(() => said.textContent())
      .toBe('This period is too long for one file. Choose a shorter one.')
    await page.close()
    const month = await open('from=2026-11-01&to=2026-12-01')
    await month.locator('.exports select').selectOption('hour')
    const hours = await saved(month)
    expect([hours.name, hours.lines.length]).toEqual([
      'usage-Nordlicht-2026-11-01-2026-11-30-hour.csv',
      1 + 27 * 8,
    ])
    await month.close()
  })

  test('a file that cannot be made says what to do, whatever failed', {
    tags: 'whole',
    timeout: 60_000,
  }, async () => {
    const page = await open('from=2026-11-01&to=2026-12-01')
    const said = page.locator('.exports [role=status]')
    for (const [status, code, text] of [
      [429, 'too-many-requests', 'The service is busy. Try again in a moment.'],
      [503, 'too-slow', 'This period is too long for one file. Choose a shorter one.'],
      [401, 'token-expired', 'This page needs to be opened again.'],
      [
        404,
        'no-such-model',
        'This view is filtered by a name that no file can be filtered by. Take the filter away.',
      ],
      [500, 'internal', 'The file could not be made. Try again, or choose a shorter period.'],
      [0, '', 'The service is busy. Try again in a moment.'],
    ] as const) {
      await page.unrouteAll()
      await page.route('**/v1/export?*', (route) =>
        status === 0 ? route.abort() : route.fulfill({ status, json: { code } }),
      )
      await press(page)
      await expect.poll(() => said.textContent()).toBe(text)
    }
    await page.close()
  })

  test('requests of a month are listed when asked, sorted, and go on; each has its id and status', {
    tags: 'whole',
    timeout: 60_000,
  }, async () => {
    const page = await open('from=2026-11-01&to=2026-12-01')
    const list = page.locator('.b-requests')
    expect(await list.locator('table').count()).toBe(0)
    await list.getByRole('button', { name: 'List the requests' }).click()
    const rows = list.locator('tbody tr')
    await expect.poll(() => rows.count()).toBe(100)
    const first = async () => (await rows.first().locator('th, td').allTextContents()).slice(0, 7)
    expect(await first()).toEqual([
      ...['Nov 27, 10:00:00 PM', 'r215', 'small', 'key 1', 'chat', 'successful', '215'],
    ])
    // A busy service takes nothing away, and the button asks again.
    const more = list.getByRole('button', { name: 'More requests' })
    const part = /v1\/usage\/requests/
    await page.route(part, (route) => route.fulfill({ status: 503 }))
    await more.click()
    await expect
      .poll(() => list.locator('.note').allTextContents())
      .toContain('The service is busy. Try again in a moment.')
    expect(await rows.count()).toBe(100)
    await page.unroute(part)
    await more.click()
    await expect.poll(() => rows.count()).toBe(200)
    expect(await list.locator('.note').count()).toBe(0)
    await list.locator('select').selectOption('amount')
    await expect.poll(first).toContain('r215')
    await expect.poll(() => rows.count()).toBe(100)
    const amounts = await rows.locator('td:last-child').allTextContents()
    expect(new Set(amounts)).toEqual(new Set(['0.7']))
    await page.close()
  })

  test('all requests are one file of text, whatever parts the server gives', {
    tags: 'whole',
    timeout: 60_000,
  }, async () => {
    const page = await open('from=2026-11-01&to=2026-12-01')
    await page.locator('.exports select').selectOption('requests')
    await page.route('**/v1/export/requests?*', (route) => {
      const url = new URL(route.request().url())
      url.searchParams.set('limit', '100')
      return route.continue({ url: url.href })
    })
    const { name, lines } = await saved(page)
    expect([name, lines.length]).toEqual([
      'requests-Nordlicht-2026-11-01-2026-11-30.csv',
      1 + 27 * 8,
    ])
    expect(new Set(lines).size).toBe(lines.length)
    await page.close()
  })
})
