import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Answers } from '../../src/portal/api/shapes.ts'
import { enterEvents, utc } from '../report/usage-events.ts'
import { openStore } from '../store/opened.ts'
import { nowMs, type Served, served, settingsOf, tokenOf } from './portal.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
let service: Served
let passedMs = 0
const settings = settingsOf(`accounts:
  a:
    timezone: Asia/Kathmandu
    budget: [{ amount: '400', period: day }, { amount: '900' }, { amount: '20', unit: EUR, period: week }]
    grants:
      - { name: Start, credits: 400, from: 2026-11-27, expires: 2026-11-30 }
      - { name: Pack, credits: 5000, from: 2026-11-27, expires: 2026-12-04T09:15 }
      - { name: Later, credits: 100, from: 2026-12-02, expires: 2026-12-20 }
`)
const last = 27 * 24 + 12
beforeAll(async () => {
  service = await served([], settings, (store) =>
    enterEvents(
      store,
      Array.from({ length: last }, (_, hour) => ({
        ...{ atUs: utc(2026, 11, 1, hour, 20), account: 'a', credits: 3 },
        outcome: hour % 9 === 0 ? 'http_error' : 'ok',
      })),
    ),
  )
}, 60_000)
afterAll(() => service.close())

const ask = async (path: string, tag?: string) => {
  const nowS = Math.floor((nowMs + passedMs) / 1000)
  const token = await tokenOf('a', { iat: nowS - 10, nbf: nowS - 10, exp: nowS + 3600 })
  return service.ask(path, token, tag === undefined ? {} : { 'if-none-match': tag })
}
const pass = (ms: number) => {
  service.pass(ms)
  passedMs += ms
}
const read = async <Name extends keyof Answers>(path: string) =>
  (await (await ask(path)).json()) as Answers[Name]

const paths = [
  ...['/v1/account', '/v1/credits', '/v1/budgets', '/v1/notices', '/v1/credits/outlook?days=20'],
  ...['/v1/usage/summary?from=2026-11-01&to=2026-12-10', '/page'],
  '/v1/usage/series?from=2026-11-20&to=2026-12-10&bucket=day&metric=requests',
]

test('what is left falls with use and with what expires, and held, used and left add up', {
  tags: 'whole',
}, async () => {
  const credits = () => read<'credits'>('/v1/credits')
  // 27 November begins at 18:15 on the 26th in UTC: 3 credits an hour since.
  const used = 3 * (36 + 6)
  expect(await credits()).toMatchObject({
    ...{ source: 'grants', held: '5400', used: `${used}`, remaining: `${5400 - used}` },
    ...{ expired: '0', uncovered: `${3 * (last - 36 - 6)}` },
    grants: [
      {
        name: 'Start',
        used: `${used}`,
        remaining: `${400 - used}`,
        from: '2026-11-27T00:00:00+05:45',
      },
      { name: 'Pack', used: '0', remaining: '5000' },
    ],
  })
  const store = await openStore(service.file)
  await enterEvents(store, [{ atUs: utc(2026, 11, 28, 11, 59), account: 'a', credits: 300 }])
  store.close()
  await service.portal.refresh()
  expect(await credits()).toMatchObject({
    ...{ held: '5400', used: `${used + 300}`, remaining: `${5400 - used - 300}` },
    grants: [{ remaining: '0' }, { remaining: `${5400 - used - 300}` }],
  })
  const [day, month, week] = (await read<'budgets'>('/v1/budgets')).budgets
  expect(day).toMatchObject({
    period: 'day',
    from: '2026-11-28T00:00:00+05:45',
    to: '2026-11-29T00:00:00+05:45',
  })
  // Of 28 November in Kathmandu: from 18:15 on 27 November in UTC.
  expect(day).toMatchObject({
    used: `${3 * 18 + 300}`,
    left: `${400 - 3 * 18 - 300}`,
    share: (3 * 18 + 300) / 400,
  })
  expect(month).toMatchObject({ from: '2026-11-01T00:00:00+05:45', used: `${3 * last + 300}` })
  expect(week).toMatchObject({ unit: 'EUR', period: 'week', from: '2026-11-22T00:00:00+05:45' })
  const notices = (await read<'notices'>('/v1/notices')).notices
  expect(notices.filter(({ kind }) => kind === 'budget')).toEqual([
    {
      kind: 'budget',
      text: 'You used 88.5% of your budget of 400 credits for this day. It resets on November 29, 2026.',
      query: '?from=2026-11-28&to=2026-11-29',
    },
    {
      kind: 'budget',
      text: 'You used 253.3% of your budget of 900 credits for this month. It resets on December 1, 2026.',
      query: '?from=2026-11-01&to=2026-12-01',
    },
  ])
  // A token of some keys sees no balance, which is of all.
  const some = await service.ask('/v1/credits', await tokenOf('a', { keys: ['k1'] }))
  expect(await some.json()).toMatchObject({ source: 'none', remaining: null, grants: [] })
})

test('a grant is gone the moment that it expires, also for who asks with a tag', async () => {
  const before = await ask('/v1/credits')
  const tag = before.headers.get('etag')!
  // 30 November begins at 18:15 on the 29th in UTC.
  pass(dayMs + 6 * hourMs + 14 * 60_000)
  expect(await read<'credits'>('/v1/credits')).toMatchObject({ held: '5400' })
  pass(60_000)
  const after = await ask('/v1/credits', tag)
  expect(after.status).toBe(200)
  expect(await after.json()).toMatchObject({ held: '5000', grants: [{ name: 'Pack' }] })
})

/** Minutes of days and hours in Kathmandu, of the 28th of November of 2026 and the days after it. */
const inKathmandu = (day: number, hour = 0, minute = 0) =>
  utc(2026, 11, day, hour, minute) / 1000 - (5 * 60 + 45) * 60_000

/** What begins or ends: days, the budgets' day, week and month, each grant, and quarters of hours in between. */
const boundaries = [
  ['a day, a week of the budget', inKathmandu(29)],
  ['a grant that expires', inKathmandu(30)],
  ['a month, with its budget', inKathmandu(31)],
  ['a grant that begins', inKathmandu(32)],
  ['a grant that expires in a day', inKathmandu(34, 9, 15)],
  ['a week', inKathmandu(36)],
  ['a grant that expires, the last', inKathmandu(50)],
] as const

test('each boundary that the clock crosses is in the tag and the answer of the minute after it', {
  tags: 'whole',
  timeout: 120_000,
}, async () => {
  const service = await served([], settings, (store) =>
    enterEvents(store, [
      { atUs: utc(2026, 11, 27, 3), account: 'a', credits: 30 },
      { atUs: utc(2026, 11, 28, 3), account: 'a', credits: 3, unit: 'EUR' },
    ]),
  )
  let passed = 0
  const to = (ms: number) => {
    service.pass(ms - nowMs - passed)
    passed = ms - nowMs
  }
  const asked = async (path: string, tag?: string) => {
    const nowS = Math.floor((nowMs + passed) / 1000)
    const token = await tokenOf('a', { iat: nowS - 10, nbf: nowS - 10, exp: nowS + 3600 })
    return service.ask(path, token, tag === undefined ? {} : { 'if-none-match': tag })
  }
  const some = ['/v1/credits', '/v1/budgets', '/v1/notices', '/v1/credits/outlook?days=20']
  const changed = new Map<string, string[]>()
  try {
    for (const [what, ms] of boundaries) {
      to(ms - 60_000)
      const before = new Map<string, { readonly tag: string; readonly body: string }>()
      for (const path of some) {
        const answer = await asked(path)
        before.set(path, { tag: answer.headers.get('etag')!, body: await answer.text() })
      }
      to(ms)
      const known = new Map<string, string>()
      for (const path of some) {
        const { tag, body } = before.get(path)!
        const answer = await asked(path, tag)
        known.set(path, answer.status === 304 ? body : await answer.text())
      }
      service.portal.forget()
      for (const path of some) {
        const fresh = await (await asked(path)).text()
        expect([what, path, known.get(path)]).toEqual([what, path, fresh])
        if (fresh !== before.get(path)!.body)
          changed.set(path, [...(changed.get(path) ?? []), what])
      }
    }
  } finally {
    await service.close()
  }
  // Each of them is a boundary of some answer at that very minute.
  expect(changed.get('/v1/credits')).toEqual([
    'a grant that expires',
    'a grant that begins',
    'a grant that expires in a day',
    'a grant that expires, the last',
  ])
  expect(changed.get('/v1/budgets')).toEqual([
    'a day, a week of the budget',
    'a grant that expires',
    'a month, with its budget',
    'a grant that begins',
    'a week',
    'a grant that expires, the last',
  ])
})

test('an answer that was kept is the one that is made anew, whatever the clock passed', {
  tags: 'whole',
  timeout: 120_000,
}, async () => {
  const known = new Map<string, { readonly tag: string; readonly body: string }>()
  const steps = fc.sample(
    fc.oneof(fc.constantFrom(20, 45, 60, 24 * 60), fc.integer({ min: 12, max: 4 * 24 * 60 })),
    { numRuns: 6, seed: 55 },
  )
  let changes = 0
  for (const minutes of steps) {
    pass(minutes * 60_000)
    if (minutes % 3 === 0) await service.portal.refresh()
    for (const path of paths) {
      const before = known.get(path)
      const answer = await ask(path, before?.tag)
      const body = answer.status === 304 ? before!.body : await answer.text()
      service.portal.forget()
      const fresh = await ask(path)
      expect(fresh.status).toBe(200)
      expect([path, body]).toEqual([path, await fresh.text()])
      if (answer.status === 200) changes++
      known.set(path, { tag: fresh.headers.get('etag')!, body })
    }
  }
  expect(changes).toBeGreaterThan(paths.length)
})
