import { expect, test } from 'vitest'
import type { ServiceOptions } from '../../src/service/options.ts'
import { manualClock } from './manual-clock.ts'
import { serving, type Target } from './serving.ts'

/** A service with stopped time, so concurrent requests are concurrent on any machine. */
async function still(options: ServiceOptions) {
  const clock = manualClock(Date.UTC(2026, 0) * 1000)
  return { clock, target: await serving({ ...options, clock }) }
}

/** How many more requests the limit allows; it falls with each that has arrived. */
async function left(target: Target, key: string): Promise<number> {
  return Number((await target.get('/v1/models', key)).headers.get('x-ratelimit-remaining'))
}

/** Continues once all of them have arrived. */
async function together(count: number, key: number, options: ServiceOptions): Promise<Target> {
  const { clock, target } = await still(options)
  const apiKey = target.key(key)
  const before = await left(target, apiKey)
  const answers = Array.from({ length: count }, () => target.chat({}, apiKey))
  await expect.poll(() => left(target, apiKey)).toBe(before - count)
  clock.advance(1e6)
  await Promise.all(answers)
  return target
}

test('with a lost update, the charges are less than the cost of the successes', async () => {
  const target = await together(50, 4, { faults: ['lost-update'] })
  expect((await target.credits()).remaining).toBeGreaterThan(1_000_000 - 50)
})

test('with a charge after the check, concurrent requests overdraw a small balance', async () => {
  const accounts = [{ name: 'a', balance: 5 }]
  const target = await together(15, 1, { accounts, faults: ['check-then-act'] })
  expect(target.service.operator.balance(target.service.keys[0]!.account)).toBeLessThan(0)
})

test('with a late count, a burst exceeds the limit', async () => {
  const burst = async (faults: readonly string[]) => {
    const { target } = await still({ accounts: [{ name: 'a', balance: 100 }], faults })
    const responses = await Promise.all(
      Array.from({ length: 40 }, () => target.chat({}, target.key(1))),
    )
    return responses.filter(({ status }) => status === 200).length
  }
  expect(await burst([])).toBe(20)
  expect(await burst(['rate-non-atomic'])).toBeGreaterThan(20)
})

test('a stream arrives in pieces, and in one piece only if it is buffered', async () => {
  /**
   * What a client has received of a stream of ten words: after the first was due, halfway, and at
   * the end.
   */
  const words = async (faults: readonly string[]) => {
    const { clock, target } = await still({
      faults,
      shape: {
        timeToFirstUs: { kind: 'constant', value: 10_000 },
        betweenTokensUs: { kind: 'constant', value: 10_000 },
        lengthTokens: { kind: 'constant', value: 10 },
      },
    })
    const had: number[] = []
    let text = ''
    const before = await left(target, target.key())
    const read = target.chat({ stream: true }).then(async ({ body }) => {
      for await (const part of body!.pipeThrough(new TextDecoderStream())) text += part
    })
    await expect.poll(() => left(target, target.key())).toBe(before - 1)
    const soFar = () => text.match(/"content":"[^"]/g)?.length ?? 0
    for (const [tokens, due] of [
      [1, 1],
      [5, 6],
      [4, 10],
    ] as const) {
      clock.advance(tokens * 10_000)
      // A buffered stream has nothing until its end, however long the wait.
      if (faults.length === 0 || due === 10) await expect.poll(soFar).toBe(due)
      else for (let round = 0; round < 5; round++) await left(target, target.key())
      had.push(soFar())
    }
    await read
    return had
  }
  expect(await words([])).toEqual([1, 6, 10])
  expect(await words(['stream-buffered'])).toEqual([0, 0, 10])
})
