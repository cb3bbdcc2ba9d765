import { describe, expect, test } from 'vitest'
import { audited, chat, contractOf, type Sent } from './paid.ts'

/** PRICE-07 passes on what it compared, and its pass says what that was. */

const contract = (balance: object = {}) =>
  contractOf({
    evidence: { balance: { get: '/key/info', value: 'spend', moves: 'up', ...balance } },
  })
const page = (answer: string): Sent => ({
  ...{ path: '/key/info', method: 'GET', model: null, endpoint: 'other' },
  answer: answer.startsWith('{') ? answer : `{"spend": ${answer}}`,
})
const price07 = async (sends: readonly Sent[], balance: object = {}) =>
  (await audited(sends, null, { contract: contract(balance) }))['PRICE-07']!
const [a, b, c] = ['a', 'b', 'c'].map((id) => ({ ...chat(id), body: `{"messages":"${id}"}` })) as [
  Sent,
  Sent,
  Sent,
]

describe('a spend without a limit', () => {
  test('compares nothing, and names the limit that would decide', async () => {
    expect(await price07([page('0'), a, page('0.00014')])).toMatchObject({
      verdict: 'not-observed',
      requires: expect.stringContaining('evidence.balance.limit'),
    })
  })

  test('in the header of answers compares nothing either', async () => {
    const shown = (request: Sent, spend: string) => ({ ...request, headers: `x-spend: ${spend}` })
    const found = await price07([shown(a, '0.00014'), shown(b, '0.00028')], {
      ...{ get: null, value: null, header: 'x-spend' },
    })
    expect(found.verdict).toBe('not-observed')
  })

  test('whose limit the page calls unlimited compares nothing', async () => {
    const of = (spend: string) => page(`{"spend": ${spend}, "max_budget": "unlimited"}`)
    expect((await price07([of('0'), a, of('0.00014')])).verdict).toBe('not-observed')
  })

  test('is compared with the spend that a refusal names', { tags: 'whole' }, async () => {
    const refused = (text: string): Sent => ({
      ...b,
      answer: JSON.stringify({ error: { message: `Budget exceeded. Current cost: ${text}` } }),
      ended: { outcome: 'http_error', status: 403 },
    })
    expect(await price07([page('0'), a, page('0.00014'), refused('0.00014')])).toMatchObject({
      verdict: 'pass',
      note: expect.stringContaining('1 spend that a refusal names'),
    })
    expect((await price07([page('0'), a, page('0.00014'), refused('0.00028')])).verdict).toBe(
      'fail',
    )
    // The spend began anew after the refusal.
    const began = [page('0.00014'), refused('0.00014'), page('0.00000'), c, page('0.00007')]
    expect((await price07([page('0'), a, ...began])).verdict).toBe('pass')
    // One of two spends is what the refusal names.
    const both = (spend: string, today: string) => page(`{"spend": ${spend}, "today": ${today}}`)
    expect(
      (
        await price07([both('9', '0'), a, both('9.00014', '0.00014'), refused('9.00014')], {
          also: [{ value: 'today', moves: 'up' }],
        })
      ).verdict,
    ).toBe('pass')
    // A number with commas is compared with nothing: it is read as thousands by some and as decimals by others.
    const spent = [page('1234.5'), a, page('1234.50014')]
    for (const text of ['2,469.00', '1,234.50'])
      expect((await price07([...spent, refused(text)])).verdict).toBe('not-observed')
  })
})

test('requests that are served when those before them had passed the limit are no pass', async () => {
  const limit = (most: number, more: object = {}) => ({ limit: most, ...more })
  const sends = [page('0.0'), a, b, c, page('0.00042')]
  // The second one passes the limit, and the third one is served after it.
  expect(await price07(sends, limit(0.0002, { within: '0s' }))).toMatchObject({
    verdict: 'fail',
    observed:
      'served when the requests before it had spent more than the limit of 0.0002 USD; 0.00042 are shown in the end',
  })
  expect(await price07(sends, limit(0.0002))).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('evidence.balance.within'),
  })
  // The last one may pass the limit, and so may one that is sent before a spend need be seen.
  for (const balance of [limit(0.0003), limit(0.0004), limit(0.0002, { within: '5s' })])
    expect((await price07(sends, balance)).verdict).toBe('pass')
})

describe('a pass says what it compared', () => {
  test('spends with their limit, none of which came near it', async () => {
    expect(await price07([page('0'), a, page('0.00014')], { limit: 10 })).toMatchObject({
      verdict: 'pass',
      note: 'compared: 2 spends with their limit; not tested: a request when it is used up',
    })
  })

  test('spends of which only some show a limit', async () => {
    const sends = [page('0'), a, page('{"spend": 0.00014, "max_budget": 10}')]
    expect(await price07(sends)).toMatchObject({
      verdict: 'pass',
      note: expect.stringContaining('1 spend with its limit; without a limit: 1'),
    })
  })

  test('balances with 0, of which one was used up', async () => {
    const left = (value: string) => page(`{"left": ${value}}`)
    const terms = { value: 'left', moves: 'down' }
    expect(await price07([left('0.00014'), a, left('0.00000')], terms)).toMatchObject({
      verdict: 'pass',
      note: 'compared: 2 balances with 0',
    })
  })

  test('sums of what remains and what is used', async () => {
    const both = (left: string, used: string) => page(`{"left": ${left}, "used": ${used}}`)
    const found = await price07([both('9.0', '1.0'), a, both('8.99986', '1.00014')], {
      ...{ value: 'left', moves: 'down', also: [{ value: 'used', moves: 'up' }] },
    })
    expect(found).toMatchObject({
      verdict: 'pass',
      note: expect.stringContaining('1 sum of what remains and what is used'),
    })
  })
})

describe('a spend above its limit', () => {
  test('that begins anew before the next request ignores nothing', async () => {
    // The last request may pass the limit; then a new month begins.
    const sends = [page('9.99990'), a, page('10.00004'), page('0.00000'), b, page('0.00014')]
    expect((await price07(sends, { limit: 10 })).verdict).toBe('pass')
  })

  test('that may have begun anew before the next request ignores nothing', async () => {
    const sends = [page('9.99990'), a, page('10.00004'), b, page('0.00014')]
    expect((await price07(sends, { limit: 10 })).verdict).toBe('pass')
  })

  test('that still serves requests fails', { tags: 'whole' }, async () => {
    const sends = [page('9.99990'), a, page('10.00004'), b, c, page('10.00032')]
    expect(await price07(sends, { limit: 10 })).toMatchObject({
      verdict: 'fail',
      observed: expect.stringContaining('above the limit of 10'),
    })
    expect((await price07(sends.slice(0, -1), { limit: 10 })).verdict).toBe('fail')
  })

  test('because money is held back for a request that runs ignores nothing', async () => {
    const long = { ...a, ended: { doneUs: 5e6, closedUs: 5e6 } }
    const sends = [page('9.99'), long, page('10.01'), page('10.01'), page('10.01'), page('9.99014')]
    expect((await price07([...sends, b, page('9.99028')], { limit: 10 })).verdict).toBe('pass')
  })
})

test.each([
  'Monthly spend limit of $100 reached',
  'Budget exceeded. Your spend resets on 2026-12-01.',
  'Quota exceeded: used 12000 tokens of 10000',
  'Quota exceeded: used 3 of 3 free requests',
  'Budget exceeded: spent 100 cents',
  'Budget exceeded: used 100% of it',
])('a refusal that names no spend compares none: %s', async (message) => {
  const refused: Sent = {
    ...b,
    answer: JSON.stringify({ error: { message } }),
    ended: { outcome: 'http_error', status: 403 },
  }
  const found = await price07([page('0'), a, page('0.00014'), refused])
  expect(found.verdict).toBe('not-observed')
})

test.each([
  'spent $5',
  'spend: 5 USD',
  'the spend is 5 of 4 USD',
  'current usage 5',
  'used $5 of $4',
])('a refusal that names another spend fails: %s', async (said) => {
  const refused: Sent = {
    ...b,
    answer: JSON.stringify({ error: { message: `Budget exceeded: ${said}` } }),
    ended: { outcome: 'http_error', status: 403 },
  }
  expect((await price07([page('0'), a, page('0.00014'), refused])).verdict).toBe('fail')
})

test('a limit of 0 that the contract does not name is none', async () => {
  const of = (spend: string) => page(`{"spend": ${spend}, "max_budget": 0}`)
  const sends = [of('0.00014'), a, of('0.00028')]
  expect((await price07(sends)).verdict).toBe('not-observed')
  expect((await price07(sends, { limit: 'max_budget' })).verdict).toBe('fail')
})
