import { afterAll, beforeAll, expect, test } from 'vitest'
import { subject } from '../report/marked-accounts.ts'
import { enterEvents, utc } from '../report/usage-events.ts'
import { openStore, type Store } from '../store/opened.ts'
import { everyPath, type Served, served, tokenOf } from './portal.ts'

/** Requests at every quarter of an hour, most hours of one key and model, with refunds and a second currency between them. */
const enter = (store: Store) =>
  enterEvents(
    store,
    Array.from({ length: 2_400 }, (_, at) => {
      const hour = Math.floor(at / 4)
      return {
        atUs: utc(2026, 10, 3) + at * 900e6 + (at % 7) * 1e6,
        id: `e${at}`,
        account: subject.name,
        keyFp: subject.keys[hour % 2]!,
        model: hour % 3 === 0 ? 'svc-k2' : 'svc-k2.5',
        outcome: at % 11 === 0 ? 'http_error' : 'ok',
        ...(at % 13 === 0
          ? {
              type: 'refund',
              credits: '-0.5',
              requests: 0,
              promptTokens: null,
              completionTokens: null,
            }
          : { credits: `${1 + (at % 5)}.25` }),
        unit: hour % 4 === 0 ? 'EUR' : 'credits',
      }
    }),
  )

/** The service, and one whose sums of hours are those of quarters. */
let byHours: Served
let byQuarters: Served
beforeAll(async () => {
  byHours = await served([], undefined, enter)
  byQuarters = await served([], undefined, enter)
  await byQuarters.store.execute('DELETE FROM held_hours; INSERT INTO held_hours FROM held')
}, 60_000)
afterAll(async () => {
  await byHours.close()
  await byQuarters.close()
})

test('hours are fewer rows with the same sums', async () => {
  const count = async ({ store }: Served) => {
    const [row] = await store.rows<{ rows: number; requests: number; credits: string }>(
      'SELECT count(*)::INTEGER AS rows, sum(requests)::INTEGER AS requests, sum(credits)::VARCHAR AS credits FROM held_hours',
    )
    return row!
  }
  const [hours, quarters] = [await count(byHours), await count(byQuarters)]
  expect(hours).toMatchObject({ requests: quarters.requests, credits: quarters.credits })
  expect(hours.rows).toBeLessThan(quarters.rows / 2)
})

test('requests that are alone in their hour have no sums of hours, until others are denser', async () => {
  const alone = await served([], undefined, (store) =>
    enterEvents(
      store,
      Array.from({ length: 1_200 }, (_, at) => ({
        atUs: utc(2026, 10, 3) + (at % 600) * 3600e6,
        id: `a${at}`,
        account: subject.name,
        keyFp: subject.keys[at < 600 ? 0 : 1]!,
      })),
    ),
  )
  try {
    const rows = () => alone.store.rows('SELECT count(*)::INTEGER AS n FROM held_hours')
    const requests = async () => {
      const answer = await alone.ask(
        '/v1/usage/summary?from=2026-10-01&to=2026-12-01',
        await tokenOf(subject.name),
      )
      return Number(((await answer.json()) as { requests: { value: string } }).requests.value)
    }
    expect(await rows()).toEqual([{ n: 0 }])
    expect(await requests()).toBe(1_200)
    const store = await openStore(alone.file)
    await enter(store)
    store.close()
    await alone.portal.refresh()
    expect((await rows())[0]!.n).toBeGreaterThan(1_200)
    // A refund is no request.
    expect(await requests()).toBe(1_200 + 2_400 - 185)
  } finally {
    await alone.close()
  }
})

const zones = ['America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe'] as const
const periods = [
  ['2026-10-01', '2026-12-01'],
  // Whole hours of UTC, which are no whole hours in Kolkata.
  ['2026-10-10T05:00:00Z', '2026-10-12T07:00:00Z'],
  ['2026-10-10T05:15:00Z', '2026-10-12T07:30:00Z'],
] as const

test.each(zones)(
  'each answer and page of %s is what quarters of an hour give',
  {
    tags: 'whole',
    timeout: 120_000,
  },
  async (zone) => {
    const paths = periods.flatMap(([from, to]) => {
      const asked = `from=${from}&to=${to}&timezone=${zone}`
      return [
        ...everyPath
          .filter((path) => /from=(?!.*parquet)/.test(path) && !path.includes('/requests'))
          .map((path) => path.replace(/from=[^&]*&to=[^&]*/, asked)),
        `/v1/usage/series?${asked}&by=model&metric=cost`,
        `/page?${asked}`,
        `/page?${asked}&unit=EUR`,
      ]
    })
    for (const path of paths) {
      const texts = await Promise.all(
        [byHours, byQuarters].map(async (service) => {
          const answer = await service.ask(path, await tokenOf(subject.name))
          expect(answer.status, path).toBe(200)
          return answer.text()
        }),
      )
      expect(texts[0], path).toBe(texts[1])
    }
  },
)
