import { expect, test } from 'vitest'
import { audited, chat, contractOf, type Sent } from './paid.ts'

/** What a balance says of wrong charges: a cause that right sums contradict is not told where another one leaves them right. */

const page = (spentMicro: number): Sent => ({
  ...{ path: '/key/info', method: 'GET', model: null, endpoint: 'other' },
  answer: `{"spend": ${(spentMicro / 1e6).toFixed(6)}}`,
})

interface Asked {
  readonly input: number
  readonly output: number
  readonly model?: string
  /** Millionths that it was charged; absent: its cost. */
  readonly taken?: number
}

const models = [
  { id: 'big', price: { input: 4, output: 20 } },
  { id: 'small', price: { input: 1, output: 5 } },
]
const costOf = ({ input, output, model = 'big' }: Asked) =>
  (4 * input + 20 * output) / (model === 'big' ? 1 : 4)

/** What is told of these requests, with a read of the spend after each group. */
async function told(groups: readonly (readonly Asked[])[]): Promise<string> {
  let spent = 0
  let nth = 0
  const sends = groups.flatMap((group): readonly Sent[] => [
    ...group.map((asked): Sent => {
      const { input, output, model = 'big' } = asked
      const id = `answer-${nth++}`
      spent += asked.taken ?? costOf(asked)
      return {
        ...{ id, model, body: JSON.stringify({ model, messages: `Tell ${id}.` }) },
        answer: JSON.stringify({
          id,
          usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
        }),
      }
    }),
    page(spent),
  ])
  const found = await audited([page(0), ...sends], null, { contract: contractOf({ models }) })
  const of = found['PRICE-06']!
  expect(of.verdict).toBe('fail')
  return of.verdict === 'fail' ? of.observed.split('wrong').at(-1)! : ''
}

const cheap = { input: 2_600, output: 103 }
const other = { input: 3_100, output: 103 }
const dear = { input: 9_007, output: 101 }

test('a smallest charge is told, and no rounding up to cents, where a larger cost is exact', async () => {
  const taken = 20_000
  expect(await told([[{ ...cheap, taken }], [{ ...other, taken }], [dear]])).toBe(
    ': a smallest charge of 0.02',
  )
})

test('a smallest charge is told of sums of several requests', async () => {
  const taken = 20_000
  expect(
    await told([
      [{ ...cheap, taken }, dear],
      [
        { ...other, taken },
        { ...cheap, taken },
      ],
      [dear, dear],
    ]),
  ).toBe(': a smallest charge of 0.02')
})

test('a double charge of one model is told where each sum has requests of two models', async () => {
  const small = (input: number) => {
    const asked = { input, output: 307, model: 'small' }
    return { ...asked, taken: 2 * costOf(asked) }
  }
  expect(
    await told([
      [dear, small(1_012)],
      [cheap, small(4_508)],
    ]),
  ).toBe(': charged twice (of model small)')
})

test('a markup of one model is told where each sum has requests of two models', async () => {
  const small = (input: number) => {
    const asked = { input, output: 308, model: 'small' }
    return { ...asked, taken: 1.25 * costOf(asked) }
  }
  expect(await told([[dear, small(1_008)], [cheap, small(4_504)], [other]])).toBe(
    ': 1.25 times the cost, as with a tax or fee of 25 % (of model small)',
  )
})

/** What is told of whole credits: the price of each request of a group, and what was taken beyond it after the group. */
async function toldOfCredits(
  groups: readonly (readonly [prices: readonly number[], more: number])[],
) {
  const contract = contractOf({
    currency: 'credits',
    models: [
      { id: 'mini', price: { request: 1 } },
      { id: 'maxi', price: { request: 5 } },
    ],
  })
  const pageOf = (spent: number): Sent => ({ ...page(0), answer: `{"spend": ${spent}}` })
  let spent = 0
  const sends = groups.flatMap(([prices, more]) => {
    spent += prices.reduce((a, b) => a + b, more)
    const group = prices.map((price, nth): Sent => {
      const model = price === 1 ? 'mini' : 'maxi'
      const messages = `Tell ${spent} ${nth}.`
      return { ...chat(`answer-${spent}-${nth}`), model, body: JSON.stringify({ model, messages }) }
    })
    return [...group, pageOf(spent)]
  })
  const of = (await audited([pageOf(0), ...sends], null, { contract }))['PRICE-06']!
  return of.verdict === 'fail' ? of.observed.split('wrong').at(-1)! : of.verdict
}

test('some double charges in a group are told where a lone request shows one', async () => {
  const many = [1, 5, 1, 1, 5, 1, 1] as const
  expect(
    await toldOfCredits([
      [many, 3],
      [[1], 0],
      [[1], 1],
      [[5], 0],
    ]),
  ).toMatch(/: (?:request )?charged twice \(only these requests\)/)
  // Nothing shows what happened to one of them.
  expect(
    await toldOfCredits([
      [many, 3],
      [[1], 0],
      [many, 2],
    ]),
  ).toBe('')
  // No such sum: each of them costs 5.
  expect(
    await toldOfCredits([
      [[5, 5, 5], 3],
      [[1], 0],
      [[1], 1],
    ]),
  ).not.toContain('twice')
})
