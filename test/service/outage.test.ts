import { expect, test } from 'vitest'
import { serving } from './serving.ts'

test('BILL-06: a failure of the service costs nothing, in the shape of its format', async () => {
  for (const status of [500, 503] as const) {
    const target = await serving({ outage: { status, probability: 1 } })
    const chat = await target.chat()
    const messages = await target.messages({ stream: true })
    expect([chat.status, messages.status]).toEqual([status, status])
    const { error } = (await chat.json()) as { error: Record<string, string> }
    expect(Object.values(error).every((value) => typeof value === 'string')).toBe(true)
    expect(await messages.json()).toMatchObject({ type: 'error', error: { type: 'api_error' } })
    expect((await target.credits()).total_consumed).toBe(0)
    expect((await target.credits()).remaining).toBe(1_000_000)
  }
})

test('failures come at the requested rate, from the seed', async () => {
  const statuses = async (seed: number) => {
    const target = await serving({ seed, outage: { status: 503, probability: 0.3 } })
    const seen = []
    for (let request = 0; request < 60; request++) seen.push((await target.chat()).status)
    return seen
  }
  const first = await statuses(1)
  const failures = first.filter((status) => status === 503).length
  expect(failures).toBeGreaterThan(6)
  expect(failures).toBeLessThan(32)
  expect(await statuses(1)).toEqual(first)
  expect(await statuses(2)).not.toEqual(first)
})
