import { expect } from 'vitest'
import { bandsAt } from '../../../src/contract/contract.ts'
import { type Check, check, operated } from './check.ts'
import type { Answer, Target } from './target.ts'

/** Sequential requests until one is refused; at most `most`. */
async function burst(t: Target, key: string, most: number): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  while (answers.length < most) {
    const answer = await (answers.length % 2 ? t.rawMessages({}, key) : t.rawChat({}, key))
    answers.push(answer)
    if (answer.status === 429) break
  }
  return answers
}

const admitted = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 200)

/** Seconds until X-RateLimit-Reset, by the unit that fits; the service's own clock is its Date. */
function untilReset({ headers, reset }: Answer): number {
  const nowS = Date.parse(headers.get('date') ?? '') / 1000
  if (reset > 1e14) return reset / 1e6 - nowS
  if (reset > 1e11) return reset / 1000 - nowS
  if (reset > 1e9) return reset - nowS
  return reset
}

/**
 * The same for a window of a minute, in seconds: a value that does not fit seconds is in
 * milliseconds. A sliding counter that counts rejections takes two minutes to forget.
 */
function secondsUntilReset(answer: Answer): number {
  const until = untilReset(answer)
  return answer.reset < 1e9 && until > 122 ? until / 1000 : until
}

export const limitChecks: readonly Check[] = [
  operated('RATE-01', 'the limit is that of the row for the balance', async (t) => {
    for (const { minBalance, requests } of t.contract.bands) {
      const { key } = await t.account(minBalance + 5)
      expect(Object.values(requests)).toContain((await t.chat({}, key)).limit)
    }
  }),
  operated('RATE-02', 'the rows end where the table says', async (t) => {
    const { id, key } = await t.account(1)
    for (const { minBalance, maxBalance } of t.contract.bands) {
      for (const balance of [minBalance, maxBalance ?? 50_000]) {
        await t.setBalance(id, balance)
        await t.advance(61)
        const answer = await t.chat({ model: 'svc-k2' }, key)
        // The band may be that of the balance after the charge (G-24).
        const rows = [...bandsAt(t.contract, balance), ...bandsAt(t.contract, balance - 1)]
        const limits = rows.flatMap(({ requests }) => Object.values(requests))
        if (balance > 1) expect(limits).toContain(answer.limit)
      }
    }
  }),
  operated('RATE-03', 'no minute admits more than twice the limit', async (t) => {
    const { key } = await t.account(90)
    const minute = t.contract.bands[0]!.requests.minute
    let within = 0
    for (const aheadS of [0, 29, 29]) {
      await t.advance(aheadS)
      within += admitted(await burst(t, key, 2 * minute)).length
    }
    expect(within).toBeLessThanOrEqual(2 * minute)
  }),
  operated('RATE-04', 'a burst from idle admits no more than the limit', async (t) => {
    const minute = t.contract.bands[0]!.requests.minute
    const { key } = await t.account(95)
    const sizes = []
    for (let phase = 0; phase < 2; phase++) {
      await t.advance(150)
      const answers = await Promise.all(
        Array.from({ length: Math.ceil(1.5 * minute) }, () => t.rawChat({}, key)),
      )
      sizes.push(admitted(answers).length)
    }
    expect(Math.min(...sizes)).toBeLessThanOrEqual(minute)
    expect(Math.min(...sizes)).toBeGreaterThan(0)
  }),
  operated('RATE-05', 'requests at the pace of the limit are never refused', async (t) => {
    const { key } = await t.account(90)
    const minute = t.contract.bands[0]!.requests.minute
    const statuses = new Set<number>()
    for (let request = 0; request < 1.5 * minute; request++) {
      await t.advance(60 / minute + 0.01)
      statuses.add((await t.rawChat({}, key)).status)
    }
    expect([...statuses]).toEqual([200])
  }),
  operated('RATE-06', 'a request beyond the limit gets 429 with its code', async (t) => {
    const { key } = await t.account(90)
    await burst(t, key, 50)
    const { status, json } = await t.rawChat({ stream: true }, key)
    expect(status).toBe(429)
    expect(json.error).toMatchObject({ code: 'rate_limit_exceeded', type: 'rate_limit_error' })
    const { status: second, json: message } = await t.rawMessages({}, key)
    expect([second, message.error.type]).toEqual([429, 'rate_limit_error'])
  }),
  operated('RATE-07', 'successes and 429 have three numeric headers', async (t) => {
    const { key } = await t.account(90)
    const answers = await burst(t, key, 50)
    expect(answers.at(-1)!.status).toBe(429)
    const { rateLimit, rateRemaining, rateReset } = t.contract.headers
    for (const { headers } of answers) {
      for (const [name] of [rateLimit, rateRemaining, rateReset!]) {
        expect(headers.get(name)).toMatch(/^\d+(\.\d+)?$/)
      }
    }
  }),
  operated('RATE-08', 'remaining is between zero and the limit', async (t) => {
    const { key } = await t.account(90)
    for (const { limit, remaining } of await burst(t, key, 50)) {
      expect(Number.isInteger(remaining)).toBe(true)
      expect(remaining).toBeGreaterThanOrEqual(0)
      expect(remaining).toBeLessThanOrEqual(limit)
    }
  }),
  operated('RATE-09', 'remaining falls by one for each counted request', async (t) => {
    const { key } = await t.account(90)
    const answers = admitted(await burst(t, key, 15))
    for (const window of new Set(answers.map(({ limit }) => limit))) {
      const shown = answers.flatMap((answer, index) =>
        answer.limit === window ? [{ index, remaining: answer.remaining }] : [],
      )
      const [first, last] = [shown[0]!, shown.at(-1)!]
      const counted = last.index - first.index
      // A bucket may have refilled by one meanwhile.
      const fallen = first.remaining - last.remaining
      expect([counted, counted - 1]).toContain(fallen)
    }
  }),
  operated('RATE-10', 'remaining is zero on 429', async (t) => {
    const { key } = await t.account(90)
    const refused = (await burst(t, key, 50)).at(-1)!
    expect([refused.status, refused.remaining]).toEqual([429, 0])
  }),
  operated('RATE-11', 'as many requests as remain are admitted', async (t) => {
    const { key } = await t.account(90)
    const answers = await burst(t, key, 50)
    const minute = t.contract.bands[0]!.requests.minute
    for (const [index, { limit, remaining }] of answers.slice(0, -1).entries()) {
      if (limit === minute && remaining > 0) expect(answers[index + 1]!.status).toBe(200)
    }
  }),
  operated('RATE-12', 'the reset is within its window', async (t) => {
    const { key } = await t.account(90)
    const { requests } = t.contract.bands[0]!
    const horizonS = { [requests.minute]: 60, [requests.hour]: 3_600, [requests.day]: 86_400 }
    const units = new Set<string>()
    for (const answer of await burst(t, key, 50)) {
      const horizon = horizonS[answer.limit]!
      const until = untilReset(answer)
      // A delta in milliseconds is a thousand times its seconds.
      const fitting = until <= horizon + 2 ? until : until / 1000
      expect(fitting).toBeGreaterThanOrEqual(-1)
      expect(fitting).toBeLessThanOrEqual(horizon + 2)
      units.add(answer.reset > 1e11 ? 'epoch-ms' : answer.reset > 1e9 ? 'epoch-s' : 'delta')
    }
    expect(units.size).toBe(1)
  }),
  operated('RATE-13', 'after the reset a request is admitted again', async (t) => {
    const { key } = await t.account(90)
    const refused = (await burst(t, key, 50)).at(-1)!
    await t.advance(secondsUntilReset(refused) + 0.1)
    expect((await t.rawChat({}, key)).status).toBe(200)
  }),
  operated('RATE-14', 'each key has its own limit', async (t) => {
    const { id, key } = await t.account(90)
    const sibling = await t.issueKey(id)
    // Used before the other: the initial count of a new key is open (G-36).
    expect((await t.rawChat({}, sibling)).status).toBe(200)
    const stranger = await t.account(90)
    await burst(t, key, 50)
    expect((await t.rawChat({}, key)).status).toBe(429)
    await t.advance(3)
    expect((await t.rawChat({}, sibling)).status).toBe(200)
    expect((await t.rawChat({}, stranger.key)).status).toBe(200)
  }),
  operated('RATE-15', 'both endpoints share one count', async (t) => {
    const { key } = await t.account(90)
    while ((await t.rawChat({}, key)).status !== 429);
    expect((await t.rawMessages({}, key)).status).toBe(429)
  }),
  operated('RATE-16', 'there is a limit per hour', (t) => longWindow(t, 'hour')),
  operated('RATE-17', 'there is a limit per day', (t) => longWindow(t, 'day')),
  operated('RATE-18', 'the limits of a new band apply by the next window', async (t) => {
    const [first, second] = t.contract.bands as [Row, Row]
    const { id, key } = await t.account(second.minBalance + 1)
    const high = (await t.chat({}, key)).limit
    expect(Object.values(second.requests)).toContain(high)
    await t.setBalance(id, first.maxBalance! - 5)
    expect([...Object.values(first.requests), ...Object.values(second.requests)]).toContain(
      (await t.chat({}, key)).limit,
    )
    await t.advance(86_401)
    expect(Object.values(first.requests)).toContain((await t.chat({}, key)).limit)
  }),
  operated('RATE-19', 'Retry-After, if present, is not before the reset', async (t) => {
    const { key } = await t.account(90)
    const refused = (await burst(t, key, 50)).at(-1)!
    const value = refused.headers.get('retry-after')
    if (value === null) return
    const nowS = Date.parse(refused.headers.get('date')!) / 1000
    const waitS = /^\d+$/.test(value) ? Number(value) : Date.parse(value) / 1000 - nowS
    const until = secondsUntilReset(refused)
    expect(waitS).toBeGreaterThanOrEqual(Math.floor(until) - 1)
    expect(waitS).toBeLessThanOrEqual(Math.max(60, until) + 2)
  }),
  check('RATE-20', 'reading models and credits does not exhaust a key', async (t) => {
    expect((await t.models()).status).toBe(200)
    expect((await t.creditsOf(t.address.key)).status).toBe(200)
  }),
]

type Row = Target['contract']['bands'][number]

/** Spreads requests so that the shorter windows never fill, until this one does. */
async function longWindow(t: Target, window: 'hour' | 'day'): Promise<void> {
  const { requests } = t.contract.bands[0]!
  const { id, key } = await t.account(90)
  const apartS = window === 'hour' ? 61 / requests.minute : 3_601 / requests.hour
  let admittedInWindow = 0
  for (; admittedInWindow <= requests[window]; admittedInWindow++) {
    if (admittedInWindow % 40 === 0) await t.setBalance(id, 90)
    await t.advance(apartS)
    if ((await t.rawChat({}, key)).status === 429) break
  }
  // Sliding windows admit a little more than one window's worth.
  expect(admittedInWindow).toBeLessThanOrEqual(2 * requests[window])
  if (apartS * requests[window] < (window === 'hour' ? 3_600 : 86_400) / 2) {
    expect(admittedInWindow).toBeGreaterThan(0)
  }
}
