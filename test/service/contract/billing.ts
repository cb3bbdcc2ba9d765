import { expect } from 'vitest'
import { type Check, check, operated } from './check.ts'
import { type Answer, say, type Target } from './target.ts'

/** The cost of a phase, between two reads of an account that nobody else uses. */
async function cost(t: Target, key: string, phase: () => Promise<unknown>): Promise<number> {
  const before = await t.remaining(key)
  await phase()
  return before - (await t.remaining(key))
}

/**
 * Whether values could have been shown by some order of the requests: sorted from the top, those at
 * or above each value cannot have cost more than the credits missing at it (rulebook, section 2,
 * T1).
 */
function isPossible(values: readonly number[], costs: readonly number[], start: number): boolean {
  const pairs = values.map((value, index) => [value, costs[index]!] as const)
  return pairs.every(
    ([value]) =>
      pairs.reduce((sum, [other, c]) => sum + (other >= value ? c : 0), 0) <= start - value,
  )
}

export const billingChecks: readonly Check[] = [
  operated('BILL-01', 'a success of a plain model costs 1', async (t) => {
    const { key } = await t.account(500)
    for (const model of ['svc-k2', 'svc-k2-0905', 'svc-k2-thinking']) {
      expect(await cost(t, key, () => t.chat({ model }, key))).toBe(1)
      expect(await cost(t, key, () => t.messages({ model }, key))).toBe(1)
    }
  }),
  operated('BILL-02', 'a success of svc-k2.5 costs 2', async (t) => {
    const { key } = await t.account(500)
    expect(await cost(t, key, () => t.chat({ model: 'svc-k2.5' }, key))).toBe(2)
    expect(await cost(t, key, () => t.messages({ model: 'svc-k2.5' }, key))).toBe(2)
  }),
  operated('BILL-03', 'the price depends only on the model', async (t) => {
    const { key } = await t.account(500)
    const long = say('word '.repeat(500))
    for (const [price, model] of [
      [1, 'svc-k2'],
      [2, 'svc-k2.5'],
    ] as const) {
      for (const body of [
        ...[{ n: 4 }, { max_tokens: 1 }, { max_tokens: 8_000, messages: long }, { user: 'u' }],
        ...[{ stream: true }, { stream: true, n: 3 }, { temperature: 0 }, { stop: ['a'] }],
      ]) {
        expect(await cost(t, key, () => t.chat({ model, ...body }, key))).toBe(price)
      }
      for (const body of [{ stream: true }, { max_tokens: 1 }, { messages: long }]) {
        expect(await cost(t, key, () => t.messages({ model, ...body }, key))).toBe(price)
      }
    }
  }),
  operated('BILL-04', 'the price is the same at every balance', async (t) => {
    const { id, key } = await t.account(1)
    for (const { minBalance, maxBalance } of t.contract.bands) {
      for (const balance of [Math.max(2, minBalance), minBalance + 7, maxBalance ?? 5_000_000]) {
        await t.setBalance(id, balance)
        expect(await cost(t, key, () => t.chat({}, key))).toBe(1)
        await t.setBalance(id, balance)
        expect(await cost(t, key, () => t.messages({ model: 'svc-k2.5' }, key))).toBe(2)
      }
    }
  }),
  operated('BILL-05', 'no refusal costs anything', async (t) => {
    const { key } = await t.account(90)
    for (const phase of [
      () => t.chat({ temperature: 9 }, key),
      () => t.chat({ messages: null }, key),
      () => t.chat({ model: 'none' }, key),
      () => t.chat({ stream: true, max_tokens: 0 }, key),
      () => t.messages({ max_tokens: null }, key),
      () => t.chat({}, 'wrong'),
      () => t.get('/v1/nope', key),
      () => t.models(key),
      () => t.creditsOf(key),
    ]) {
      expect(await cost(t, key, phase)).toBe(0)
    }
    let admitted = 0
    const spent = await cost(t, key, async () => {
      for (let request = 0; request < 30; request++) {
        if ((await t.rawChat({}, key)).status === 200) admitted++
      }
    })
    expect(admitted).toBeLessThan(30)
    expect(spent).toBe(admitted)
    const empty = await t.account(0)
    expect(await cost(t, empty.key, () => t.chat({}, empty.key))).toBe(0)
  }),
  operated('BILL-07', 'a stream is charged in full at its end', async (t) => {
    const { key } = await t.account(500)
    const response = await fetch(t.address.baseUrl + t.contract.paths.chat, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'svc-k2.5', stream: true, messages: say('a b c d e f') }),
    })
    expect(response.status).toBe(200)
    // Whether it is already deducted depends on the profile (G-13), but never by more than the
    // price.
    expect([498, 500]).toContain(await t.remaining(key))
    await response.text()
    expect(await t.remaining(key)).toBe(498)
  }),
  operated('BILL-08', 'a charge has settled by the end of the response', async (t) => {
    const { key } = await t.account(500)
    for (let request = 1; request <= 3; request++) {
      await t.chat({ stream: request % 2 === 0 }, key)
      expect(await t.remaining(key)).toBe(500 - request)
    }
  }),
  check('BILL-09', 'X-Credits-Remaining is a whole number, on every plain success', async (t) => {
    for (const answer of [await t.chat(), await t.messages(), await t.chat({ stream: true })]) {
      const value = answer.headers.get(t.contract.headers.creditsRemaining[0])
      // On streams it may be absent (G-12).
      if (value !== null || answer.json !== null) expect(value).toMatch(/^\d+$/)
    }
  }),
  operated('BILL-10', 'the balance falls by what the successes cost', async (t) => {
    const { key } = await t.account(5_000)
    const costs = await cost(t, key, async () => {
      for (let request = 0; request < 20; request++) {
        await t.chat({ stream: request % 2 === 0, model: 'svc-k2.5' }, key)
        await t.messages({ stream: request % 3 === 0 }, key)
        await t.chat({ max_tokens: 0 }, key)
      }
    })
    expect(costs).toBe(20 * 3)
  }),
  operated('BILL-11', 'concurrent values fit some order', async (t) => {
    const { key } = await t.account(8_000)
    const models = Array.from({ length: 24 }, (_, index) => (index % 3 ? 'svc-k2' : 'svc-k2.5'))
    const answers = await Promise.all(models.map((model) => t.rawChat({ model }, key)))
    const costs = models.map((model) => (model === 'svc-k2' ? 1 : 2))
    const ok = answers.flatMap((answer, index) => (answer.status === 200 ? [index] : []))
    const values = ok.map((index) => answers[index]!.credits)
    const paid = ok.map((index) => costs[index]!)
    const before = values.map((value, index) => value - paid[index]!)
    expect(isPossible(values, paid, 8_000) || isPossible(before, paid, 8_000)).toBe(true)
    expect(await t.remaining(key)).toBe(8_000 - paid.reduce((sum, c) => sum + c, 0))
  }),
  operated('BILL-12', 'the header and /user/credits agree', async (t) => {
    const { key } = await t.account(500)
    const { credits } = await t.chat({}, key)
    // Its own charge may not be in it (G-12).
    expect([credits, credits - 1]).toContain(await t.remaining(key))
    const read = await t.creditsOf(key)
    expect(read.credits).toBe(read.json.remaining)
  }),
  operated('BILL-13', 'a balance below the price gives 403 and does not change', async (t) => {
    for (const [balance, model] of [
      [0, 'svc-k2'],
      [1, 'svc-k2.5'],
    ] as const) {
      const { key } = await t.account(balance)
      const { status, json } = await t.chat({ model }, key)
      expect(status).toBe(403)
      expect(json.error).toMatchObject({ code: 'insufficient_credits', type: 'insufficient_quota' })
      expect((await t.messages({ model, stream: true }, key)).status).toBe(403)
      expect(await t.remaining(key)).toBe(balance)
    }
  }),
  operated('BILL-14', 'every credit can be spent, and no more', async (t) => {
    const { key } = await t.account(5)
    const statuses = []
    for (let request = 0; request < 7; request++) statuses.push((await t.chat({}, key)).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 403, 403])
    expect(await t.remaining(key)).toBe(0)
  }),
  operated('BILL-15', 'a burst cannot overdraw', async (t) => {
    const { key } = await t.account(9)
    const burst = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        t.rawChat({ stream: index % 2 === 0, model: index % 4 ? 'svc-k2' : 'svc-k2.5' }, key),
      ),
    )
    const spent = burst.reduce(
      (sum, { status }, index) => sum + (status === 200 ? (index % 4 ? 1 : 2) : 0),
      0,
    )
    expect(spent).toBeLessThanOrEqual(9)
    expect(await t.remaining(key)).toBe(9 - spent)
  }),
  operated('BILL-16', 'keys of an account share its balance', async (t) => {
    const { id, key } = await t.account(500)
    const second = await t.issueKey(id)
    await t.chat({}, key)
    await t.chat({}, second)
    expect([await t.remaining(key), await t.remaining(second)]).toEqual([498, 498])
  }),
  operated('BILL-17', 'a request that is repeated after a refusal costs once', async (t) => {
    const { key } = await t.account(500)
    const retried = async () => {
      const answers: Answer[] = [await t.chat({ model: 'none' }, key), await t.chat({}, key)]
      return answers
    }
    expect(await cost(t, key, retried)).toBe(1)
  }),
]
