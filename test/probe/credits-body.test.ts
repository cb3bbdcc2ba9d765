import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { type FakeState, probeFake } from './fake-api.ts'

const used = ({ balance }: FakeState) => 900 - balance
const body = (state: FakeState) => ({
  ...{ remaining: state.balance, used: used(state), requests: state.requests },
})

test.each<[string, (state: FakeState) => object]>([
  ['seconds', ({ seconds }) => ({ as_of: Math.floor(seconds), due_s: 2e6 - Math.floor(seconds) })],
  ['seconds and a quarter', ({ seconds }) => ({ up: seconds * 1.25, due: -seconds * 1.25 })],
  ['reads', ({ reads }) => ({ served_reads: reads.credits })],
])('a clock of %s that moves by the same amount is not taken for a figure', async (_, clock) => {
  const { answers } = await probeFake(
    { creditsBody: (state) => ({ ...clock(state), ...body(state) }) },
    ['G-09'],
  )
  expect(answers['G-09']).toMatchObject({
    status: 'answered',
    is: { remaining: ['remaining'], consumed: ['used'], requests: ['requests'], tokens: [] },
  })
})

test.each([0, 1])('figures are found if a read costs %i', async (readPrice) => {
  const { answers, state } = await probeFake({ readPrice, creditsBody: body }, ['G-09'])
  expect(answers['G-09']).toMatchObject({
    status: 'answered',
    is: { remaining: ['remaining'], consumed: ['used'], requests: ['requests'] },
  })
  expect(state.reads.credits).toBeLessThan(16)
})

test('credits and requests are not distinguished if every request costs one credit', async () => {
  const models = defaultContract.models.map((model) => ({ ...model, costCredits: 1 }))
  const { answers } = await probeFake(
    { creditsBody: body, contract: { ...defaultContract, models } },
    ['G-09'],
  )
  expect(answers['G-09']).toMatchObject({
    status: 'ambiguous',
    is: { remaining: ['remaining'] },
    between: { consumed: ['used', 'requests'], requests: ['used', 'requests'] },
  })
})
