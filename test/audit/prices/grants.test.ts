import { describe, expect, test } from 'vitest'
import { novemberUs } from '../../report/attempts.ts'
import { audited, chat, contractOf, type Sent } from './paid.ts'

/** A balance of credits that are grants, of which one expires during the run. */

const at = (second: number) => new Date(novemberUs / 1000 + second * 1000).toISOString()
const contractWith = (balance: object, more: object = {}) =>
  contractOf({
    ...{ currency: 'credits', models: [{ id: 'big', price: { request: 1 } }] },
    evidence: { balance: { get: '/credits', value: 'remaining', moves: 'down', ...balance } },
    ...more,
  })
const named = { grants: { list: 'grants', left: 'left', expires: 'expires_at' } }

/** What is left of a grant that expires, and of one that does not. */
const page = (welcome: number, bought: number, expires: unknown = at(10), more = {}): Sent => ({
  ...{ path: '/credits', method: 'GET', model: null, endpoint: 'other' },
  answer: JSON.stringify({
    remaining: welcome + bought,
    grants: [
      { name: 'welcome', left: welcome, given: 30, used: 30 - welcome, expires_at: expires },
      { name: 'bought', left: bought, given: 100, used: 100 - bought, expires_at: null },
    ],
    ...more,
  }),
})
const sleeping = (seconds: number): readonly Sent[] =>
  Array.from({ length: seconds }, () => ({ ...page(0, 0), path: '/health' }))

/** Two requests, the expiry at 10 s, and two requests: a page at 0, 3, 6, 14 and 17 s. */
const played = (expires: unknown = at(10), lost = 28, more = {}) => [
  ...[page(30, 100, expires), chat('a'), chat('b'), page(28, 100, expires)],
  ...[...sleeping(2), page(28, 100, expires), ...sleeping(7)],
  ...[page(28 - lost, 100, expires, more), chat('c'), chat('d')],
  page(Math.max(0, 26 - lost), lost === 28 ? 98 : 100, expires),
]
const verdicts = async (sends: readonly Sent[], balance: object, more: object = {}) => {
  const found = await audited(sends, null, { contract: contractWith(balance, more) })
  return ['PRICE-06', 'PRICE-07', 'PRICE-08'].map((rule) => found[rule]!)
}

describe('a grant that expires as its page says', () => {
  test.each([
    ['a time', at(10)],
    ['seconds', Date.parse(at(10)) / 1000],
    ['milliseconds', Date.parse(at(10))],
  ])('is no charge, by %s', async (_, expires) => {
    const found = await verdicts(played(expires), named)
    expect(found.map(({ verdict }) => verdict)).toEqual(['pass', 'pass', 'pass'])
  })

  test('is no charge where the page says what was given and what was used', async () => {
    const places = { grants: { ...named.grants, left: 'given - used' } }
    expect((await verdicts(played(), places))[0]!.verdict).toBe('pass')
  })

  test('may pay for requests before it expires', async () => {
    const sends = [page(30, 100), ...['a', 'b', 'c'].map(chat), ...sleeping(9), page(0, 100)]
    expect((await verdicts(sends, named))[0]!.verdict).toBe('pass')
  })

  test('is inconclusive where the contract names no grants', async () => {
    const [found, , sums] = await verdicts(played(), {})
    expect(found).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringMatching(/grants\.0\.expires_at.*evidence\.balance\.grants/),
    })
    expect(sums!.verdict).toBe('inconclusive')
  })

  test('does not break the sum of what remains and what is used', async () => {
    const also = (used: number) => ({ spent: used })
    const sends = [
      ...[page(30, 100, at(10), also(0)), chat('a'), page(29, 100, at(10), also(1))],
      ...[...sleeping(9), page(0, 100, at(10), also(1)), chat('b'), page(0, 99, at(10), also(2))],
    ]
    const found = await verdicts(sends, { ...named, also: [{ value: 'spent', moves: 'up' }] })
    expect(found.map(({ verdict }) => verdict)).toEqual(['pass', 'pass', 'pass'])
  })
})

describe('a grant', () => {
  test.each([
    ['with its grants named', named],
    ['without', {}],
  ])('that is gone before its time is told, %s', async (_, terms) => {
    const [found] = await verdicts(played(at(300)), terms)
    expect(found).toMatchObject({ verdict: 'fail', observed: expect.stringMatching(/grant/) })
    if (terms === named)
      expect(found).toMatchObject({
        observed: expect.stringMatching(/a grant of 28 credits was gone at least 28\d s before/),
      })
  })

  test('that expires takes no more than was left of it', async () => {
    const sends = [...played().slice(0, -4), page(0, 90), chat('c'), chat('d'), page(0, 88)]
    expect((await verdicts(sends, named))[0]!.verdict).toBe('fail')
  })

  test('that the next page still has hides nothing that another one lost', async () => {
    const lost = (bought: number) => [
      ...[page(30, 100, at(6)), chat('a'), page(29, 100, at(6)), ...sleeping(1)],
      ...[chat('b'), page(28, bought, at(6)), chat('c'), page(27, bought, at(6))],
    ]
    expect((await verdicts(lost(100), named)).map(({ verdict }) => verdict)).not.toContain('fail')
    const [found, , sums] = await verdicts(lost(80), named)
    expect(found).toMatchObject({
      verdict: 'fail',
      observed: expect.stringMatching(/^21 credits between two readings/),
    })
    expect(sums!.verdict).toBe('fail')
  })

  test('may be listed with what was left of it after it expired', async () => {
    const listed = (left: number, bought: number): Sent => ({
      ...page(left, bought),
      answer: page(left, bought).answer.replace(/"remaining":\d+/, `"remaining":${bought}`),
    })
    const sends = [page(30, 100), chat('a'), page(29, 100), ...sleeping(9), listed(29, 100)]
    const found = await verdicts([...sends, chat('b'), listed(29, 99)], named)
    expect(found.map(({ verdict }) => verdict)).toEqual(['pass', 'pass', 'pass'])
  })

  test('hides no double charge', async () => {
    const after = [...played().slice(0, -1), page(0, 96)]
    expect((await verdicts(after, named))[0]).toMatchObject({
      verdict: 'fail',
      observed: expect.stringContaining('charged twice'),
    })
    // Before it expires, it may have been a deposit that was given back to the grant.
    const before = [
      page(30, 100),
      chat('a'),
      chat('b'),
      page(26, 100),
      ...sleeping(9),
      page(0, 100),
    ]
    expect((await verdicts(before, named))[0]!.verdict).toBe('inconclusive')
    expect((await verdicts(before, { ...named, within: '1s' }))[0]!.verdict).toBe('fail')
  })

  test.each([
    ['its own number', { expires_at: Date.parse(at(2)) / 1000 }],
    ['another number', { expires_at: at(2), requests_per_minute: 60, given: 500, used: 7 }],
  ])('whose expiry stands beside %s hides no double charge', async (_, more) => {
    const shows = (remaining: number): Sent => ({
      ...page(0, 0),
      answer: JSON.stringify({ remaining, ...more }),
    })
    const found = await verdicts([shows(100), chat('a'), chat('b'), shows(96)], {})
    expect(found[0]!.verdict).toBe('fail')
  })

  test.each([
    ['what was given and used', 2, { welcome: { given: 30, used: 2, expires_at: at(6) } }],
    ['its balance alone', 0, { expires_at: Date.parse(at(6)) / 1000 }],
  ])('that expires on a page of %s is inconclusive', async (_, rest, more) => {
    const shows = (remaining: number): Sent => ({
      ...page(0, 0),
      answer: JSON.stringify({ remaining, ...more }),
    })
    const sends = [chat('a'), chat('b'), shows(rest + 28), ...sleeping(6), shows(rest)]
    const found = await verdicts([shows(rest + 30), ...sends], {})
    expect(found[0]!).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringContaining('expires_at'),
    })
  })

  test.each([
    [{ grants: { list: 'grants', left: 'left' } }, 'evidence.balance.grants.expires'],
    [{ ...named, get: undefined, value: undefined, header: 'x-left' }, 'evidence.balance.grants'],
  ])('that a contract names in part is refused', (terms, place) => {
    expect(() => contractWith(terms)).toThrow(place)
  })
})
