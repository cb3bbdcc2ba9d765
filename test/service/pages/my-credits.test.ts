import { expect, test } from 'vitest'
import type { CreditsReport } from '../../../src/service/usage/report.ts'
import { manualClock } from '../manual-clock.ts'
import { hello, serving } from '../serving.ts'
import { Customer, dayUs, openHouse } from './customer.ts'

const figures = ['remaining', 'consumed', 'requests', 'average'] as const

/** The figures at the head of the page. */
function shown(text: string): Record<(typeof figures)[number], string> {
  const read = (id: string) => new RegExp(`id="${id}">([^<]*)<`).exec(text)?.[1] ?? ''
  return {
    remaining: read('remaining'),
    consumed: read('consumed'),
    requests: read('requests'),
    average: read('average'),
  }
}

const rows = (text: string, id: string) =>
  (new RegExp(`id="${id}"[\\s\\S]*?<tbody>([\\s\\S]*?)</tbody>`).exec(text)?.[1] ?? '')
    .split('<tr>')
    .slice(1)
    .map((row) => [...row.matchAll(/<t[hd][^>]*>([^<]*)/g)].map((cell) => cell[1]))

test('the page shows the figures of GET /user/credits, right after each request (PAGE-01)', {
  tags: 'whole',
}, async () => {
  const { target, visitor } = await openHouse()
  const ada = visitor()
  await ada.register('ada@example.com')
  const key = await ada.makeKey()
  for (const model of ['svc-k2', 'svc-k2.5', 'svc-k2-thinking', 'no-such-model']) {
    await target.chat({ model }, key)
    const { text } = await ada.get('/my-credits')
    const told = (await (await target.get('/user/credits', key)).json()) as CreditsReport
    expect(shown(text)).toEqual({
      remaining: String(told.remaining),
      consumed: String(told.total_consumed),
      requests: String(told.requests),
      average: String(Math.round((told.average_tokens_per_request ?? 0) * 10) / 10),
    })
  }
})

test('the average is tokens over successes: failures and the order of days do not matter', {
  tags: 'whole',
}, async () => {
  const { target, visitor, clock } = await openHouse()
  const ada = visitor()
  await ada.register('ada@example.com')
  const key = await ada.makeKey()
  const say = (words: string) =>
    target.chat({ messages: [{ role: 'user', content: `Say: ${words}` }] }, key)
  const used = async (answer: Promise<Response>) =>
    ((await (await answer).json()) as { usage: { total_tokens: number } }).usage.total_tokens
  let tokens = await used(say('one two three four five six seven eight'))
  clock.advance(2 * dayUs)
  for (let sent = 0; sent < 3; sent++) tokens += await used(say('one'))
  await target.chat({ ...hello, temperature: 9 }, key)
  const { text } = await ada.get('/my-credits')
  expect(shown(text).average).toBe(String(Math.round((tokens / 4) * 10) / 10))
})

test('an hour that is repeated in autumn is two lines, and no request is lost', {
  tags: 'whole',
}, async () => {
  // 2026-10-25 00:30 UTC is 02:30 in Berlin, for the first time.
  const clock = manualClock(Date.UTC(2026, 9, 25, 0, 30) * 1000)
  const target = await serving({ clock, accounts: [{ name: 'ready', balance: 100 }] })
  const key = target.service.keys[0]!.apiKey
  await target.chat({}, key)
  clock.advance(3600e6)
  await target.chat({}, key)
  await target.chat({}, key)
  const ready = new Customer(target)
  await ready.post('/sign-in', { key })
  const { text } = await ready.get('/my-credits?timezone=Europe%2FBerlin')
  expect(rows(text, 'hours').map((row) => row.slice(0, 3))).toEqual([
    ['25 Oct 2026, 02:00 (UTC+01:00)', '2', '2'],
    ['25 Oct 2026, 02:00 (UTC+02:00)', '1', '1'],
  ])
  expect(rows(text, 'days').map((row) => row.slice(0, 3))).toEqual([['25 Oct 2026', '3', '3']])
})

test('expiring credits are listed in the order of spending', async () => {
  const { visitor } = await openHouse()
  const ada = visitor()
  await ada.register('ada@example.com')
  await ada.buy('Starter')
  await ada.buy('Premium')
  const { text } = await ada.get('/my-credits')
  expect(rows(text, 'expiry')).toEqual([
    ['Premium', '20,000', '20,000', '28 Feb 2026, 12:00:00'],
    ['free credits', '100', '100', 'never'],
    ['Starter', '500', '500', 'never'],
  ])
  await ada.buy('Standard')
  expect((await ada.get('/my-credits')).text).toContain('25,000 expire on 28 Feb 2026, 12:00:00')
})

test('usage by key has names and last letters, and a range leaves out older usage', {
  tags: 'whole',
}, async () => {
  const { target, visitor, clock } = await openHouse()
  const ada = visitor()
  await ada.register('ada@example.com')
  const [laptop, server] = [await ada.makeKey('laptop'), await ada.makeKey('server')]
  await target.chat({}, laptop)
  clock.advance(3 * dayUs)
  await target.chat({ model: 'svc-k2.5' }, server)
  const used = async (range: string) => {
    const { text } = await ada.get(`/my-credits?range=${range}`)
    return [shown(text).consumed, ...rows(text, 'by-key').map(([key, credits]) => [key, credits])]
  }
  const ofServer = [`server …${server.slice(-4)}`, '2']
  const both = [ofServer, [`laptop …${laptop.slice(-4)}`, '1']]
  expect(await used('all')).toEqual(['3', ...both])
  expect(await used('24h')).toEqual(['2', ofServer])
  expect(await used('7d')).toEqual(['3', ...both])
  expect(await used('%3Cb%3E')).toEqual(['3', ...both])
  const { text } = await ada.get('/my-credits?range=24h&timezone=Asia%2FTokyo')
  expect(text).toContain('href="/my-credits?timezone=Asia%2FTokyo&#38;range=7d"')
  expect(rows(text, 'hours').length).toBe(1)
})

test('only a signed-in visitor gets the events of an account', async () => {
  const { target, clock, visitor } = await openHouse()
  const events = await fetch(`${target.service.baseUrl}/my-credits/events`, { redirect: 'manual' })
  expect([events.status, events.headers.get('location')]).toEqual([303, '/sign-in'])
  const ada = visitor()
  await ada.register('ada@example.com')
  const leave = new AbortController()
  const news = await fetch(`${target.service.baseUrl}/my-credits/events`, {
    headers: { cookie: ada.cookie },
    signal: leave.signal,
  })
  expect(news.headers.get('content-type')).toBe('text/event-stream')
  await ada.buy('Starter')
  clock.advance(1e6)
  let heard = ''
  for await (const piece of news.body!.pipeThrough(new TextDecoderStream())) {
    heard += piece
    if (heard.includes('event: change')) break
  }
  expect(heard).toMatch(/event: change\ndata: 1769860801000\n\n$/)
  leave.abort()
})

test('an unchanged page is not sent again', async () => {
  const { target, visitor } = await openHouse()
  const ada = visitor()
  await ada.register('ada@example.com')
  const key = await ada.makeKey()
  const { text } = await ada.get('/my-credits')
  const tag = /data-tag="([^"]+)"/.exec(text)?.[1]?.replaceAll('&#34;', '"') ?? ''
  const again = () => ada.get('/my-credits', { 'if-none-match': tag })
  expect((await again()).status).toBe(304)
  await target.chat({}, key)
  expect((await again()).status).toBe(200)
})

test('an unknown time zone is refused, and shown as text', async () => {
  const { visitor } = await openHouse()
  const ada = visitor()
  await ada.register('ada@example.com')
  const page = await ada.get('/my-credits?timezone=%3Cimg%20src%3Dx%3E')
  expect(page.status).toBe(400)
  expect(page.text).toContain('expected an IANA time zone')
  expect(page.text).toMatch(
    /name="timezone"[^>]* aria-invalid="true" aria-describedby="wrong-timezone"/,
  )
  expect(page.text).not.toContain('<img')
})

test('a page of entries that is none is refused, and the time zone stays', async () => {
  const { visitor } = await openHouse()
  const ada = visitor()
  await ada.register('ada@example.com')
  const page = await ada.get('/my-credits?timezone=Asia%2FKolkata&before=xyz')
  expect(page.status).toBe(400)
  expect(page.text).toContain('before: expected a whole number; got &#34;xyz&#34;')
  expect(page.text).toContain('name="timezone" list="zones" value="Asia/Kolkata"')
  expect(page.text).not.toContain('aria-invalid')
})

test('a program gets the page with its key, and a wrong key leads to the sign-in page', async () => {
  const target = await serving({ accounts: [{ name: 'ready', balance: 70 }] })
  const page = await target.get('/my-credits', target.service.keys[0]!.apiKey)
  expect(shown(await page.text()).remaining).toBe('70')
  expect((await target.get('/my-credits', 'sk-svc-wrong')).url).toMatch(/\/sign-in$/)
})

test('changes of the balance that do not fit are on the next page, each once', async () => {
  const { target, visitor, clock } = await openHouse()
  const ada = visitor()
  await ada.register('ada@example.com')
  const key = await ada.makeKey()
  for (let sent = 0; sent < 24; sent++) {
    await target.chat({}, key)
    // 20 a minute are allowed.
    clock.advance(4e6)
    // With the free credits, these are as many as a page has.
    if (sent === 18) expect((await ada.get('/my-credits')).text).not.toContain('Older changes')
  }
  const first = await ada.get('/my-credits')
  const older =
    /href="(\/my-credits\?[^"]+before[^"]+)"/.exec(first.text)?.[1]?.replaceAll('&#38;', '&') ?? ''
  const second = await ada.get(older)
  const balances = [first, second].flatMap(({ text }) => rows(text, 'entries').map((row) => row[4]))
  // From the last charge back to the free credits.
  expect(balances).toEqual(Array.from({ length: 25 }, (_, at) => String(76 + at)))
  expect(second.text).not.toContain('Older changes')
})

test('an account without requests in a range has other words than one without any, and the query of its figures', async () => {
  const { target, visitor, clock } = await openHouse()
  const ada = visitor()
  await ada.register('ada@example.com')
  const none = (await ada.get('/my-credits')).text
  expect(none).toContain('no request yet')
  expect(none).toContain('<code>GET /user/credits?timezone=UTC</code>')
  await target.chat({}, await ada.makeKey())
  clock.advance(3 * dayUs)
  const { text } = await ada.get('/my-credits?range=24h&timezone=Etc%2FGMT%2B5')
  expect(text).not.toMatch(/no request yet/i)
  expect(text).toContain('no request in this time')
  const [, query] = /<code>GET \/user\/credits\?([^<]*)<\/code>/.exec(text)!
  const asked = new URLSearchParams(query!.replaceAll('&#38;', '&'))
  expect(asked.get('timezone')).toBe('Etc/GMT+5')
  expect(Date.parse(asked.get('from')!)).toBeGreaterThan(clock.nowUs() / 1000 - 24 * 3600e3)
})
