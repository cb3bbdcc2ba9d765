import { describe, expect, test } from 'vitest'
import { play, type Sent, traffic } from './gateway.ts'
import { audited, chat, contractOf, type Sent as Paid, row } from './paid.ts'

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

const verdicts = (found: Readonly<Record<string, { readonly verdict: string }>>) =>
  Object.values(found).map(({ verdict }) => verdict)
/** Two requests for 0.00014 USD each. */
const two = ['a', 'b'].map((id) => ({ ...chat(id), body: `{"model":"big","messages":"${id}"}` }))

test.each(['"1,499.5"', '"$12.50"', '"12,50"', '"12.50 USD"', '"1499/2000"', '"75%"', '"NaN"'])(
  'a spend that is shown as %s is named, whatever was charged, and no rule passes on it',
  async (shown) => {
    const found = await audited(two, [shown, shown].map((spend) => `{"spend": ${spend}}`) as never)
    for (const rule of ['PRICE-06', 'PRICE-07'])
      expect([rule, found[rule]]).toMatchObject([
        rule,
        {
          verdict: 'inconclusive',
          why: `2 of 2 values of the balance are no number: ${shown}`,
        },
      ])
    expect(verdicts(found)).not.toContain('fail')
  },
)

test.each([
  ['an object', '{"spend": {"amount": 1, "currency": "USD"}}'],
  ['another name', '{"spent": 1}'],
  ['nothing', '{"spend": null}'],
  ['a list', '[{"spend": 1}]'],
  ['HTML', '<html>sign in</html>'],
])('a page that has %s where the contract names the spend is no pass', async (_, page) => {
  const read = { path: '/key/info', method: 'GET', model: null, endpoint: 'other', answer: page }
  const found = await audited([read, ...two, read], null)
  expect(found['PRICE-06']).toMatchObject({
    verdict: 'inconclusive',
    why: '2 of 2 answers of /key/info have no number at spend',
  })
})

test('a header of the balance that no stored answer has is no pass', async () => {
  const contract = contractOf({ evidence: { balance: { header: 'x-left', moves: 'down' } } })
  const found = await audited(two, null, { contract })
  expect(found['PRICE-06']).toMatchObject({
    verdict: 'inconclusive',
    why: 'none of 2 stored answers has the header x-left',
  })
})

describe('a header of the balance', () => {
  const contract = contractOf({ evidence: { balance: { header: 'x-left', moves: 'down' } } })
  const shows = (left: number, account = 'main'): Paid => ({
    ...chat(`id-${left}`),
    body: JSON.stringify({ model: 'big', messages: String(left) }),
    headers: `x-left: ${left.toFixed(5)}`,
    ended: { account },
  })
  const price06 = async (paid: readonly Paid[]) =>
    (await audited(paid, null, { contract }))['PRICE-06']!

  test('that one answer shows has nothing to be compared with', async () => {
    expect((await price06([shows(1)])).verdict).toBe('not-observed')
  })

  test('that one of three answers shows is absent in two', async () => {
    expect(await price06([shows(1), ...two])).toMatchObject({
      verdict: 'inconclusive',
      why: '2 of 3 stored answers have no header x-left',
    })
  })

  test('that two accounts show once each has nothing between', async () => {
    expect((await price06([shows(1), shows(2, 'other')])).verdict).toBe('not-observed')
  })

  test('that some answers do not have is noted where the others are right', async () => {
    const found = await price06([shows(1), ...two, shows(0.99958)])
    expect(found).toMatchObject({
      verdict: 'pass',
      note: '2 of 4 stored answers have no header x-left',
    })
  })
})

test.each([
  ['1,000', 'inconclusive'],
  ['$1', 'inconclusive'],
  ['1/2', 'inconclusive'],
  ['unlimited', 'not-observed'],
  ['none', 'not-observed'],
  ['-1', 'not-observed'],
  ['1', 'pass'],
  ['0.4', 'fail'],
])('a limit of %j is %s for a spend of 0.5', { tags: 'whole' }, async (limit, verdict) => {
  const page = (spend: string) => `{"spend": ${spend}, "max_budget": ${JSON.stringify(limit)}}`
  const found = await audited(two, [page('0.5'), page('0.50028')])
  expect(found['PRICE-07']).toMatchObject({
    verdict,
    ...(verdict === 'inconclusive'
      ? { why: `the limit of the balance is no number: ${JSON.stringify(limit)}` }
      : {}),
  })
})

test.each([-1, null])('a limit of %j says that there is none', async (limit) => {
  const page = (spend: string) => `{"spend": ${spend}, "max_budget": ${limit}}`
  expect((await audited(two, [page('0.5'), page('0.50028')]))['PRICE-07']!.verdict).toBe(
    'not-observed',
  )
})

test.each([
  ['counts with separators', { prompt_tokens: '1,010' }, 'prompt "1,010"'],
  ['counts with points', { completion_tokens: '1.005' }, 'completion "1.005"'],
  ['counts with a unit', { completion_tokens: '5 tokens' }, 'completion "5 tokens"'],
  ['times of another notation', { startTime: '09/11/2026 10:00' }, 'at "09/11/2026 10:00"'],
])(
  'a log with %s says that they were not compared',
  { tags: 'whole' },
  async (_, change, words) => {
    const log = [{ ...row('a', 0.00014, 1), ...change }, row('b', 0.00014, 2)]
    const found = await audited(two, ['0', '0.00028'], { log })
    expect(found['PRICE-05']).toMatchObject({
      verdict: 'inconclusive',
      why: `1 of 2 rows of the log has a value that nobody can read: ${words}`,
    })
    expect(verdicts(found)).not.toContain('fail')
    // What can be read still decides.
    const other = [{ ...log[0], model: 'other' }, log[1]!]
    expect((await audited(two, ['0', '0.00028'], { log: other }))['PRICE-05']!.verdict).toBe('fail')
  },
)

test.each([
  ['1.502', '1.500'],
  ['1.001', '999'],
])(
  'whole credits from %s to %s may be thousands with a point, and accuse nobody',
  async (from, to) => {
    const contract = contractOf({
      ...{ currency: 'credits', models: [{ id: 'big', price: { request: 1 } }] },
      evidence: { balance: { get: '/key/info', value: 'left', moves: 'down' } },
    })
    const page = (left: string) => `{"left": "${left}"}`
    const found = await audited(two, [page(from), page(to)], { contract })
    expect(found['PRICE-06']).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringContaining('with a point for thousands'),
    })
    expect(found['PRICE-08']!.verdict).not.toBe('fail')
    // Half credits that move by the costs are right as they are.
    expect(
      (await audited(two, [page('99.500'), page('97.500')], { contract }))['PRICE-06']!.verdict,
    ).toBe('pass')
  },
)

test('a count that is a text nobody can read is open, and one below 0 is a fault', async () => {
  const judged = async (prompt_tokens: unknown) => {
    const usage = { prompt_tokens, completion_tokens: 5 }
    const sent = { ...chat('a'), answer: JSON.stringify({ id: 'a', usage }) }
    const found = await audited([sent], ['0', '0.00014'])
    return found['PRICE-01']!.verdict
  }
  expect(await judged('10.0')).toBe('pass')
  expect(await judged('1,234')).toBe('inconclusive')
  expect(await judged('-3')).toBe('fail')
  expect(await judged(1.5)).toBe('fail')
})
