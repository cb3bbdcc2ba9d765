import { expect, test } from 'vitest'
import type { Attempt } from '../../src/client/row/attempt.ts'
import { parseContract } from '../../src/contract/load.ts'
import { tokenColumnNames } from '../../src/price/attempts/column-usage.ts'
import { StepCounters } from '../../src/run/count/attempt-counts.ts'
import { RunMoney } from '../../src/run/money/run-money.ts'
import { boundOf, moneyBytes, SharedMoney } from '../../src/run/money/shared-money.ts'
import type { Flight } from '../../src/run/send/flight.ts'
import { parseScenario } from '../../src/scenario/parse.ts'

/** A token of an answer costs 1, and nothing else costs anything. */
const contract = parseContract(
  {
    name: 'g',
    charged: { refused: 'none', empty: 'none' },
    models: [
      { id: 'm', price: { input: 0, output: { price: 1, per: 1 } } },
      { id: 'e', price: { input: 1 } },
    ],
  },
  'g.yaml',
)

/** The money of a thread with a bound of 100, and the requests of its one step. */
function bounded(step: object, sent: object = {}) {
  const scenario = parseScenario(
    JSON.stringify({
      ...{ name: 'a', question: 'b', model: 'm' },
      steps: { chat: { endpoint: 'chat', prompt: 'Hi', ...step } },
      phases: [{ name: 'main', load: 'replay', file: 'trace.jsonl' }],
    }),
    'a.yaml',
  )
  const shared = new SharedMoney(new SharedArrayBuffer(moneyBytes), 0, true)
  shared.bound = boundOf('100')
  const money = RunMoney.of(scenario, contract, shared, 0)!
  const plan = { index: 0, step: scenario.steps[0]! }
  const request = { model: 'm', maxTokens: null, wire: { body: Buffer.from('{}') } }
  const counters = new StepCounters()
  return {
    shared,
    counters,
    /** Null if the bound does not allow it. */
    starts() {
      const flight = { plan, request: { ...request, ...sent }, reserved: 0n } as unknown as Flight
      const reserved = money.reserve(flight)
      if (reserved === null) return null
      flight.reserved = reserved
      return flight
    },
    /** @param tokens NaN for an answer without usage */
    ends(flight: Flight, outcome: string, tokens: number, sentUs = 0) {
      const unknown = Object.fromEntries(tokenColumnNames.map((name) => [name, Number.NaN]))
      const usage = Number.isNaN(tokens)
        ? unknown
        : { ...unknown, promptTokens: 1, completionTokens: tokens, totalTokens: 1 + tokens }
      const attempt = { outcome, responseModel: null, finishReason: 'stop', sentUs, flags: 0 }
      money.ended(flight, { ...attempt, ...usage } as unknown as Attempt, counters)
    },
  }
}

const units = (amount: number) => BigInt(amount) * 10n ** 9n

test('requests that are refused for nothing do not make the next one an estimate of nothing', () => {
  const { starts, ends } = bounded({ max_tokens: 20 }, { maxTokens: 20 })
  for (let at = 0; at < 3; at++) ends(starts()!, 'http_error', Number.NaN)
  expect(starts()!.reserved).toBe(units(20))
})

test('after three answers, a request counts as much as the dearest of them', () => {
  const { starts, ends } = bounded({ max_tokens: 20 }, { maxTokens: 20 })
  for (const tokens of [3, 5, 4]) ends(starts()!, 'ok', tokens)
  expect(starts()!.reserved).toBe(units(5))
})

test('the first request counts what it asks for itself, as a line of a trace does', () => {
  const { starts } = bounded({ model: null, body: { n: 2 } }, { maxTokens: 30 })
  expect(starts()!.reserved).toBe(units(60))
})

test('a request that nothing bounds counts as all that is left until an answer has a known cost', () => {
  const { starts, ends, shared } = bounded({})
  const first = starts()!
  expect(first.reserved).toBe(units(100))
  expect(starts()).toBeNull()
  expect(shared.isSpent).toBe(false)
  ends(first, 'ok', 7)
  expect(starts()!.reserved).toBe(units(7))
})

test('a request without a model, and one that is wrong on purpose, set nothing aside', () => {
  for (const step of [
    { endpoint: 'other', path: '/key/info', method: 'GET', model: null, prompt: undefined },
    { wrong: 'invalid-parameter' },
  ]) {
    const { starts, ends, shared } = bounded(step, { model: null })
    const first = starts()!
    expect(first.reserved).toBe(0n)
    ends(first, 'ok', Number.NaN)
    expect(shared.reserve(units(100))).toBe(true)
  }
})

test('a service tier without a price counts as much as the usual one, also if its cost stays unknown', () => {
  const { starts, ends } = bounded(
    { max_tokens: 20, body: { service_tier: 'priority' } },
    { maxTokens: 20 },
  )
  const first = starts()!
  expect(first.reserved).toBe(units(20))
  ends(first, 'ok', Number.NaN)
  expect(starts()!.reserved).toBe(units(20))
})

test('a chat that names no model counts as all that is left: the service chooses a model', () => {
  const { starts } = bounded({ model: null }, { model: null })
  expect(starts()!.reserved).toBe(units(100))
})

test('the run ends when a request that something bounds no longer fits, also if another met no rest', () => {
  const { starts, ends, shared } = bounded({})
  const first = starts()!
  expect(starts()).toBeNull()
  ends(first, 'ok', 7)
  for (let at = 0; at < 13; at++) ends(starts()!, 'ok', 7)
  expect(starts()).toBeNull()
  expect(shared.isSpent).toBe(true)
})

test('an answer of a model that prices no output is bounded by its prompt', () => {
  const { starts } = bounded({ model: 'e' }, { model: 'e' })
  expect(starts()!.reserved).toBeLessThan(units(100))
})

test('an answer of unknown cost that nothing bounds ends the run: it is not free', () => {
  const { starts, ends, shared, counters } = bounded({})
  ends(starts()!, 'ok', Number.NaN)
  expect(counters.costUnknown).toBe(1)
  expect(starts()).toBeNull()
  expect(shared.isSpent).toBe(true)
})

test('a request that was never sent gives back what it counted as', () => {
  const { starts, ends } = bounded({})
  ends(starts()!, 'broken', Number.NaN, Number.NaN)
  expect(starts()!.reserved).toBe(units(100))
})
