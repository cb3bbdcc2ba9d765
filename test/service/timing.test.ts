import { expect, test } from 'vitest'
import { serving } from './serving.ts'

test('a lost update charges less than the successes cost', async () => {
  const target = await serving({ faults: ['lost-update'] })
  await Promise.all(Array.from({ length: 50 }, () => target.chat()))
  expect((await target.credits()).remaining).toBeGreaterThan(1_000_000 - 50)
})

test('checked first and charged later, a small balance is overdrawn', async () => {
  const target = await serving({
    accounts: [{ name: 'a', balance: 5 }],
    faults: ['check-then-act'],
  })
  await Promise.all(Array.from({ length: 15 }, () => target.chat({}, target.key(1))))
  expect(target.service.operator.balance(target.service.keys[0]!.account)).toBeLessThan(0)
})

test('counted late, a burst exceeds the limit', async () => {
  const burst = async (faults: readonly string[]) => {
    const target = await serving({ accounts: [{ name: 'a', balance: 100 }], faults })
    const responses = await Promise.all(
      Array.from({ length: 40 }, () => target.chat({}, target.key(1))),
    )
    return responses.filter(({ status }) => status === 200).length
  }
  expect(await burst([])).toBe(20)
  expect(await burst(['rate-non-atomic'])).toBeGreaterThan(20)
})

test('a stream comes bit by bit, and in one piece only when it is buffered', async () => {
  const spreadMs = async (faults: readonly string[]) => {
    const target = await serving({
      faults,
      shape: {
        betweenTokensUs: { kind: 'constant', value: 10_000 },
        lengthTokens: { kind: 'constant', value: 10 },
      },
    })
    const { body } = await target.chat({ stream: true })
    const times: number[] = []
    for await (const _ of body!) times.push(performance.now())
    return times.at(-1)! - times[0]!
  }
  expect(await spreadMs([])).toBeGreaterThan(70)
  expect(await spreadMs(['stream-buffered'])).toBeLessThan(60)
})
