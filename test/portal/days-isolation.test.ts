import { afterAll, beforeAll, expect, test } from 'vitest'
import { type MarkedAccount, others, subject } from '../report/marked-accounts.ts'
import { enterEvents, utc } from '../report/usage-events.ts'
import type { Store } from '../store/opened.ts'
import { bytesOf, everyPath, type Served, served, settingsOf, tokenOf } from './portal.ts'

const other = others[0]!
/** Enough requests that the copy keeps sums of hours and of days. */
const events = 1_500

/** Requests of accounts whose model has a name of both, and whose hours are the same. */
const enter = (of: readonly MarkedAccount[]) => (store: Store) =>
  enterEvents(
    store,
    of.flatMap((account) =>
      Array.from({ length: events }, (_, at) => ({
        atUs: utc(2026, 11, 2) + at * 900e6 + (at % 7) * 1e6,
        id: account.id(at),
        account: account.name,
        keyFp: account.keys[Math.floor(at / 8) % 2]!,
        model: Math.floor(at / 8) % 3 === 0 ? account.model : 'svc-k2',
        endpoint: at % 50 === 0 ? account.endpoint : 'chat',
        outcome: at % 11 === 0 ? 'http_error' : 'ok',
        credits: `${account.amount}`,
        tags: JSON.stringify({ team: account.tag }),
      })),
    ),
  )

const settings = (of: readonly MarkedAccount[]) =>
  settingsOf(
    `accounts:\n${of.map(({ name, amount }) => `  ${name}: { budget: '${amount}', tags: [team] }`).join('\n')}\n`,
  )

let both: Served
let alone: Served
beforeAll(async () => {
  both = await served([], settings([subject, other]), enter([subject, other]))
  alone = await served([], settings([subject]), enter([subject]))
}, 60_000)
afterAll(async () => {
  await both.close()
  await alone.close()
})

const bytesIn = async ({ ask }: Served, path: string, claims = {}) =>
  bytesOf(await ask(path, await tokenOf(subject.name, { ...claims, jti: `${Math.random()}` })))

test('sums of days of another account change no byte of an answer, and none of it is in one', {
  tags: 'whole',
  timeout: 120_000,
}, async () => {
  const held = await both.store.rows<{ table: string }>(
    `SELECT table_name AS table FROM duckdb_tables() WHERE table_name LIKE 'held_days%' AND estimated_size > 0`,
  )
  expect(held).toHaveLength(4)
  const marks = [
    other.name,
    other.model,
    other.endpoint,
    other.tag,
    `${other.amount}`,
    ...other.keys,
  ]
  for (const path of everyPath) {
    const [one, two] = [await bytesIn(both, path), await bytesIn(alone, path)]
    expect([path, one]).toEqual([path, two])
    expect([path, one.slice(0, 3), marks.filter((mark) => one.includes(mark))]).toEqual([
      path,
      '200',
      [],
    ])
  }
})

test('a token of one key reads the days of that key alone, also where a question names no key', async () => {
  const asked = '/v1/usage/summary?from=2026-11-01&to=2026-12-01'
  const requestsOf = async (claims: object) => {
    const { requests } = JSON.parse((await bytesIn(both, asked, claims)).replace(/^[^{]*/, '')) as {
      requests: { value: string }
    }
    return Number(requests.value)
  }
  const own = Array.from({ length: events }, (_, at) => Math.floor(at / 8) % 2)
  for (const [at, key] of subject.keys.entries())
    expect(await requestsOf({ keys: [key] })).toBe(own.filter((each) => each === at).length)
  expect(await requestsOf({})).toBe(events)
  expect(await requestsOf({ keys: [other.keys[0]] })).toBe(0)
})
