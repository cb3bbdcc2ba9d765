import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { violations } from '../axe.ts'
import { canBrowse, openBrowser } from '../chromium.ts'
import { enterEvents, utc } from '../report/usage-events.ts'
import { nowMs, type Served, served, settingsOf, tokenOf } from './portal.ts'

/** Four weeks, an hour each, of two keys and two models. */
const events = Array.from({ length: 27 * 24 }, (_, at) => ({
  ...{ atUs: utc(2026, 11, 1) + at * 3600e6, account: 'a', credits: 1 },
  keyFp: at % 2 === 0 ? 'aaaaaaaaaaaa' : 'bbbbbbbbbbbb',
  model: at % 3 === 0 ? 'large' : 'small',
}))
const grants = `[{ name: A long name of a pack, credits: 25000, from: 2026-10-01, expires: 2027-01-01 }, { name: Bonus, credits: 500, from: 2026-11-28, expires: 2026-12-05 }]`

describe.skipIf(!canBrowse)('what a reader met on a phone and in French', { tags: 'whole' }, () => {
  let service: Served
  let server: ReturnType<typeof serve>
  let browser: Awaited<ReturnType<typeof openBrowser>>
  beforeAll(async () => {
    service = await served(
      [],
      settingsOf(
        `accounts: { a: { locale: fr-FR, grants: ${grants}, budget: [{ amount: '2000000.50' }, { amount: '1000000', period: year }] } }\n`,
      ),
      (store) => enterEvents(store, events),
    )
    server = serve({ fetch: await service.portal.handler(), hostname: '127.0.0.1', port: 0 })
    await new Promise<void>((done) => server.once('listening', () => done()))
    browser = await openBrowser()
  }, 60_000)
  afterAll(async () => {
    await browser.close()
    server.close()
    await service.close()
  })

  test('dates, names and the table of credits are whole and in the language of the page', {
    timeout: 60_000,
  }, async () => {
    const { port } = server.address() as AddressInfo
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
    await page.clock.setFixedTime(nowMs)
    await page.goto(`http://127.0.0.1:${port}/page#t=${await tokenOf('a')}`)
    await page.waitForSelector('.b-first figure')
    const texts = (of: string) => page.locator(of).allTextContents()
    // The dates are said as the page says dates, until a reader changes one.
    expect(await texts('.b-date span')).toEqual(['dim. 1er nov. 2026', 'sam. 28 nov. 2026'])
    expect(await page.locator('.answers dt').first().textContent()).toBe(
      'Utilisé du 1er au 28 nov.',
    )
    expect(await page.locator('select[data-name=model] option').first().textContent()).toBe('tous')
    expect(await page.locator('select[data-name=key] option').first().textContent()).toBe('toutes')
    expect(await texts('.tops summary')).toEqual(['Afficher en tableau', 'Afficher en tableau'])
    // No cell of the credits lies outside of the card.
    const cut = await page.evaluate(`(() => {
      const box = document.querySelector('#lots').getBoundingClientRect()
      return [...document.querySelectorAll('#lots :is(td, th)')]
        .filter((each) => each.getBoundingClientRect().right > box.right).length
    })()`)
    expect(cut).toBe(0)
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    // Shades of the week say what they count.
    const week = page.locator('#board-week')
    expect(await week.locator('.b-legend li').allTextContents()).toEqual(['0', '1'])
    expect(await week.locator('.note').last().textContent()).toContain('habituel')
    expect(await violations(page)).toEqual([])
    await page.close()
  })
})
