import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { type Fake, type FakeState, probeFake } from './fake-api.ts'
import { probeService } from './probing.ts'

const [after, before] = ['after own charge', 'before own charge']
const uncharged = ({ balance }: FakeState, price: number) => balance + price
const kinds = ['chat', 'chat stream', 'messages', 'messages stream']
const each = <T>(value: T) => Object.fromEntries(kinds.map((kind) => [kind, value]))
/** A contract in which no price distinguishes a charge from a read. */
const contract = {
  ...defaultContract,
  models: defaultContract.models.map((model) => ({ ...model, costCredits: 1 })),
}

test.each([
  ['after', { concurrent: ['own charge, atomic', 'later snapshot'] }],
  ['before', {}],
] as const)(
  'values %s each charge that do not repeat are no proof of an atomic header',
  async (header, open) => {
    const { answers } = await probeFake(header === 'after' ? {} : { header: uncharged }, ['G-12'])
    expect(answers['G-12']).toMatchObject({ is: each(header === 'after' ? after : before) })
    expect('between' in answers['G-12'] ? answers['G-12'].between : {}).toEqual(open)
  },
)

test('values after the charge that repeat in concurrent answers are later snapshots', {
  tags: 'whole',
}, async () => {
  const profile = { creditsHeader: 'snapshot' } as const
  const { profile: told } = await probeService({ profile, only: ['G-12'] })
  expect(told.answers['G-12']).toMatchObject({
    ...{ status: 'answered', is: { chat: after, concurrent: 'later snapshot' } },
  })
})

test('values before the charge that repeat in concurrent answers are not later snapshots', async () => {
  // Of the concurrent ones, every second request is admitted before the charge of the previous one.
  const header = (state: FakeState, price: number) =>
    uncharged(state, price) + (state.requests > kinds.length ? state.requests % 2 : 0)
  const { answers } = await probeFake({ header }, ['G-12'])
  expect(JSON.stringify(answers['G-12'])).toMatch(/16 at once: [1-9]\d* values repeat/)
  expect(answers['G-12']).toMatchObject({ status: 'answered', is: each(before) })
  expect(answers['G-12']).not.toHaveProperty(['is', 'concurrent'])
})

test.each<[string, Fake, string]>([
  ['before, header after', { readChargedFirst: false }, after!],
  ['before, header before', { readChargedFirst: false, header: uncharged }, before!],
  ['after, header after', {}, after!],
  ['after, header before', { header: uncharged }, before!],
  ['after, header before, one price', { contract, header: uncharged }, before!],
  ['before, header after, one price', { contract, readChargedFirst: false }, after!],
])('a read shows the balance %s its own charge', async (_, fake, meaning) => {
  const { answers } = await probeFake({ readPrice: 1, ...fake }, ['G-12'])
  expect(answers['G-12']).toMatchObject({ is: each(meaning) })
})

test.each<[string, Fake]>([
  ['after', {}],
  ['before', { readChargedFirst: false, header: uncharged }],
])(
  'if reads have the price of requests, read and header that both show the balance %s their charge stay open',
  async (_, fake) => {
    const { answers } = await probeFake({ readPrice: 1, contract, ...fake }, ['G-12'])
    expect(answers['G-12']).toMatchObject({ status: 'ambiguous', between: each([after, before]) })
  },
)

test('one endpoint that shows the meaning of a read decides it for the others', {
  tags: 'whole',
}, async () => {
  const header = (state: FakeState, price: number) =>
    state.stream ? state.balance : uncharged(state, price)
  const { answers } = await probeFake({ readPrice: 1, contract, header }, ['G-12'])
  expect(answers['G-12']).toMatchObject({
    is: { chat: before, 'chat stream': after, messages: before, 'messages stream': after },
  })
})

test('a header of credits that is no number is a header that is there (G-19)', async () => {
  const { answers } = await probeFake({ header: () => Number.NaN }, ['G-12', 'G-19'])
  expect(answers['G-19']).toMatchObject({
    is: { 'credits on 200': 'always', 'rate on 200': 'never' },
  })
})
