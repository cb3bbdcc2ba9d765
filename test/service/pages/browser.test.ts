import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { MovableClock } from '../../../src/service/clock.ts'
import { seededRandom } from '../../../src/service/random.ts'
import { ofColours, violations } from '../../axe.ts'
import { canBrowse, openBrowser } from '../../chromium.ts'
import type { Target } from '../serving.ts'
import { dayUs, openHouse } from './customer.ts'

const phone = { width: 375, height: 800 }
const desk = { width: 1440, height: 900 }

describe.skipIf(!canBrowse)(
  'pages in a browser (needs chromium: apt-get install chromium)',
  {
    timeout: 60_000,
  },
  () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await openBrowser()
    })
    afterAll(() => browser?.close())

    /**
     * A page that fails the test if anything is blocked, missing or requested from another origin.
     */
    async function opened(
      target: Target,
      options: Parameters<Browser['newContext']>[0] = {},
    ): Promise<{ page: Page; context: BrowserContext; faults: string[] }> {
      const context = await browser.newContext({ viewport: desk, ...options })
      const page = await context.newPage()
      page.setDefaultTimeout(20_000)
      const faults: string[] = []
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text())
      })
      page.on('pageerror', (error) => faults.push(error.message))
      page.on('request', (request) => {
        if (!request.url().startsWith(target.service.baseUrl)) faults.push(request.url())
      })
      await page.goto(`${target.service.baseUrl}/`)
      return { page, context, faults }
    }

    async function register(page: Page, email = 'ada@example.com'): Promise<void> {
      await page.getByRole('link', { name: 'Register' }).click()
      await page.getByLabel('E-mail').fill(email)
      await page.getByLabel('Password').fill('long enough')
      await page.getByRole('button', { name: 'Register' }).click()
    }

    async function makeKey(page: Page, name: string): Promise<string> {
      await page.getByLabel('Name of a new key').fill(name)
      await page.getByRole('button', { name: 'Make a key' }).click()
      return (await page.locator('.secret code').textContent()) ?? ''
    }

    test('a frame of the same site shows the usage; one of another site says why not, and opens it', {
      tags: 'whole',
    }, async () => {
      const { host, target } = await framing()
      const { page, context } = await opened(target)
      await register(page)
      // A site is a host without its port.
      await page.goto(host('127.0.0.1'))
      const remaining = page.frameLocator('#usage').locator('#remaining')
      await remaining.waitFor()
      expect(await remaining.textContent()).toBe('100')
      expect(page.frames()[2]!.url()).toMatch(/^chrome-error:/)
      await page.goto(host('localhost'))
      const frame = page.frameLocator('#usage')
      await frame.getByRole('heading', { name: 'Your use is not shown here' }).waitFor()
      const [own] = await Promise.all([
        context.waitForEvent('page'),
        frame.getByRole('link', { name: 'Open my credits' }).click(),
      ])
      await own.locator('#remaining').waitFor()
      expect(await own.locator('#remaining').textContent()).toBe('100')
      await context.close()
    })

    /** A house, and a page that frames its usage page and its dashboard, by the host's two names, which are two sites. */
    async function framing() {
      const server = createServer((_, response) => {
        response.setHeader('content-type', 'text/html')
        const { baseUrl } = target.service
        response.end(
          `<iframe id="usage" src="${baseUrl}/my-credits"></iframe><iframe src="${baseUrl}/dashboard"></iframe>`,
        )
      }).listen(0, '127.0.0.1')
      onTestFinished(() => void server.close())
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const host = (name: string) => `http://${name}:${port}`
      const { target } = await openHouse({ frameOrigins: [host('localhost'), host('127.0.0.1')] })
      return { host, target }
    }

    test('a visitor opens an account, makes a key, buys, and revokes the key, without scripts', {
      tags: 'whole',
    }, async () => {
      const { target } = await openHouse()
      const { page, context, faults } = await opened(target, { javaScriptEnabled: false })
      await register(page)
      const key = await makeKey(page, 'laptop')
      expect((await target.chat({}, key)).status).toBe(200)
      await page.getByRole('button', { name: 'Buy Starter' }).click()
      expect(await page.locator('#balance').textContent()).toBe('599')
      await page.getByRole('link', { name: 'My credits' }).click()
      expect(await page.locator('#remaining').textContent()).toBe('599')
      expect(await page.locator('#hours svg').count()).toBe(2)
      await page.getByRole('link', { name: 'Dashboard' }).click()
      await page.getByText('Revoke', { exact: true }).click()
      await page.getByRole('button', { name: 'for good' }).click()
      expect((await target.chat({}, key)).status).toBe(401)
      expect(faults).toEqual([])
      await context.close()
    })

    test('a refused form marks and focuses its wrong field, and breaks no rule of axe', {
      tags: 'whole',
    }, async () => {
      const { target } = await openHouse()
      for (const colorScheme of ['light', 'dark'] as const) {
        const { page, context } = await opened(target, { javaScriptEnabled: true, colorScheme })
        expect(await violations(page)).toEqual([])
        await page.getByRole('link', { name: 'Register' }).click()
        await page.getByLabel('E-mail').fill('ada@example.com')
        await page.getByLabel('Password').fill('long enough')
        await page.getByLabel('Invite code').fill('nobody')
        await page.getByRole('button', { name: 'Register' }).click()
        const wrong = page.locator('[aria-invalid="true"]')
        await wrong.waitFor()
        expect(await wrong.getAttribute('name')).toBe('invite')
        expect(await page.locator('input:focus').getAttribute('name')).toBe('invite')
        expect(await page.locator('#complaint').textContent()).toContain('no invite code "nobody"')
        expect(await violations(page)).toEqual([])
        await context.close()
      }
    })

    test('a form shows all its errors at once, and focuses the first wrong field', {
      tags: 'whole',
    }, async () => {
      const { target } = await openHouse()
      const { page, context } = await opened(target)
      await page.getByRole('link', { name: 'Register' }).click()
      await page.locator('form').evaluate((form) => form.setAttribute('novalidate', ''))
      await page.getByLabel('E-mail').fill('ada')
      await page.getByLabel('Password').fill('short')
      await page.getByLabel('Invite code').fill('nobody')
      await page.getByRole('button', { name: 'Register' }).click()
      await page.getByRole('alert').waitFor()
      expect(await page.getByRole('alert').locator('li').allTextContents()).toEqual([
        'Expected an e-mail address, such as ada@example.com.',
        'Expected a password of 8 to 200 characters; got 5.',
        'There is no invite code "nobody". Correct it, or leave it out.',
      ])
      const marked = page.locator('[aria-invalid="true"]')
      const names = await marked.evaluateAll((all) => all.map((each) => each.getAttribute('name')))
      expect(names).toEqual(['email', 'password', 'invite'])
      expect(await page.locator('input:focus').getAttribute('name')).toBe('email')
      expect(await page.getByLabel('Invite code').inputValue()).toBe('nobody')
      expect(await violations(page)).toEqual([])
      await context.close()
    })

    test('new usage appears on the open page, and unfolded or focused elements stay so', {
      tags: 'whole',
    }, async () => {
      const { target, clock } = await openHouse()
      const { page, context, faults } = await opened(target)
      await register(page)
      const key = await makeKey(page, 'laptop')
      await page.goto(`${target.service.baseUrl}/my-credits`)
      expect(await page.locator('#remaining').textContent()).toBe('100')
      await page.getByText('As a table').first().click()
      await page.getByText('As a table').nth(1).focus()
      await target.chat({ model: 'svc-k2.5' }, key)
      const remaining = async () => {
        clock.advance(1e6)
        return page.locator('#remaining').textContent()
      }
      await expect.poll(remaining, { timeout: 20_000 }).toBe('98')
      expect(await page.locator('#consumed').textContent()).toBe('2')
      expect(await page.getByRole('status').textContent()).toBe('Credits left: 98')
      expect(await page.locator('#hours details').getAttribute('open')).toBe('')
      expect(await page.locator('#days summary:focus').count()).toBe(1)
      expect(faults).toEqual([])
      await context.close()
    })

    test("a visitor without a chosen time zone gets the browser's", { tags: 'whole' }, async () => {
      const { target } = await openHouse()
      const { page, context, faults } = await opened(target, { timezoneId: 'Asia/Tokyo' })
      await register(page)
      await target.chat({}, await makeKey(page, 'laptop'))
      await page.getByRole('link', { name: 'My credits' }).click()
      // Noon in UTC.
      await page.locator('#entries', { hasText: '31 Jan 2026, 21:00:00' }).waitFor()
      expect(await page.getByLabel('Time zone').inputValue()).toBe('Asia/Tokyo')
      expect(faults).toEqual([])
      await context.close()
    })

    test('nothing overflows horizontally on a phone or a desktop, in light or dark', {
      tags: 'whole',
    }, async () => {
      const { target, clock } = await openHouse()
      const { page, context, faults } = await opened(target)
      await register(page)
      await usedForDays(target, clock, await makeKey(page, 'laptop <b>at work</b>'))
      await makeKey(page, 'a-name-without-any-space-that-is-as-long-as-a-name-may-be-60')
      for (const path of ['/dashboard', '/my-credits?timezone=Europe%2FBerlin']) {
        await page.goto(target.service.baseUrl + path)
        for (const [viewport, size] of [
          [phone, '375'],
          [desk, '1440'],
        ] as const) {
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.setViewportSize(viewport)
            await page.emulateMedia({ colorScheme })
            const width = await page.locator('html').evaluate((html) => html.scrollWidth)
            expect([path, size, width]).toEqual([path, size, viewport.width])
            const rules = colorScheme === 'dark' ? ofColours : undefined
            const found = await violations(page, rules)
            expect([path, size, colorScheme, found]).toEqual([path, size, colorScheme, []])
          }
        }
        const fits = () =>
          page.locator('html').evaluate((html) => html.scrollWidth <= html.clientWidth)
        // 1,440 px at 200 %.
        await page.setViewportSize({ width: 720, height: 450 })
        await page.emulateMedia({ colorScheme: 'light', forcedColors: 'active' })
        expect([path, await fits(), await violations(page)]).toEqual([path, true, []])
        // A4 less its margins.
        await page.setViewportSize({ width: 688, height: 1016 })
        await page.emulateMedia({ forcedColors: 'none', media: 'print' })
        expect([path, await fits()]).toEqual([path, true])
        await page.emulateMedia({ media: 'screen' })
      }
      // Tab alone reaches the table of each chart, and Enter opens it.
      const tables = page.locator('details').filter({ hasText: 'As a table' })
      const [closed, open] = [
        tables.and(page.locator(':not([open])')),
        page.locator('details[open] tbody tr'),
      ]
      const charts = await closed.count()
      expect(charts).toBe(2)
      await page.locator('body').press('Tab')
      for (let presses = 0; presses < 60 && (await closed.count()) > 0; presses++) {
        const isTable = await page.evaluate(
          `document.activeElement.matches('details:not([open]) > summary') && document.activeElement.textContent.includes('As a table')`,
        )
        if (isTable) await page.keyboard.press('Enter')
        await page.keyboard.press('Tab')
      }
      expect(await closed.count()).toBe(0)
      expect(await open.count()).toBeGreaterThan(charts)
      expect(faults).toEqual([])
      await context.close()
    })
  },
)

/** Requests of twelve days, more by day than at night. */
async function usedForDays(target: Target, clock: MovableClock, key: string): Promise<void> {
  const random = seededRandom(7)
  // The first account of the service.
  target.service.customers.buy(1, 'Starter')
  target.service.customers.buy(1, 'Standard')
  for (let hour = 0; hour < 24 * 12; hour += 6) {
    clock.advance(dayUs / 4)
    const busy = (hour / 6) % 4
    for (let sent = 0; sent < 1 + Math.floor(random() * 5 * busy); sent++) {
      const model = ['svc-k2', 'svc-k2', 'svc-k2-thinking', 'svc-k2.5'][Math.floor(random() * 4)]
      await target.chat({ model }, key)
    }
  }
}
