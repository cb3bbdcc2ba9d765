import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { violations } from '../axe.ts'
import { canBrowse, openBrowser } from '../chromium.ts'
import { enterEvents, utc } from '../report/usage-events.ts'
import { openStore } from '../store/opened.ts'
import { nowMs, type Served, served, settingsOf, tokenOf } from './portal.ts'

const key = '0123456789ab'
/** Four weeks of two models. */
const events = Array.from({ length: 27 * 8 }, (_, at) => ({
  ...{
    atUs: utc(2026, 11, 1) + at * 3 * 3600e6,
    account: 'a',
    keyFp: key,
    model: at % 3 === 0 ? 'large' : 'small',
    endpoint: at % 5 === 0 ? 'embeddings' : 'chat',
    tags: `{"team":"${at % 2 === 0 ? 'search' : 'chat'}"}`,
  },
  // One hour is dear.
  credits: at === 100 ? 60 : 1 + (at % 3),
}))

describe.skipIf(!canBrowse)(
  'the embed on a page of another origin (needs chromium: apt-get install chromium)',
  () => {
    let browser: Browser
    let service: Served
    let usage: ReturnType<typeof serve>
    let host: Server
    let [usageUrl, hostUrl] = ['', '']
    beforeAll(async () => {
      host = createServer((request, response) => {
        const { searchParams } = new URL(request.url!, 'http://host')
        const [token, mode] = [
          searchParams.get('token') ?? '',
          searchParams.get('mode') ?? 'element',
        ]
        response.setHeader('content-type', 'text/html')
        response.end(
          `<!doctype html><title>The host</title><h1>Billing</h1>${
            mode === 'element'
              ? `<script type="module" src="${usageUrl}/embed.js"></script><assay-usage token="${token}" from="2026-11-01" to="2026-11-29" by="model"></assay-usage>`
              : `<iframe title="Usage" src="${usageUrl}/page?from=2026-11-01&to=2026-11-29#t=${token}" width="100%" height="900"></iframe>`
          }<script>window.told = []; addEventListener('message', ({ origin, data }) => told.push({ origin, ...data }))</script>`,
        )
      })
      host.listen(0, '127.0.0.1')
      await new Promise((done) => host.once('listening', done))
      // localhost and 127.0.0.1 are two origins.
      hostUrl = `http://localhost:${(host.address() as AddressInfo).port}`
      const settings = settingsOf(
        'accounts: { a: { label: Nordlicht, budget: "600", grants: [{ name: Pack, credits: 900, from: 2026-11-28 }] } }\n',
      )
      service = await served([], { ...settings, origins: [hostUrl] }, (store) =>
        enterEvents(store, events),
      )
      usage = serve({ fetch: await service.portal.handler(), hostname: '127.0.0.1', port: 0 })
      await new Promise((done) => usage.once('listening', done))
      usageUrl = `http://127.0.0.1:${(usage.address() as AddressInfo).port}`
      browser = await openBrowser()
    }, 60_000)
    afterAll(async () => {
      await browser.close()
      usage.close()
      host.close()
      await service.close()
    })

    /** The clock of the service stands in November 2026: so does that of the browser. */
    async function open(url: string, options: Parameters<Browser['newPage']>[0] = {}) {
      const page = await browser.newPage({ reducedMotion: 'reduce', ...options })
      await page.clock.setFixedTime(nowMs)
      const outside: string[] = []
      page.on('request', (request) => {
        if (!request.url().startsWith(usageUrl) && !request.url().startsWith(hostUrl))
          outside.push(request.url())
      })
      await page.goto(url)
      return { page, outside }
    }
    const frameOf = async (page: Page) => {
      const element = await page.waitForSelector('iframe')
      const frame = (await element.contentFrame())!
      await frame.waitForSelector('.b-first figure')
      return frame
    }

    test.each([
      ['light', 1440],
      ['dark', 1440],
      ['light', 375],
      ['dark', 375],
    ] as const)(
      'is read in %s at %i pixels, with no fault that axe finds',
      { tags: 'whole', timeout: 60_000 },
      async (colorScheme, width) => {
        const { page, outside } = await open(`${hostUrl}/?token=${await tokenOf('a')}`, {
          colorScheme,
          viewport: { width, height: 900 },
        })
        const frame = await frameOf(page)
        expect(await frame.locator('h1').textContent()).toBe('Your usage')
        expect(await frame.locator('figure').count()).toBe(5)
        const answers = await frame.locator('.answers .answer').allTextContents()
        expect(answers[0]).toMatch(/^[\d,.]+ credits left$/)
        expect(await frame.locator('.answers').textContent()).toMatch(
          /To pay for November ?nothing/,
        )
        // Each part that is tested here is there: why a day was dear, its mark, the reset of the budget, the run-out date.
        expect(await frame.locator('.state').textContent()).toMatch(
          /A single request of [\d.]+ credits at /,
        )
        for (const part of ['.b-why', '.b-reset', '.b-out', '.b-stroke', '#top-tag-2'])
          expect([part, await frame.locator(part).count()]).not.toEqual([part, 0])
        // The token is not in the address.
        expect(await frame.evaluate('location.hash')).toBe('#by=model')
        // The frame has the height of its content, and the content fits its width.
        await expect
          .poll(() => page.evaluate("document.querySelector('iframe').clientHeight"))
          .toBeGreaterThan(700)
        expect(await frame.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(
          true,
        )
        await expect
          .poll(() => frame.evaluate('document.documentElement.scrollHeight - innerHeight'))
          .toBeLessThanOrEqual(2)
        // Tables of names are not cut. What was used, is to pay and why a day was dear stand above a fold of a phone, and the end of credits on its screen.
        expect(
          await frame.evaluate(
            "[...document.querySelectorAll('.b-tables .table-scroll, #lots .table-scroll')].every((each) => each.scrollWidth <= each.clientWidth)",
          ),
        ).toBe(true)
        const ends = (await frame.evaluate(
          "['.used', '.pay', '.state', '.ends'].map((each) => document.querySelector(each).getBoundingClientRect().bottom + scrollY)",
        )) as number[]
        expect(Math.max(...ends.slice(0, 3))).toBeLessThan(660)
        expect(ends[3]).toBeLessThan(844)
        expect(await violations(frame as unknown as Page)).toEqual([])
        expect(outside).toEqual([])
        await page.close()
      },
    )

    test('holds at 200 %, in forced colours and on paper, and the keyboard reaches every chart', {
      tags: 'whole',
      timeout: 60_000,
    }, async () => {
      const { page } = await open(
        `${usageUrl}/page?from=2026-11-01&to=2026-11-29#t=${await tokenOf('a')}`,
        { viewport: { width: 1440, height: 900 } },
      )
      await page.waitForSelector('.b-first figure')
      const charts = await page.locator('#board figure').all()
      expect(charts.length).toBe(5)
      for (const chart of charts) {
        const said = chart.locator('.b-said')
        await chart.locator('.b-stage').focus()
        await page.keyboard.press('End')
        const last = await said.textContent()
        expect(last).toMatch(/\S: ?\S/)
        await page.keyboard.press('ArrowLeft')
        expect(await said.textContent()).not.toBe(last)
      }
      const fits = () => page.evaluate('document.documentElement.scrollWidth <= innerWidth')
      await page.setViewportSize({ width: 720, height: 450 })
      expect(await fits()).toBe(true)
      expect(await violations(page)).toEqual([])
      await page.emulateMedia({ forcedColors: 'active' })
      expect(await violations(page)).toEqual([])
      await page.emulateMedia({ forcedColors: 'none', media: 'print' })
      await page.setViewportSize({ width: 688, height: 1016 })
      expect(await fits()).toBe(true)
      const figures = (await page.locator('.b-cards .figures').boundingBox())!
      expect(figures.y + figures.height).toBeLessThan(1016)
      await page.close()
    })

    test('the chart is split by a tag and by the key again, and keeps its filter', {
      tags: 'whole',
      timeout: 60_000,
    }, async () => {
      const { page } = await open(
        `${usageUrl}/page?from=2026-11-01&to=2026-11-29#t=${await tokenOf('a')}`,
      )
      const legend = page.locator('#board-use .b-legend')
      await page.locator('[data-name=model]').selectOption('large')
      await page.locator('[data-name=by]').selectOption({ label: 'Team' })
      await expect.poll(() => legend.textContent()).toContain('search')
      expect(await page.evaluate('location.search')).toContain('by=tag%3Ateam')
      expect(await page.locator('[data-name=model]').inputValue()).toBe('large')
      expect(await page.locator('[data-name=key]').count()).toBe(0)
      expect(await violations(page)).toEqual([])
      await page.locator('[data-name=by]').selectOption({ label: 'Key' })
      await expect.poll(() => page.evaluate('location.search')).not.toContain('by=')
      await expect.poll(() => page.evaluate('location.hash')).toContain('by=key')
      expect(await page.locator('[data-name=model]').inputValue()).toBe('large')
      await page.close()
    })

    test('filters change every figure and the address, and a bar opens its hours, and an hour its requests', {
      tags: 'whole',
      timeout: 60_000,
    }, async () => {
      const { page } = await open(`${hostUrl}/?token=${await tokenOf('a')}`)
      const frame = await frameOf(page)
      const search = () => frame.evaluate('location.search')
      await frame.locator('[data-name=from]').fill('2026-11-10')
      await expect.poll(search).toBe('?from=2026-11-10&to=2026-11-29')
      await frame.locator('[data-name=to]').fill('2026-11-26')
      const used = () => frame.locator('.answers .used').textContent()
      await expect.poll(used).toContain('136 requests')
      expect(await used()).toMatch(/^Used Nov 10 – 26/)
      expect(await search()).toBe('?from=2026-11-10&to=2026-11-27')
      const told = { origin: usageUrl, source: 'assay-usage', type: 'filters' }
      await expect
        .poll(() => page.evaluate('told'))
        .toContainEqual({ ...told, query: '?from=2026-11-10&to=2026-11-27' })
      await frame.locator('[data-name=model]').selectOption('large')
      await expect.poll(used).toContain('46 requests')
      expect(await frame.locator('#top-model tbody tr').count()).toBe(1)
      // No cell goes, and a figure of a filter says what it is a part of.
      const heads = frame.locator('.answers dt')
      expect(await heads.count()).toBe(5)
      expect(await frame.locator('.answers .used').textContent()).toMatch(
        /46 credits.*of 329 credits in all.*46 requests/,
      )
      await frame.locator('[data-name=model]').selectOption({ index: 0 })
      await expect.poll(used).toContain('136 requests')
      // By the keyboard alone: a day, an hour, and the request that the server knows of it.
      const stage = frame.locator('#board-use .b-stage')
      await stage.focus()
      await stage.press('Home')
      expect(await frame.locator('#board-use .b-said').textContent()).toBe(
        'Tue, Nov 10, 2026: small 12, large 3',
      )
      await stage.press('Enter')
      await expect.poll(used).toMatch(/^Used Nov 10(?! –)/)
      await expect.poll(used).toContain('8 requests')
      expect(await frame.locator('#board-use h3').textContent()).toBe('Credits used by hour')
      await stage.press('End')
      for (let at = 0; at < 2; at++) await stage.press('ArrowLeft')
      await stage.press('Enter')
      const requests = frame.locator('.b-requests')
      await expect.poll(() => requests.textContent()).toMatch(/9:00:00\sPM/)
      expect(await requests.locator('tbody tr').count()).toBe(1)
      // The figures of the hour come once more, and the list with them.
      await expect.poll(() => requests.textContent()).toContain('successful')
      expect(await search()).toBe('?from=2026-11-10T21%3A00&to=2026-11-10T22%3A00')
      await expect.poll(used).toMatch(/^Used Nov 10, 9–10\sPM.*1 request/)
      // A period that the page has not is asked for, and the way back leads here.
      await frame.locator('[data-name=from]').fill('2026-10-01')
      await expect
        .poll(() => frame.evaluate('location.search'))
        .toBe('?from=2026-10-01&to=2026-11-10T22%3A00')
      await expect.poll(used).toContain('80 requests')
      await frame.evaluate('history.back()')
      await expect.poll(used).toContain('1 request')
      await page.close()
    })

    test('a tap opens the bar under the finger, whatever bar a scroll came over, and a wrong date is told at its field', {
      tags: 'whole',
      timeout: 60_000,
    }, async () => {
      const { page } = await open(
        `${usageUrl}/page?from=2026-11-01&to=2026-11-29#t=${await tokenOf('a')}`,
        { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
      )
      const stage = page.locator('#board-use .b-stage')
      await stage.waitFor()
      const drawn = page.locator('#board-use .b-stage svg')
      /** The middle of a day's bar. */
      const placeOf = async (day: number) => {
        await stage.scrollIntoViewIfNeeded()
        const box = (await drawn.boundingBox())!
        const [left, step, width] = (await drawn.evaluate(
          '(svg => [svg.dataset.left, svg.dataset.step, svg.viewBox.baseVal.width].map(Number))(document.querySelector("#board-use .b-stage svg"))',
        )) as [number, number, number]
        return {
          x: box.x + ((left + (day - 0.5) * step) * box.width) / width,
          y: box.y + box.height / 2,
        }
      }
      // A finger that scrolls tells of its first places alone.
      const { x, y } = await placeOf(6)
      await stage.dispatchEvent('pointermove', { clientX: x, clientY: y, pointerType: 'touch' })
      const bar = await placeOf(19)
      await page.touchscreen.tap(bar.x, bar.y)
      await expect
        .poll(() => page.evaluate('location.search'))
        .toBe('?from=2026-11-19&to=2026-11-20')
      const to = page.locator('[data-name=to]')
      await page.locator('.b-stage').first().waitFor()
      await to.fill('2026-11-05')
      expect(await to.evaluate('document.querySelector("[data-name=to]").validationMessage')).toBe(
        'The last day is before the first one. The page has not changed.',
      )
      expect(await page.evaluate('location.search')).toBe('?from=2026-11-19&to=2026-11-20')
      await to.fill('2026-11-21')
      await expect
        .poll(() => page.evaluate('location.search'))
        .toBe('?from=2026-11-19&to=2026-11-22')
      await page.close()
    })

    test('a date that is typed is asked for once it is left, a click without a pointer opens the bar that was told, and an unknown metric is told', {
      tags: 'whole',
      timeout: 60_000,
    }, async () => {
      const { page } = await open(
        `${usageUrl}/page?from=2026-11-01&to=2026-11-29#t=${await tokenOf('a')}`,
      )
      const search = () => page.evaluate('location.search')
      const stage = page.locator('#board-use .b-stage')
      await stage.waitFor()
      const asked: string[] = []
      page.on('request', (request) => {
        const { pathname, searchParams } = new URL(request.url())
        if (pathname === '/page') asked.push(searchParams.get('from') ?? '')
      })
      const from = page.locator('[data-name=from]')
      await from.focus()
      await page.keyboard.type('11052026')
      expect([await from.inputValue(), await search(), asked]).toEqual([
        ...['2026-11-05', '?from=2026-11-01&to=2026-11-29', []],
      ])
      // Its calendar button, and out of it.
      for (let at = 0; at < 2; at++) await page.keyboard.press('Tab')
      await expect.poll(search).toBe('?from=2026-11-05&to=2026-11-29')
      // Enter is a way to end it, too, and leaving the field then asks for nothing more.
      await expect.poll(() => page.locator('.answers .used').textContent()).toMatch(/^Used Nov 5/)
      await from.focus()
      await page.keyboard.type('11102026')
      await page.keyboard.press('Enter')
      await expect.poll(search).toBe('?from=2026-11-10&to=2026-11-29')
      await expect.poll(() => page.locator('.answers .used').textContent()).toMatch(/^Used Nov 10/)
      await from.blur()
      expect(new Set(asked)).toEqual(new Set(['2026-11-05', '2026-11-10']))
      // As a screen reader clicks: in the middle of what it is on, and with no pointer.
      await stage.focus()
      await stage.press('Home')
      const box = (await stage.boundingBox())!
      await stage.dispatchEvent('click', {
        ...{ detail: 0, clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 },
      })
      await expect.poll(search).toBe('?from=2026-11-10&to=2026-11-11')
      await page.goto(`${usageUrl}/page?metric=evil`)
      await expect
        .poll(() => page.locator('main').textContent())
        .toContain('metric has a value that is not known here')
      await page.close()
    })

    test('asks for a new token a minute before its end, and goes on with it', {
      tags: 'whole',
      timeout: 60_000,
    }, async () => {
      const soon = await tokenOf('a', { exp: Math.floor(nowMs / 1000) + 50 })
      const { page } = await open(`${hostUrl}/?token=${soon}`)
      const frame = await frameOf(page)
      await expect
        .poll(() => page.evaluate('told.filter(({ type }) => type === "token-expiring").length'))
        .toBe(1)
      const renewed = await tokenOf('a')
      await page.evaluate(
        `document.querySelector('assay-usage').setAttribute('token', '${renewed}')`,
      )
      await expect
        .poll(() => page.evaluate('told.filter(({ type }) => type === "ready").length'))
        .toBe(2)
      expect(await frame.locator('.b-cards').count()).toBe(1)
      await page.close()
    })

    test('shows no data with a token that has run out, and says so to the host', async () => {
      const old = await tokenOf('a', {
        iat: Math.floor(nowMs / 1000) - 7200,
        exp: Math.floor(nowMs / 1000) - 3600,
      })
      const { page } = await open(`${hostUrl}/?token=${old}`)
      await expect
        .poll(() => page.evaluate('told.find(({ type }) => type === "error")?.code'))
        .toBe('token-expired')
      const frame = (await (await page.waitForSelector('iframe')).contentFrame())!
      expect(await frame.locator('main').textContent()).toBe('This page needs to be opened again.')
      await page.close()
    }, 60_000)

    test('says that a saved link asks for what is gone, tells the host, and leads back to all usage', {
      tags: 'whole',
      timeout: 60_000,
    }, async () => {
      const { page } = await open(`${hostUrl}/?mode=frame&token=${await tokenOf('a')}%26model=nope`)
      const frame = (await (await page.waitForSelector('iframe')).contentFrame())!
      await frame.waitForSelector('main[data-error]')
      expect(await frame.locator('main').innerText()).toContain(
        'This link asks for something that is not in your usage: nope.',
      )
      await expect
        .poll(() => page.evaluate('told.find(({ type }) => type === "error")?.code'))
        .toBe('no-such-model')
      expect(await page.evaluate('told.filter(({ type }) => type === "ready")')).toEqual([])
      await frame.getByText('Show all usage').click()
      await frame.waitForSelector('.b-first figure')
      expect(await frame.evaluate('location.hash + location.search')).toBe('')
      await page.close()
    })

    test('a figure of a choice is a part of nothing until the server answers', {
      tags: 'whole',
      timeout: 60_000,
    }, async () => {
      const { page } = await open(
        `${usageUrl}/page?from=2026-11-01&to=2026-11-29&model=large#t=${await tokenOf('a')}`,
      )
      const used = () => page.locator('.answers .used').innerText()
      await expect.poll(used).toMatch(/of [\d,.]+ credits in all/)
      const answered = await used()
      // The server answers no more.
      await page.route('**/page?*', () => {})
      const model = page.locator('[data-name=model]')
      await model.selectOption({ index: 0 })
      expect(await page.locator('main').getAttribute('aria-busy')).toBe('true')
      expect(await used()).toMatch(/^Credits used\s+[\d,.]+ credits$/)
      await model.selectOption('small')
      expect(await used()).toMatch(/^Credits used\s+[\d,.]+ credits$/)
      await model.selectOption('large')
      expect(await used()).toBe(answered)
      await page.close()
    })

    test('keeps its token for the tab: a reload shows the page again, and one without a token says why', {
      tags: 'whole',
      timeout: 60_000,
    }, async () => {
      const { page } = await open(`${usageUrl}/page#t=${await tokenOf('a')}`)
      await page.waitForSelector('.b-first figure')
      expect(await page.evaluate('location.hash')).toBe('')
      await page.reload()
      await page.waitForSelector('.b-first figure')
      // Another tab has none.
      const { page: other } = await open(`${usageUrl}/page`)
      await expect
        .poll(() => other.locator('main').textContent())
        .toBe('This page needs to be opened again.')
      await other.close()
      // One that has ended is not kept.
      await page.clock.setFixedTime(nowMs + 2 * 3_600_000)
      await page.reload()
      await expect
        .poll(() => page.locator('main').textContent())
        .toBe('This page needs to be opened again.')
      await page.close()
    })

    test('never shows nothing: while it loads, while the service is busy, and when it gives up', {
      tags: 'whole',
      timeout: 60_000,
    }, async () => {
      const page = await browser.newPage()
      await page.clock.install({ time: nowMs })
      let asked = 0
      let answer: 'late' | 'busy' | 'none' = 'late'
      await page.route('**/page*', async (route) => {
        if (route.request().headers().authorization === undefined) return route.continue()
        asked++
        if (answer === 'late') return undefined
        if (answer === 'none') return route.abort()
        return route.fulfill({ status: 503, headers: { 'retry-after': '2' }, body: '{}' })
      })
      const said = () => page.locator('main').textContent()
      const url = `${usageUrl}/page#t=${await tokenOf('a')}`
      await page.goto(url)
      expect(await said()).toBe('Your usage is being loaded …')
      answer = 'busy'
      await page.reload()
      await expect
        .poll(said)
        .toBe('Your usage takes longer than usual. This page asks again by itself.')
      asked = 0
      await page.clock.runFor(22_000)
      await expect.poll(() => asked).toBe(2)
      answer = 'none'
      for (let round = 0; round < 6; round++) await page.clock.runFor(200_000)
      await expect
        .poll(said)
        .toBe('Your usage could not be loaded. Load this page again to try once more.')
      const before = asked
      await page.clock.runFor(600_000)
      expect(asked).toBe(before)
      await page.close()
    })

    test('a fault of the service is told to the host, and asked for no more', {
      tags: 'whole',
      timeout: 60_000,
    }, async () => {
      const page = await browser.newPage()
      await page.clock.install({ time: nowMs })
      let asked = 0
      let body = '{"code":"internal","title":"The service failed"}'
      await page.route('**/page*', async (route) => {
        if (route.request().headers().authorization === undefined) return route.continue()
        asked++
        return route.fulfill({ status: 500, contentType: 'application/problem+json', body })
      })
      const over = 'Your usage could not be loaded. Load this page again to try once more.'
      await page.goto(`${hostUrl}/?token=${await tokenOf('a')}`)
      const element = await page.waitForSelector('iframe')
      const frame = (await element.contentFrame())!
      const said = () => frame.locator('main').textContent()
      await expect.poll(said).toBe(over)
      expect(await page.evaluate('told.find(({ type }) => type === "error").code')).toBe('internal')
      await page.clock.runFor(600_000)
      expect(asked).toBe(1)
      // What a proxy says is no problem of the service: it is asked some more times.
      body = 'Bad gateway'
      await page.reload()
      const askedLater = async () => {
        await page.clock.runFor(200_000)
        return asked
      }
      await expect.poll(askedLater).toBe(8)
      expect(await askedLater()).toBe(8)
      await page.close()
    })

    test('follows the theme of its host, and saves a file that names the account and the period', {
      tags: 'whole',
      timeout: 60_000,
    }, async () => {
      const { page } = await open(`${hostUrl}/?token=${await tokenOf('a')}`)
      const frame = await frameOf(page)
      const mode = () => frame.evaluate('document.documentElement.dataset.mode')
      for (const theme of ['dark', 'light']) {
        await page.evaluate(
          `document.querySelector('assay-usage').setAttribute('theme', '${theme}')`,
        )
        await expect.poll(mode).toBe(theme)
      }
      await page.evaluate("document.querySelector('assay-usage').setAttribute('theme', 'auto')")
      await expect.poll(mode).toBeUndefined()
      await page.close()
      const own = await open(`${usageUrl}/page#t=${await tokenOf('a')}`)
      await own.page.waitForSelector('.b-first figure')
      const saved = own.page.waitForEvent('download')
      await own.page.locator('[data-export=csv]').click()
      expect((await saved).suggestedFilename()).toBe('usage-Nordlicht-2026-11-01-2026-11-28.csv')
      await own.page.close()
    })

    test('works as a plain iframe, and a page of an origin that is not listed cannot frame it', {
      tags: 'whole',
      timeout: 60_000,
    }, async () => {
      const { page } = await open(`${hostUrl}/?mode=plain&token=${await tokenOf('a')}`)
      expect(await (await frameOf(page)).locator('.b-cards').count()).toBe(1)
      await page.close()
      const { page: evil } = await open(
        `${hostUrl.replace('localhost', '127.0.0.1')}/?mode=plain&token=${await tokenOf('a')}`,
      )
      await evil.waitForTimeout(500)
      const frame = (await (await evil.waitForSelector('iframe')).contentFrame())!
      expect(await frame.locator('.b-cards').count()).toBe(0)
      await evil.close()
    })

    test('follows new usage by itself', { tags: 'whole', timeout: 60_000 }, async () => {
      const { page } = await open(`${hostUrl}/?token=${await tokenOf('a')}`)
      const frame = await frameOf(page)
      expect(await frame.locator('.b-cards').textContent()).toContain('Requests216')
      const store = await openStore(service.file)
      await enterEvents(store, [{ atUs: utc(2026, 11, 28), account: 'a', keyFp: key }])
      store.close()
      await service.portal.refresh()
      await expect
        .poll(() => frame.locator('.b-cards').textContent(), { timeout: 30_000 })
        .toContain('Requests217')
      await page.close()
    })

    test('is complete without scripts when a backend fetches it', {
      tags: 'whole',
      timeout: 60_000,
    }, async () => {
      const { page } = await open('about:blank', { javaScriptEnabled: false })
      const answer = await fetch(`${usageUrl}/page?from=2026-11-01&to=2026-11-29`, {
        headers: { authorization: `Bearer ${await tokenOf('a')}` },
      })
      await page.setContent(await answer.text())
      expect(await page.locator('.figures dd').count()).toBeGreaterThan(4)
      expect(await page.locator('.b-first svg').first().isVisible()).toBe(true)
      expect(await page.locator('form[method=get] button').count()).toBe(1)
      await page.close()
    })
  },
)
