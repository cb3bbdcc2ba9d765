import { expect, test } from 'vitest'
import { type Heard, probeFake } from './fake-api.ts'

const refused =
  (...nths: readonly number[]) =>
  ({ endpoint, nth }: Heard) =>
    endpoint === 'models' && (nths.length === 0 || nths.includes(nth)) ? 404 : 200

test.each([0, 1])(
  'a list of models that is never served costs nobody knows what',
  async (readPrice) => {
    const { answers } = await probeFake({ readPrice, status: refused() }, ['G-17'])
    const cost = readPrice === 1 ? '1 credit each' : 'free'
    expect(answers['G-17']).toMatchObject({ status: 'answered', is: { credits: cost } })
    expect(answers['G-17']).not.toHaveProperty(['is', 'models'])
  },
)

test('a charged read that failed is not counted among those charged', async () => {
  const { answers } = await probeFake({ readPrice: 1, status: refused(2) }, ['G-17'])
  expect(answers['G-17']).toMatchObject({
    status: 'answered',
    is: { models: '1 credit each', credits: '1 credit each' },
  })
})

test('while reads of models are not known to be free, each read may have cost', async () => {
  const { profile, state } = await probeFake({ status: refused() }, ['G-17', 'G-13'])
  // Of streams that come all at once, the probe opens three.
  expect(state.balance).toBe(900 - 3)
  expect(profile.credits_spent).toBe(state.reads.credits + 3)
})

test('what falls by no whole number for each read is left open', async () => {
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
