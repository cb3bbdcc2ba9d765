import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Answers } from '../../src/portal/api/shapes.ts'
import { openSettings } from '../../src/portal/settings/opened-settings.ts'
import { subject } from '../report/marked-accounts.ts'
import { enterEvents, utc } from '../report/usage-events.ts'
import { openStore, type Store } from '../store/opened.ts'
import { env, everyPath, type Served, served, settingsOf, tokenOf } from './portal.ts'

/** Requests at every quarter of an hour, most hours of one key and model, with refunds and a second currency between them. */
const events = Array.from({ length: 2_400 }, (_, at) => {
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
})
const enter = (store: Store) => enterEvents(store, events)

/** What was used from one time to another, as this test alone adds it up. */
function usedIn(from: string, to: string) {
  const [fromUs, toUs] = [from, to].map((text) => Date.parse(text) * 1000) as [number, number]
  const own = events.filter(({ atUs }) => atUs >= fromUs && atUs < toUs)
  const quarters = own
    .filter(({ unit }) => unit === 'credits')
    .reduce((sum, { credits }) => sum + 4 * Number(credits), 0)
  return {
    requests: own.filter((each) => !('type' in each)).length,
    credits: quarters / 4,
  }
}

async function summaryOf({ ask }: Served, from: string, to: string) {
  const answer = await ask(`/v1/usage/summary?from=${from}&to=${to}`, await tokenOf(subject.name))
  const { requests, credits } = (await answer.json()) as Answers['summary']
  return { requests: Number(requests.value), credits: Number(credits!.value) }
}

const inZone = (zone: string) =>
  settingsOf(`accounts: { ${subject.name}: { timezone: ${zone} } }\n`)

const tablesOf = (made: number) =>
  ['', '_keys', '_models', '_total'].map((name) => `held_days_${made}${name}`)

/** A service of an account in a zone, whose sums of hours and days are those of quarters. */
async function quartersAlone(zone: string): Promise<Served> {
  const made = await served([], inZone(zone), enter)
  await made.store.execute('DELETE FROM held_hours; INSERT INTO held_hours FROM held')
  for (const days of tablesOf(1)) {
    const columns = await made.store.rows<{ name: string }>(
      `SELECT column_name AS name FROM duckdb_columns() WHERE table_name = '${days}'`,
    )
    const ofDays = columns.map(({ name }) => name).join()
    await made.store.execute(
      `DELETE FROM ${days}; INSERT INTO ${days} BY NAME SELECT ${ofDays} FROM held`,
    )
  }
  return made
}

/** The service, and one whose sums of hours and days are those of quarters. */
let byHours: Served
let byQuarters: Served
beforeAll(async () => {
  byHours = await served([], inZone('UTC'), enter)
  byQuarters = await quartersAlone('UTC')
}, 60_000)
afterAll(async () => {
  await byHours.close()
  await byQuarters.close()
})

test('each period has the requests and credits of its time, from days, hours or quarters', async () => {
  const own = await served([], inZone('UTC'), enter)
  const days = ['2026-10-05', '2026-10-12'] as const
  const hours = ['2026-10-10T05:00:00Z', '2026-10-12T07:00:00Z'] as const
  const quarters = ['2026-10-10T05:15:00Z', '2026-10-10T05:45:00Z'] as const
  try {
    expect(await summaryOf(own, ...days)).toEqual(usedIn(...days))
    expect(await summaryOf(own, ...hours)).toEqual(usedIn(...hours))
    expect(await summaryOf(own, ...quarters)).toEqual(usedIn(...quarters))
    expect(usedIn(...days).requests).toBe(7 * 96 - 52)
    // Without the rows of days and hours, what is read from them is gone.
    for (const table of [...tablesOf(1), 'held_hours'])
      await own.store.execute(`DELETE FROM ${table}`)
    own.portal.forget()
    expect((await summaryOf(own, ...days)).requests).toBe(0)
    expect((await summaryOf(own, ...hours)).requests).toBe(0)
    expect(await summaryOf(own, ...quarters)).toEqual(usedIn(...quarters))
  } finally {
    await own.close()
  }
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

test('days of fewer names have the sums of all, also of the rows that a condition tells apart', async () => {
  const sumsIn = async (table: string) => {
    const judged = [
      'true',
      'credits_known > 0',
      'credits IS NULL',
      'requests > 0',
      'refunds IS NULL',
    ]
    const sums = judged.map(
      (sql, at) =>
        `sum(requests) FILTER (${sql})::INTEGER AS requests_${at}, sum(credits) FILTER (${sql})::VARCHAR AS credits_${at}, max(last_us) FILTER (${sql}) AS last_${at}`,
    )
    const [row] = await byHours.store.rows<{ rows: number }>(
      `SELECT count(*)::INTEGER AS rows, ${sums.join(', ')} FROM ${table}`,
    )
    const { rows, ...all } = row!
    return { rows, all }
  }
  const [days, ...fewer] = await Promise.all(tablesOf(1).map(sumsIn))
  for (const { rows, all } of fewer) {
    expect(all).toEqual(days!.all)
    expect(rows).toBeLessThanOrEqual(days!.rows)
  }
  expect(fewer.at(-1)!.rows).toBeLessThan(days!.rows)
})

test('requests that are alone in their hour have no sums of hours, until others are denser', {
  tags: 'whole',
}, async () => {
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

/** Whether both give the same to each question about a period; the zone is that of the account unless it is asked for. */
async function expectSame(
  services: readonly Served[],
  periods: readonly (readonly [from: string, to: string])[],
  zone = '',
): Promise<void> {
  const paths = periods.flatMap(([from, to]) => {
    const asked = `from=${from}&to=${to}${zone === '' ? '' : `&timezone=${zone}`}`
    return [
      ...everyPath
        .filter((path) => /from=(?!.*parquet)/.test(path) && !path.includes('/requests'))
        .map((path) => path.replace(/from=[^&]*&to=[^&]*/, asked)),
      `/v1/usage/series?${asked}&by=model&metric=cost`,
      `/page?${asked}`,
      `/page?${asked}&unit=EUR`,
    ]
  })
  // A page has the zone of its account.
  for (const path of zone === '' ? paths : paths.filter((each) => !each.startsWith('/page'))) {
    const texts = await Promise.all(
      services.map(async (service) => {
        const answer = await service.ask(path, await tokenOf(subject.name))
        expect(answer.status, path).toBe(200)
        return answer.text()
      }),
    )
    expect(texts[0], path).toBe(texts[1])
  }
}

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
  (zone) => expectSame([byHours, byQuarters], periods, zone),
)

/** Zones whose clocks change in October and November 2026, one of them by half an hour, and one whose hours are not those of UTC. */
const ownZones = ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe']

test.each(ownZones)(
  'each answer and page of an account in %s is what quarters of an hour give, and its days are those of its clock',
  { tags: 'whole', timeout: 240_000 },
  async (zone) => {
    const services = [await served([], inZone(zone), enter), await quartersAlone(zone)]
    try {
      const [days] = await services[0]!.store.rows<object>(
        `SELECT sum(requests)::INTEGER AS requests, sum(credits)::VARCHAR AS credits,
           bool_and(timezone('${zone}', make_timestamptz(first_us))::DATE = timezone('${zone}', make_timestamptz(last_us))::DATE) AS "isOfOneDay",
           count(*) < (SELECT count(*) FROM held) / 2 AS "isFew"
         FROM held_days_1`,
      )
      const [held] = await services[0]!.store.rows<object>(
        'SELECT sum(requests)::INTEGER AS requests, sum(credits)::VARCHAR AS credits FROM held',
      )
      expect(days).toEqual({ ...held, isOfOneDay: true, isFew: true })
      await expectSame(services, [
        ['2026-10-01', '2026-11-01'],
        ['2026-10-20', '2026-10-28'],
        ['2026-10-05T05:00:00Z', '2026-10-12T07:15:00Z'],
      ])
    } finally {
      for (const each of services) await each.close()
    }
  },
)

test('days of another zone are made once the settings have it, and answers are right before that', {
  tags: 'whole',
}, async () => {
  let settings = openSettings(inZone('Europe/Berlin'), env)
  const own = await served([], settings.settings, enter, undefined, { settings: () => settings })
  try {
    const days = async () => {
      const answer = await own.ask(
        '/v1/usage/breakdown?from=2026-10-03&to=2026-10-05&by=day&sort=name',
        await tokenOf(subject.name),
      )
      const { rows } = (await answer.json()) as { rows: { name: string; requests: number }[] }
      return rows.map(({ name, requests }) => `${name} ${requests}`)
    }
    const inKolkata = await quartersAlone('Asia/Kolkata')
    const expected = await inKolkata.ask(
      '/v1/usage/breakdown?from=2026-10-03&to=2026-10-05&by=day&sort=name',
      await tokenOf(subject.name),
    )
    const { rows } = (await expected.json()) as { rows: { name: string; requests: number }[] }
    await inKolkata.close()
    const ofKolkata = rows.map(({ name, requests }) => `${name} ${requests}`)
    expect(await days()).not.toEqual(ofKolkata)
    settings = openSettings(inZone('Asia/Kolkata'), env)
    expect(await days()).toEqual(ofKolkata)
    const store = await openStore(own.file)
    await enterEvents(store, [{ atUs: utc(2026, 9, 1), id: 'early', account: subject.name }])
    store.close()
    await own.portal.refresh()
    own.portal.forget()
    expect(await days()).toEqual(ofKolkata)
    const tables = await own.store.rows<{ name: string }>(
      `SELECT table_name AS name FROM duckdb_tables() WHERE table_name LIKE 'held_days%'`,
    )
    expect(tables.map(({ name }) => name).sort()).toEqual([...tablesOf(1), ...tablesOf(2)])
  } finally {
    await own.close()
  }
})
