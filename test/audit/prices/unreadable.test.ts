import { expect, test } from 'vitest'
import { play, type Sent, traffic } from './gateway.ts'

const [plain] = traffic as readonly [Sent]
const sends = ['a', 'b', 'c', 'd'].map((prompt, nth) => ({ ...plain, prompt, at: 10 * nth }))
const stating = (text: string) => sends.map((sent) => ({ ...sent, header: `x-cost: ${text}` }))

test.each(['$0.00208', '0,00208', '0.00208 USD', 'NaN'])(
  'costs in answers that are no number are named, and never left out in silence: %s',
  async (text) => {
    const { of, failed } = await play({}, [], { sends: stating(text) })
    expect(of('PRICE-03').verdict).toMatchObject({
      verdict: 'inconclusive',
      why: `4 of 4 costs at header x-cost are no number: ${JSON.stringify(text)}`,
      witnesses: [{ shows: `header x-cost ${JSON.stringify(text)}` }, {}, {}],
    })
    expect(failed).toEqual([])
  },
)

test.each(['', 'None', 'null', '-'])('%j says that there is no cost', async (text) => {
  const { of } = await play({}, [], { sends: stating(text) })
  expect(of('PRICE-03').verdict.verdict).toBe('not-observed')
})

test('one cost in the log that is no number makes the log inconclusive, and a wrong one fails', async () => {
  const rows = (spend: string) => (spent: readonly { readonly spend: number }[], sent: Sent) =>
    sent.prompt === 'b' ? spent.map((row) => ({ ...row, spend: spend as never })) : spent
  const unreadable = await play({ rows: rows('0,00208') as never }, ['log'], { sends })
  expect(unreadable.of('PRICE-04').verdict).toMatchObject({
    verdict: 'inconclusive',
    why: '1 of 4 costs at the log is no number: "0,00208"',
  })
  const charge = (right: bigint, { prompt }: Sent) => (prompt === 'c' ? 2n * right : right)
  const wrong = await play({ rows: rows('0,00208') as never, charge }, ['log'], { sends })
  expect(wrong.of('PRICE-04').verdict.verdict).toBe('fail')
})
