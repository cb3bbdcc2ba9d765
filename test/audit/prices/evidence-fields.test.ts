import { expect, onTestFinished, test, vi } from 'vitest'
import { joinLog } from '../../../src/audit/evidence/prices/join.ts'
import { limitAt } from '../../../src/audit/evidence/prices/limits.ts'
import { readPriceLog } from '../../../src/audit/evidence/prices/log.ts'
import { readingsOf } from '../../../src/audit/evidence/prices/readings.ts'
import { stretchesOf } from '../../../src/audit/evidence/prices/stretches.ts'
import { PriceReader } from '../../../src/contract/price-reader.ts'
import { type PriceTerms, valuesOf } from '../../../src/contract/prices.ts'
import { readPrices } from '../../../src/contract/read-prices.ts'
import { decimalText } from '../../../src/money/rational.ts'
import type { JsonObject } from '../../../src/user/json.ts'
import { modelOf, request } from '../../price/made-requests.ts'

/** Each field that a contract accepts for a log and a balance changes what an audit reads: none is read by nobody. */

const termsOf = (given: object): PriceTerms['evidence'] => {
  const evidence = given as JsonObject
  const { terms, issues } = readPrices({ currency: 'USD', is: { CNY: '0.125' }, evidence }, [])
  expect(issues).toEqual([])
  return terms.evidence
}

const log = { cost: 'spend', id: 'request_id', model: 'model', at: 'startTime' }
const startTime = '2026-11-25T12:00:00Z'
const rows = [
  {
    ...{ request_id: 'a', other_id: 'b', spend: 0.5, paid: 0.25, model: 'm', group: 'n' },
    ...{ startTime, later: '2026-11-25T13:00:00Z' },
    ...{ prompt: 1, completion: 2, cache_read: 3, cache_write: 4, cache_write_1h: 5, reasoning: 6 },
  },
]
const sent = request({ responseId: 'a', header: (name) => (name === 'x-id' ? 'b' : undefined) })
const readLog = (fields: object) => {
  const terms = termsOf({ log: fields }).log!
  const read = readPriceLog(JSON.stringify(rows), 'log', terms)
  const { pairs, by } = joinLog([sent], read, terms)
  const costs = read.map(({ cost }) => cost && decimalText(cost.value))
  return JSON.stringify([
    read.map(({ cost: _, ...row }) => row),
    ...[costs, pairs.length, by, terms.withinMs, terms.get],
  ])
}
const tokens = ['prompt', 'completion', 'cache_read', 'cache_write', 'cache_write_1h', 'reasoning']

const ofLog: Readonly<Record<string, object>> = {
  cost: { cost: 'paid' },
  id: { id: 'other_id' },
  model: { model: 'group' },
  at: { at: 'later' },
  join: { id: 'other_id', join: 'header:x-id' },
  within: { within: '60s' },
  get: { get: '/log' },
  in: { in: 'CNY' },
  times: { times: 2 },
  ...Object.fromEntries(tokens.map((name) => [`tokens.${name}`, { tokens: { [name]: name } }])),
}

const balance = { get: '/me', value: 'left', moves: 'down' }
const model = modelOf({ price: { request: 1 } })
const readBalance = (fields: object) => {
  const terms = termsOf({ balance: fields }).balance!
  const pages = ['/me', '/you'].flatMap((path) =>
    [0, 10_000].map((at) => ({
      ...{ path, account: 'main', fromMs: at, untilMs: at, request: sent },
      body: {
        ...{ left: String(9 - at / 10_000), kept: '5' },
        grants: [{ left: '5', until: '1970-01-01T00:00:05Z' }],
      },
    })),
  )
  const charged = request({
    startMs: 8_000,
    endMs: 9_000,
    header: (name) => (name === 'x-left' ? '7' : undefined),
  })
  const readings = readingsOf({ requests: [charged], pages }, terms)
  const values = valuesOf(terms).map((each) => readingsOf({ requests: [charged], pages }, each))
  const judge = {
    ...{ currency: { name: 'USD', digits: 12 }, choices: {}, clockErrorMs: 0 },
    ...{ priceOf: () => model, twinOf: () => null },
  }
  return JSON.stringify([
    values.map((all) => all.map(({ text, value }) => [text, decimalText(value)])),
    readings
      .map((each) => limitAt({ pages }, terms, each))
      .map((each) => each && decimalText(each)),
    terms.lowest && decimalText(terms.lowest),
    stretchesOf(readings, [charged], terms, judge).map(({ isRight, taken, low, high }) => [
      ...[isRight, decimalText(taken), decimalText(low), high && decimalText(high)],
    ]),
  ])
}
const ofBalance: Readonly<Record<string, object>> = {
  get: { get: '/you', value: 'kept' },
  header: { get: undefined, value: undefined, header: 'x-left' },
  value: { value: 'kept' },
  moves: { moves: 'up' },
  within: { within: '60s' },
  in: { in: 'CNY' },
  times: { times: 3 },
  also: { also: [{ value: 'kept', moves: 'up' }] },
  limit: { limit: 'kept' },
  lowest: { lowest: -2 },
  grants: { grants: { list: 'grants', left: 'left', expires: 'until' } },
}

test.each(Object.entries(ofLog))('evidence.log.%s changes what is read of a log', (_, change) => {
  expect(readLog({ ...log, ...change })).not.toBe(readLog(log))
})

test.each(Object.entries(ofBalance))(
  'evidence.balance.%s changes what is read of a balance',
  (_, change) => {
    expect(readBalance({ ...balance, ...change })).not.toBe(readBalance(balance))
  },
)

test('every field that a contract accepts for a log and a balance is in these tests', () => {
  const accepted = new Map<string, readonly string[]>()
  const mapping = vi.spyOn(PriceReader.prototype, 'mapping')
  onTestFinished(() => mapping.mockRestore())
  termsOf({ log: { ...log, tokens: {} }, balance })
  for (const [, path, words] of mapping.mock.calls) accepted.set(path, words ?? ['anything'])
  const { tokens: _, ...fields } = Object.fromEntries(
    accepted.get('evidence.log')!.map((name) => [name, 1]),
  )
  const inner = accepted.get('evidence.log.tokens')!.map((name) => `tokens.${name}`)
  expect(Object.keys(ofLog).toSorted()).toEqual([...Object.keys(fields), ...inner].toSorted())
  expect(Object.keys(ofBalance).toSorted()).toEqual(
    [...accepted.get('evidence.balance')!].toSorted(),
  )
})

test.each(['{id}', '{request_id}', '{response_id}', '{Page}', '{page:one}', '{}'])(
  'a log at a place with %s, which nothing fills in, is refused',
  (place) => {
    const evidence = { log: { get: `/spend/logs?request_id=${place}` } }
    expect(readPrices({ currency: 'USD', evidence }, []).issues).toEqual([
      `  evidence.log.get: expected {response.id}, {page}, {page:0}, {offset} or {cursor}; got ${JSON.stringify(place)}`,
    ])
  },
)

test.each(['{response.id}', '{page}', '{page:0}', '{offset}', '{cursor}'])(
  'a log at a place with %s is accepted',
  (place) => {
    const evidence = { log: { get: `/spend/logs?at=${place}` } }
    expect(readPrices({ currency: 'USD', evidence }, []).issues).toEqual([])
  },
)
