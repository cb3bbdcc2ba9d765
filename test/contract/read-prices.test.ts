import { expect, test } from 'vitest'
import { readPrices } from '../../src/contract/read-prices.ts'
import type { JsonObject } from '../../src/user/json.ts'

const read = (
  fields: Readonly<Record<string, unknown>>,
  top: Readonly<Record<string, unknown>> = {},
) => readPrices(top as JsonObject, [{ id: 'm', fields: fields as JsonObject }])

test('unknown words are errors with the nearest word', () => {
  expect(
    read(
      {
        price: { inptu: 1, cache_raed: 2, 'tool.x': 1 },
        tiers: { setps: [] },
        round: { mode: 'half_evne' },
      },
      { charged: { sucess: 'full', abort: 'recieved' }, is: { USD: 5 } },
    ).issues,
  ).toEqual([
    '  models.0.price.inptu: no such field. Did you mean input?',
    '  models.0.price.cache_raed: no such field. Did you mean cache_read?',
    '  models.0.tiers.setps: no such field. Did you mean steps?',
    '  models.0.tiers.steps: expected at least one step',
    '  models.0.round.mode: expected half_even, half_up, half_down, up or down; got "half_evne". Did you mean half_even?',
    '  charged.sucess: no such field. Did you mean success?',
    '  charged.abort: expected full, input, received, none or open; got "recieved". Did you mean received?',
  ])
})

test('a number is a decimal of at most 15 digits, or a fraction with a rounding', () => {
  const issues = (price: unknown, more: object = {}) =>
    read({ price: { input: price, output: 1 }, ...more }).issues
  expect(issues(3.2857142857142855e-8)).toEqual([
    '  models.0.price.input: expected at most 15 digits (more are noise of a float), or a text of all digits; got 3.2857142857142855e-8',
  ])
  expect(issues(-1)).toEqual([
    '  models.0.price.input: expected a number of 0 or more, such as 2.5 or 1/3; got -1',
  ])
  expect(issues('a')).toHaveLength(1)
  expect(issues('0.123456789012345')).toEqual([])
  expect(issues('0.3333333337142857')).toEqual([])
  expect(issues(`${'0'.repeat(61)}.${'1'.repeat(61)}`)).toHaveLength(1)
  expect(issues('1/3')).toEqual([
    '  models.0.price.input.price: expected `round`, since 1/3 has no decimal form',
  ])
  expect(issues('1/3', { round: { digits: 0 } })).toEqual([])
})

test('a field at the top holds for every model, and the model’s own counts', () => {
  const { terms } = readPrices({ charged: { abort: 'none' }, minimum: 1, usage: 'anthropic' }, [
    { id: 'a', fields: { price: { request: 1 } } },
    { id: 'b', fields: { price: { request: 1 }, charged: { abort: 'full' }, usage: 'gemini' } },
  ])
  expect(terms.models.map(({ charged, dialect }) => [charged.abort, dialect])).toEqual([
    ['none', 'anthropic'],
    ['full', 'gemini'],
  ])
})

test('times, windows, days and moments are read as they are written, or refused', () => {
  expect(
    read({
      price: { input: 1 },
      hours: [{ days: ['mon', 'funday'], except: ['1 May'], utc: ['25:00-26:00'], times: 'x' }],
      changes: [{ from: 'soon' }],
    }).issues,
  ).toEqual([
    '  models.0.changes.0.from: expected a time with its offset, such as 2026-12-01T00:00:00Z; got "soon"',
    '  models.0.hours.0.times: expected a number of 0 or more, such as 2.5 or 1/3; got "x"',
    expect.stringMatching(/^ {2}models\.0\.hours\.0\.days\.1: expected sun, .* got "funday"/),
    '  models.0.hours.0.except.0: expected a day such as 2026-10-01; got "1 May"',
    '  models.0.hours.0.utc.0: expected a window of UTC such as "01:00-04:00"; got "25:00-26:00"',
  ])
})

test('a tier that is cheaper than its base is a warning', () => {
  expect(
    read({ price: { input: 2 }, tiers: { steps: [{ above: 9, price: { input: 1 } }] } }).warnings,
  ).toEqual(['models.0.tiers.steps.0.price.input: cheaper than its base'])
})

test('evidence names places, their units and their delay', () => {
  const { terms, issues } = readPrices(
    {
      currency: 'quota',
      is: { USD: 500000 },
      evidence: {
        cost: [
          { header: 'X-Cost' },
          { body: 'usage.cost', in: 'USD' },
          { body: 'usage.cost_in_usd_ticks', in: 'USD', times: '1/10000000000' },
        ],
        balance: { get: '/key/info', value: 'info.spend', moves: 'up', within: '60s' },
        log: { id: 'request_id', cost: 'spend', tokens: { prompt: 'prompt_tokens' } },
      },
    },
    [],
  )
  expect(issues).toEqual([])
  expect(terms.currency).toEqual({ name: 'quota', digits: 0 })
  expect(terms.evidence.cost).toEqual([
    { header: 'x-cost', times: { numerator: 1n, denominator: 1n } },
    { body: 'usage.cost', times: { numerator: 500000n, denominator: 1n } },
    { body: 'usage.cost_in_usd_ticks', times: { numerator: 1n, denominator: 20000n } },
  ])
  expect(terms.evidence.balance).toMatchObject({ moves: 'up', withinMs: 60_000 })
  expect(read({}, { evidence: { cost: [{}], balance: {} } }).issues).toEqual([
    '  evidence.cost.0: expected either header or body; got {}',
    '  evidence.balance: expected either get or header; got {}',
  ])
})
