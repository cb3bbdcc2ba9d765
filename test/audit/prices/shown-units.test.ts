import { expect, test } from 'vitest'
import { audited, chat, contractOf, row, type Sent } from './paid.ts'

/** Costs in another unit than the contract's currency are as exact as the places of that unit, in answers and in a log. */

/** A request of so many tokens, whose cost is shown as this text. */
const of = (nth: number, prompt: number, text: string): Sent => ({
  ...chat(`r${nth}`),
  body: `{"model":"big","messages":"Hello ${nth}"}`,
  headers: `x-fee: ${text}`,
  answer: JSON.stringify({
    ...{ id: `r${nth}`, choices: [{ message: { content: 'Yes.' } }] },
    usage: { prompt_tokens: prompt, completion_tokens: 5, total_tokens: prompt + 5 },
  }),
})

/** What the rules on answers and on the log say where each of these requests shows its cost in a unit as this text. */
async function judged(unit: object, is: object, shown: (cost: number) => string) {
  const contract = contractOf({
    is,
    evidence: { cost: [{ header: 'x-fee', ...unit }], log: { cost: 'fee', id: 'id', ...unit } },
  })
  const prompts = Array.from({ length: 24 }, (_, nth) => 20_011 + nth * 977)
  const texts = prompts.map((prompt) => shown((prompt * 4 + 100) / 1e6))
  const found = await audited(
    prompts.map((prompt, nth) => of(nth, prompt, texts[nth]!)),
    null,
    {
      contract,
      log: prompts.map((prompt, nth) => {
        const { request_id: id, spend: _, ...rest } = row(`r${nth}`, 0, nth, prompt)
        return { id, fee: texts[nth], ...rest }
      }),
    },
  )
  return [found['PRICE-03'], found['PRICE-04']]
}

const places = [
  ['whole yen', { in: 'JPY' }, { JPY: '1/150' }, 150, 0],
  ['fen', { in: 'CNY' }, { CNY: '1/7.2' }, 7.2, 2],
  ['whole micros', { times: '1/1000000' }, {}, 1e6, 0],
  ['whole cents', { times: '1/100' }, {}, 100, 0],
] as const

test.each(places)('costs that are rounded to %s are right', async (_, unit, is, rate, digits) => {
  const found = await judged(unit, is, (cost) => (cost * rate).toFixed(digits))
  expect(found).toMatchObject([{ verdict: 'pass' }, { verdict: 'pass' }])
})

test.each([places[0]!, places[1]!, places[3]!])(
  'costs that are rounded up to %s fail',
  async (_, unit, is, rate, digits) => {
    const up = (cost: number) => Math.ceil(cost * rate * 10 ** digits) / 10 ** digits
    const found = await judged(unit, is, (cost) => up(cost).toFixed(digits))
    const isTold = { verdict: 'fail', observed: expect.stringMatching(/rounded up/) }
    expect(found).toMatchObject([isTold, isTold])
  },
)

test('rows of a log that name another currency have its places, and its rate', async () => {
  const contract = contractOf({ is: { EUR: 1.1 } })
  const prompts = Array.from({ length: 12 }, (_, nth) => 20_011 + nth * 977)
  const found = async (rate: number) =>
    (
      await audited(
        prompts.map((prompt, nth) => of(nth, prompt, '')),
        null,
        {
          contract,
          log: prompts.map((prompt, nth) => {
            const cost = (prompt * 4 + 100) / 1e6
            const isInEuro = nth % 2 === 0
            const spend = (isInEuro ? cost / rate : cost).toFixed(8)
            return { ...row(`r${nth}`, 0, nth, prompt), spend, currency: isInEuro ? 'EUR' : 'USD' }
          }),
        },
      )
    )['PRICE-04']
  expect(await found(1.1)).toMatchObject({ verdict: 'pass' })
  expect(await found(1.2)).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining(
      'converted from EUR at a rate of 1.2, where the contract has 1.1 (of amounts in another currency)',
    ),
  })
  expect(await found(1)).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining('converted from EUR twice (of amounts in another currency)'),
  })
})

test('a price that is a tenth too high shows in fen', async () => {
  const found = await judged({ in: 'CNY' }, { CNY: '1/7.2' }, (cost) => (cost * 7.92).toFixed(2))
  expect(found).toMatchObject([{ verdict: 'fail' }, { verdict: 'fail' }])
})

test('rows of a log in two currencies are each as exact as their own', async () => {
  const contract = contractOf({
    is: { JPY: '1/150' },
    evidence: { log: { cost: 'fee', id: 'id' } },
  })
  const prompts = Array.from({ length: 24 }, (_, nth) => 20_011 + nth * 977)
  const log = (least: number) =>
    prompts.map((prompt, nth) => {
      const { request_id: id, spend: _, ...rest } = row(`r${nth}`, 0, nth, prompt)
      const cost = (prompt * 4 + 100) / 1e6
      const inYen = nth % 2 === 0
      const fee = inYen ? (cost * 150).toFixed(0) : (cost * (nth === 1 ? least : 1)).toFixed(6)
      return { id, fee, currency: inYen ? 'JPY' : 'USD', ...rest }
    })
  const sends = prompts.map((prompt, nth) => of(nth, prompt, '1'))
  const verdictOf = async (least: number) =>
    (await audited(sends, null, { contract, log: log(least) }))['PRICE-04']!.verdict
  expect([await verdictOf(1), await verdictOf(1.01)]).toEqual(['pass', 'fail'])
})
