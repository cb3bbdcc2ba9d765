import { expect } from 'vitest'
import { type Check, operated } from './check.ts'

interface Line {
  readonly credits: number
  readonly requests: number
  readonly date: string
}

const sum = (lines: readonly Line[]) => lines.reduce((total, { credits }) => total + credits, 0)

export const usageChecks: readonly Check[] = [
  operated('USE-01', 'usage has consumed, remaining, hours, days and average tokens', async (t) => {
    const { key } = await t.account(500)
    await t.chat({ model: 'svc-k2.5' }, key)
    const { json } = await t.creditsOf(key)
    expect(json).toMatchObject({ total_consumed: 2, remaining: 498, requests: 1 })
    expect(json.by_hour).toHaveLength(1)
    expect(json.by_day).toHaveLength(1)
    expect(json.average_tokens_per_request).toBeGreaterThan(0)
  }),
  operated('USE-02', 'granted credits are consumed or remain', async (t) => {
    const { key } = await t.account(500)
    await t.chat({}, key)
    await t.chat({ temperature: 9 }, key)
    const { total_granted, total_consumed, remaining } = (await t.creditsOf(key)).json
    expect([total_granted, total_consumed, remaining]).toEqual([500, 1, 499])
  }),
  operated('USE-03', 'hours add up to days, days to the total', async (t) => {
    const { key } = await t.account(500)
    for (let hour = 0; hour < 4; hour++) {
      await t.chat({ model: hour % 2 ? 'svc-k2' : 'svc-k2.5' }, key)
      await t.advance(7 * 3_600)
    }
    for (const zone of ['UTC', 'America/New_York', 'Asia/Kolkata']) {
      const { by_hour, by_day, total_consumed } = (await t.creditsOf(key, `?timezone=${zone}`)).json
      for (const { date, credits } of by_day) {
        expect(sum(by_hour.filter((hour: Line) => hour.date === date))).toBe(credits)
      }
      expect(sum(by_day)).toBe(total_consumed)
      expect(total_consumed).toBe(6)
    }
  }),
  operated('USE-04', 'usage matches the requests, including streams', async (t) => {
    const { key } = await t.account(500)
    let tokens = 0
    for (const body of [{}, { n: 2 }, { max_tokens: 2 }]) {
      tokens += (await t.chat(body, key)).json.usage.total_tokens
      await t.chat({ ...body, stream: true }, key)
    }
    const { usage } = (await t.messages({}, key)).json
    const { requests, total_consumed, average_tokens_per_request } = (await t.creditsOf(key)).json
    expect([requests, total_consumed]).toEqual([7, 7])
    const expected = (2 * tokens + usage.input_tokens + usage.output_tokens) / 7
    expect(average_tokens_per_request).toBeCloseTo(expected, 6)
  }),
  operated('USE-05', 'the average is tokens over requests', async (t) => {
    const { key } = await t.account(500)
    const totals = []
    for (const max_tokens of [1, 1, 1, 6]) {
      totals.push((await t.chat({ max_tokens }, key)).json.usage.total_tokens)
      if (max_tokens === 1 && totals.length === 3) await t.advance(7_200)
    }
    const { average_tokens_per_request } = (await t.creditsOf(key)).json
    expect(average_tokens_per_request).toBeCloseTo(totals.reduce((a, b) => a + b) / 4, 6)
  }),
  operated('USE-06', 'adjacent ranges add up', async (t) => {
    const { key } = await t.account(500)
    await t.chat({}, key)
    await t.advance(7_200)
    const middle = (await t.creditsOf(key)).json.to
    await t.chat({ model: 'svc-k2.5' }, key)
    const before = (await t.creditsOf(key, `?to=${middle}`)).json.consumed
    const after = (await t.creditsOf(key, `?from=${middle}`)).json.consumed
    expect(before + after).toBe(3)
  }),
  operated('USE-07', 'consumed never decreases', async (t) => {
    const { key } = await t.account(500)
    let before = 0
    for (let request = 0; request < 4; request++) {
      if (request % 2) await t.chat({ temperature: 9 }, key)
      else await t.chat({}, key)
      const { total_consumed } = (await t.creditsOf(key)).json
      expect(total_consumed).toBeGreaterThanOrEqual(before)
      before = total_consumed
    }
  }),
]
