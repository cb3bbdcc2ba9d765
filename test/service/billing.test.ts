import { expect, test } from 'vitest'
import { manualClock } from './manual-clock.ts'
import { serving } from './serving.ts'

const later = { timeToFirstUs: { kind: 'constant', value: 20_000 } } as const

test('64 concurrent requests on an account with 50 credits get exactly 50 successes, and never a negative balance', async () => {
  for (const shape of [{}, later]) {
    const target = await serving({
      accounts: [{ name: 'small', balance: 50 }],
      // Its limit must not be what refuses.
      faults: ['wrong-band-limit'],
      shape,
    })
    const key = target.key(1)
    const responses = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        index % 2 ? target.chat({ stream: index % 4 === 1 }, key) : target.messages({}, key),
      ),
    )
    const bodies = await Promise.all(responses.map((response) => response.text()))
    expect(bodies).toHaveLength(64)
    const statuses = responses.map((response) => response.status).sort()
    expect(statuses).toEqual([...Array(50).fill(200), ...Array(14).fill(403)])
    const values = responses
      .filter((response) => response.status === 200)
      .map((response) => Number(response.headers.get('x-credits-remaining')))
    expect(values.sort((a, b) => b - a)).toEqual(Array.from({ length: 50 }, (_, i) => 49 - i))
    expect(target.service.operator.balance(target.service.keys[0]!.account)).toBe(0)
  }
})

test('svc-k2.5 costs 2, every other model 1', async () => {
  const target = await serving({ accounts: [{ name: 'a', balance: 100 }] })
  const key = target.key(1)
  const left = []
  for (const model of ['svc-k2', 'svc-k2-0905', 'svc-k2-thinking', 'svc-k2.5']) {
    const response = await target.messages({ model }, key)
    left.push(Number(response.headers.get('x-credits-remaining')))
  }
  expect(left).toEqual([99, 98, 97, 95])
})

test('a balance below the price is refused with 403 and kept', async () => {
  const target = await serving({ accounts: [{ name: 'a', balance: 1 }] })
  const response = await target.chat({ model: 'svc-k2.5' }, target.key(1))
  expect(response.status).toBe(403)
  expect(await response.json()).toMatchObject({
    error: { code: 'insufficient_credits', type: 'insufficient_quota' },
  })
  expect((await target.credits(target.key(1))).remaining).toBe(1)
})

test('a stream is charged when it completes, not when it begins', async () => {
  const clock = manualClock(Date.UTC(2026, 0) * 1000)
  const target = await serving({
    clock,
    accounts: [{ name: 'a', balance: 10 }],
    shape: { betweenTokensUs: { kind: 'constant', value: 10_000 } },
  })
  const key = target.key(1)
  const response = await target.chat({ stream: true }, key)
  expect((await target.credits(key)).remaining).toBe(10)
  clock.advance(60_000)
  expect(await response.text()).toContain('data: [DONE]')
  expect((await target.credits(key)).remaining).toBe(9)
})

test('a double charge affects about its share of requests', async () => {
  const target = await serving({ faults: ['double-charge=0.25'] })
  // Sequentially: with concurrent requests, the scheduler decides which ones the seed's draws
  // affect.
  for (let nth = 0; nth < 200; nth++) await target.chat()
  const { requests, total_consumed } = await target.credits()
  const doubled = total_consumed! - 200
  expect(requests).toBe(200 + doubled)
  expect(doubled).toBeGreaterThan(25)
  expect(doubled).toBeLessThan(80)
})

test('a fault can affect a single request: the third success is charged twice', async () => {
  const target = await serving({ faults: ['double-charge=#3'] })
  const consumed: number[] = []
  for (let nth = 0; nth < 5; nth++) {
    await target.chat()
    consumed.push((await target.credits()).total_consumed!)
  }
  expect(consumed).toEqual([1, 2, 4, 5, 6])
})
