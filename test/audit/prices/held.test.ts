import { describe, expect, test } from 'vitest'
import { audited, chat, contractOf, left, row, type Sent } from './paid.ts'

/** Services that hold money back while a request runs, settle later, in batches, or give back by another entry: none of it is a wrong charge. */

const balanceOf = (balance: object, more: object = {}) =>
  contractOf({
    evidence: {
      balance: { get: '/key/info', value: 'spend', moves: 'up', ...balance },
      log: { cost: 'spend', id: 'request_id', model: 'model', at: 'startTime' },
      ...more,
    },
  })
const page = (spend: string): Sent => ({
  ...{ path: '/key/info', method: 'GET', model: null, endpoint: 'other' },
  answer: `{"spend": ${spend}}`,
})

/** A request that allows 100 tokens and costs 0.00014 USD. */
const asked = (id: string, more: object = {}, ended: Sent['ended'] = {}): Sent => ({
  ...chat(id),
  body: JSON.stringify({ model: 'big', messages: id, max_tokens: 100, ...more }),
  ended,
})
/** One that began at its place, a second for each, and took so many seconds. */
const taking = (id: string, at: number, seconds: number) =>
  asked(id, {}, { doneUs: (at + seconds) * 1e6, closedUs: (at + seconds) * 1e6 })

const price06 = async (sends: readonly Sent[], balance: object = {}) =>
  (await audited(sends, null, { contract: balanceOf(balance) }))['PRICE-06']!

describe('money held back while a request runs', () => {
  test('is no charge, where the next value shows that it was given back', async () => {
    // The second page is read while b runs, for which 0.002 is held.
    const found = await price06([
      page('0.00000'),
      asked('a'),
      taking('b', 2, 3),
      page('0.00214'),
      ...[page('0.00214'), page('0.00214')],
      page('0.00028'),
    ])
    expect(found).toMatchObject({
      verdict: 'pass',
      note: expect.stringContaining('held back'),
    })
  })

  test('is no charge of a balance either', { tags: 'whole' }, async () => {
    const found = await price06(
      [page('1.00000'), asked('a'), taking('b', 2, 3), page('0.99786'), page('0.99972')],
      { moves: 'down', within: '1s' },
    )
    expect(found.verdict).toBe('pass')
    const settled = await price06(
      [
        ...[page('1.00000'), asked('a'), taking('b', 2, 3), page('0.99786'), page('0.99786')],
        ...[page('0.99786'), page('0.99972'), page('0.99972')],
      ],
      { moves: 'down', within: '1s' },
    )
    expect(settled).toMatchObject({ verdict: 'pass' })
  })

  test('is no charge at several values in a row, between which a charge may be late', async () => {
    // 0.0002 is held for each of two requests that cost 0.00014.
    const found = await price06(
      [
        ...[page('1.00000'), asked('a', { max_tokens: 8 }), asked('b', { max_tokens: 8 })],
        ...[page('0.99960'), page('0.99960'), page('0.99960'), ...sleeping(6), page('0.99972')],
      ],
      { moves: 'down', within: '8s' },
    )
    expect(found).toMatchObject({ verdict: 'pass', note: expect.stringContaining('held back') })
  })

  test('is a wrong charge if it is kept where the client left, and the finding says so', async () => {
    const sends = (last: string, then = last) => [
      ...[page('1.00000'), asked('a', { max_tokens: 8 }), page('0.99980'), ...sleeping(3)],
      ...[page('0.99986'), left(1), left(2), page(last), ...sleeping(3), page(then)],
    ]
    const terms = { moves: 'down', within: '2s' }
    expect(await price06(sends('0.983748'), terms)).toMatchObject({
      verdict: 'fail',
      observed: expect.stringContaining('charged for max_tokens where the client left'),
    })
    expect((await price06(sends('0.983748', '0.999268'), terms)).verdict).toBe('pass')
  })

  test('and given back late, within the promise of the contract', async () => {
    const found = await price06(
      [page('0.00000'), asked('a'), page('0.00200'), ...sleeping(5), page('0.00014')],
      { within: '5s' },
    )
    expect(found).toMatchObject({ verdict: 'pass', note: expect.stringContaining('held back') })
  })

  test('is inconclusive at the last value, which nothing settles', async () => {
    const found = await price06([
      ...[page('0.00000'), asked('a'), page('0.00014')],
      ...[taking('b', 3, 9), page('0.00214')],
    ])
    expect(found).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringContaining('held back'),
    })
  })

  test('is a wrong charge at the last value if nothing ran, and nothing was given back before', async () => {
    const sends = [page('0.00000'), asked('a'), page('0.00200')]
    expect((await price06(sends, { within: '60s' })).verdict).toBe('fail')
  })

  test('is a wrong charge if it is never given back', async () => {
    const found = await price06([
      ...[page('0.00000'), asked('a'), page('0.00200'), page('0.00200'), page('0.00200')],
      ...[asked('b'), page('0.00214')],
    ])
    expect(found.verdict).toBe('fail')
  })

  test('is a wrong charge if no request allows so much', async () => {
    const found = await price06([
      ...[page('0.00000'), asked('a'), page('0.00014'), taking('b', 3, 2), page('5.00014')],
      ...[page('5.00014'), page('0.00028')],
    ])
    expect(found.verdict).toBe('fail')
  })

  test('is no charge either while a payment comes in', async () => {
    // 0.0004 is held for each of four requests that cost 0.00014, and 0.0014 is paid in before the first of them is over.
    const ends = [9, 11, 13, 15]
    const four = ends.map((end, nth) => taking(`d${nth}`, 3 + nth, end - 3 - nth))
    const found = await price06(
      [
        ...[page('1.00000'), asked('a'), page('0.99986'), ...four],
        ...[page('0.99826'), page('0.99966'), ...sleeping(1), page('0.99992')],
        ...[...sleeping(1), page('1.00018'), ...sleeping(1), page('1.00044')],
        ...[...sleeping(1), page('1.00070'), asked('b'), page('1.00056')],
      ],
      { moves: 'down' },
    )
    expect(found).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringContaining('money that is held back'),
    })
  })

  test('in the header of a stream is inconclusive, since no value is without it', async () => {
    const stream = (id: string, most: number, spend: string): Sent => ({
      ...asked(id, { max_tokens: most, stream: true }),
      headers: `x-spend: ${spend}`,
      answer: `data: {"id":"${id}","choices":[{"delta":{"content":"hi"}}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}\n\ndata: [DONE]\n\n`,
      ended: { streamed: 1, doneMarks: 1 },
    })
    const spend = { get: null, value: null, header: 'x-spend', moves: 'up' }
    const found = await audited(
      [
        ...[stream('a', 100, '0.00204'), stream('b', 1000, '0.02018'), stream('c', 100, '0.00232')],
        ...[stream('d', 50, '0.00144'), stream('e', 100, '0.00260')],
      ],
      null,
      { contract: contractOf({ evidence: { balance: spend } }) },
    )
    expect(found['PRICE-06']).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringContaining('held back'),
    })
  })

  test('in the header of a plain answer that may be late is inconclusive, too', async () => {
    const spends = (of: readonly (readonly [number, string])[], within: object) =>
      audited(
        of.map(([most, spend], at) => ({
          ...asked(`id-${at}`, { max_tokens: most }),
          headers: `x-spend: ${spend}`,
        })),
        null,
        {
          contract: contractOf({
            evidence: { balance: { header: 'x-spend', moves: 'up', ...within } },
          }),
        },
      )
    // 0.0002 and 0.00204 are held, and 0.00014 is charged after the answer.
    const held = [
      ...([
        [8, '0.00020'],
        [100, '0.00218'],
        [8, '0.00048'],
        [100, '0.00246'],
      ] as const),
      ...([
        [8, '0.00076'],
        [8, '0.00090'],
      ] as const),
    ]
    expect((await spends(held, { within: '500ms' }))['PRICE-06']).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringContaining('held back'),
    })
    // Never given back.
    const kept = held.map(([most], at) => [most, `0.0${(1 + 2 * at).toFixed(4).slice(2)}`] as const)
    expect((await spends(kept, { within: '500ms' }))['PRICE-06']!.verdict).toBe('fail')
  })

  test('does not break the sum of what remains and what is used', async () => {
    const both = (left: string, used: string): Sent => ({
      ...page(''),
      answer: `{"left": ${left}, "used": ${used}}`,
    })
    const sends = [
      ...[both('99.00000', '1.00000'), asked('a'), taking('b', 2, 2), both('98.99786', '1.00014')],
      ...[both('98.99786', '1.00014'), both('98.99972', '1.00028')],
    ]
    const found = await audited(sends, null, {
      contract: contractOf({
        evidence: {
          balance: {
            ...{ get: '/key/info', value: 'left', moves: 'down', limit: 100 },
            also: [{ value: 'used', moves: 'up' }],
          },
        },
      }),
    })
    expect(found['PRICE-06']!.verdict).toBe('pass')
    expect(found['PRICE-07']!.verdict).toBe('pass')
    expect(found['PRICE-08']!.verdict).toBe('pass')
  })
})

/** Seconds in which nothing is sent: pages of no promise. */
const sleeping = (seconds: number): readonly Sent[] =>
  Array.from({ length: seconds }, () => ({ ...page('0'), path: '/health' }))

describe('charges in batches', () => {
  // Charges are booked together, at 8 and at 16 seconds.
  const sends = [
    ...[page('0.00000'), asked('a'), asked('b'), page('0.00000'), asked('c'), page('0.00000')],
    ...[...sleeping(3), page('0.00042')],
    ...[asked('d'), page('0.00042'), ...sleeping(4), page('0.00056')],
  ]

  test('within the promise of the contract pass', async () => {
    expect(await price06(sends, { within: '8s' })).toMatchObject({ verdict: 'pass' })
  })

  test('are inconclusive where the contract does not say how late a value may be', {
    tags: 'whole',
  }, async () => {
    expect(await price06(sends)).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringMatching(/up to \d+(?:\.\d+)? s late.*evidence\.balance\.within/),
    })
  })

  test('that come later than the contract says fail, and the finding says by how much', async () => {
    expect(await price06(sends, { within: '2s' })).toMatchObject({
      verdict: 'fail',
      observed: expect.stringMatching(/values are up to \d+(?:\.\d+)? s late/),
    })
  })

  test('of which one never comes fail', async () => {
    const lost = [...sends.slice(0, -1), page('0.00042')]
    expect((await price06(lost)).verdict).toBe('fail')
  })
})

describe('credits returned by another entry', () => {
  test('later than anything promises are inconclusive, and kept ones fail', async () => {
    const sends = (last: string) => [
      ...[page('1.00000'), asked('a'), page('0.99900'), asked('b'), page('0.99886')],
      ...[...sleeping(3), page('0.99886'), page(last), page(last)],
    ]
    const terms = { moves: 'down' }
    expect(await price06(sends('0.99972'), terms)).toMatchObject({ verdict: 'inconclusive' })
    expect((await price06(sends('0.99886'), terms)).verdict).toBe('fail')
  })

  test.each([
    ['are no charge without a request', [], 'pass'],
    ['are one if they are not returned', [row('hold-3', 0.002, 2, 0, 0)], 'fail'],
    [
      'are none before they are charged',
      [row('return-0', -0.001, 0, 0, 0), row('hold-0', 0.001, 2, 0, 0)],
      'fail',
    ],
  ])('in the log, under an id of their own, %s', async (_, kept, is) => {
    const found = await audited([asked('a'), asked('b')], ['0.00000', '0.00028'], {
      log: [
        ...[row('hold-1', 0.002, 1, 0, 0), row('return-1', -0.002, 2, 0, 0), row('a', 0.00014, 1)],
        ...[row('hold-2', 0.002, 2, 0, 0), row('return-2', -0.002, 3, 0, 0), row('b', 0.00014, 2)],
        ...kept,
      ],
    })
    expect(found['PRICE-05']!.verdict).toBe(is)
    expect(found['PRICE-04']!.verdict).toBe('pass')
  })
})
