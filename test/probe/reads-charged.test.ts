import { expect, test } from 'vitest'
import { type Heard, probeFake } from './fake-api.ts'

const refused =
  (...nths: readonly number[]) =>
  ({ endpoint, nth }: Heard) =>
    endpoint === 'models' && (nths.length === 0 || nths.includes(nth)) ? 404 : 200

test.each([0, 1])(
  'the price of a model list that is never served stays unknown',
  async (readPrice) => {
    const { answers } = await probeFake({ readPrice, status: refused() }, ['G-17'])
    const cost = readPrice === 1 ? '1 credit each' : 'free'
    expect(answers['G-17']).toMatchObject({ status: 'answered', is: { credits: cost } })
    expect(answers['G-17']).not.toHaveProperty(['is', 'models'])
  },
)

test('a failed read is not counted among charged reads', async () => {
  const { answers } = await probeFake({ readPrice: 1, status: refused(2) }, ['G-17'])
  expect(answers['G-17']).toMatchObject({
    status: 'answered',
    is: { models: '1 credit each', credits: '1 credit each' },
  })
})

test('until reads of models are known to be free, each may have cost a credit', async () => {
  const { profile, state } = await probeFake({ status: refused() }, ['G-17', 'G-13'])
  // The probe opens three streams that arrive at once.
  expect(state.balance).toBe(900 - 3)
  expect(profile.credits_spent).toBe(state.reads.credits + 3)
})

test('a price of a read that is not a whole number is left open', async () => {
  const { answers } = await probeFake(
    { creditsBody: ({ balance, reads }) => ({ remaining: balance - (reads.models > 2 ? 1 : 0) }) },
    ['G-17'],
  )
  expect(answers['G-17']).toMatchObject({
    status: 'ambiguous',
    is: { credits: 'free' },
    between: { models: ['free', '1 credit each'] },
  })
})

test('reads of two credits each are told, and no other cost holds them', async () => {
  const { answers, profile, state } = await probeFake({ readPrice: 2 }, ['G-17', 'G-12'])
  expect(answers['G-17']).toMatchObject({
    status: 'answered',
    is: { models: '2 credits each', credits: '2 credits each' },
  })
  expect(answers['G-12']).toMatchObject({ is: { chat: 'after own charge' } })
  expect(profile.credits_spent).toBeGreaterThanOrEqual(900 - state.balance)
})

test('a balance that never stays is none', async () => {
  const { answers } = await probeFake(
    { creditsBody: ({ balance, reads }) => ({ remaining: balance - reads.credits ** 2 }) },
    ['G-17'],
  )
  expect(answers['G-17']).toMatchObject({ status: 'not-askable' })
})
