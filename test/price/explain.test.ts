import { expect, test } from 'vitest'
import { chargedOutcomes } from '../../src/contract/prices.ts'
import { currency } from '../../src/money/money.ts'
import { explain } from '../../src/price/judge/explain.ts'
import { judgePlace } from '../../src/price/judge/judge.ts'
import { readUsage } from '../../src/tokens/read-usage.ts'
import { priceVectors } from '../contract/price-vectors/vectors.ts'
import { modelOf, request, statement } from './made-requests.ts'

/** What a finding must say for each fault of the vectors. */
const words: Readonly<Record<string, RegExp>> = {
  'cached-full': /(cache_read|all cached tokens) at the (price of input|text price)/,
  'cached-double': /(cache_read|cached tokens) also charged as (input|text)/,
  'cached-free': /cache_read free/,
  'write-as-input': /(cache_write\w*|all cached tokens) at the (price of input|text price)/,
  'write-double': /cache_write\w* also charged as input/,
  'ttl-short': /cache_write_1h at the price of cache_write/,
  'reasoning-double': /reasoning (counted twice|also charged as output)/,
  'reasoning-free': /reasoning free/,
  'audio-as-text': /audio\w* (tokens )?at the (price of input|price of output|text price)/,
  'image-as-text': /image\w* at the price of output/,
  'fees-free': /search free|request free|second free/,
  'service-ignored': /the service tier ignored/,
  'tier-ignored': /the tier ignored/,
  'tier-marginal': /the threshold at the price of the tier/,
  'hours-ignored': /the hours ignored/,
  'price-stale': /the price before its last change/,
  'times-ignored': /the factor \w+ left out|all factors left out/,
  'round-down': /rounded to 0 decimals, down/,
}

test('every fault of the price vectors is told, and named', { tags: 'whole' }, () => {
  let told = 0
  const ties: (readonly [string, string, readonly string[]])[] = []
  for (const vector of priceVectors) {
    const { id: _, aliases, ...fields } = vector.model
    const model = modelOf(fields, vector.unit)
    const { at, service_tier, group, outcome } = vector.context ?? {}
    const choices: Readonly<Record<string, string>> =
      group === undefined ? {} : { group: String(group) }
    const usage = readUsage(vector.usage, vector.model.usage)
    const of = (cost: string) => ({
      request: request({
        usage: { ...usage, calls: { ...usage.calls, ...(vector.context?.counts as object) } },
        serviceTier: (service_tier as string) ?? null,
        outcomes: [chargedOutcomes.find((each) => each === outcome) ?? 'success'],
        ...(at === undefined
          ? {}
          : { startMs: Date.parse(String(at)), endMs: Date.parse(String(at)) }),
      }),
      statement: statement(cost),
    })
    const judge = (cost: string) =>
      judgePlace([of(cost)], {
        currency: currency(vector.unit),
        priceOf: () => ({ ...model, clock: 'start' }),
        choices,
        clockErrorMs: 0,
        twinOf: () => null,
      })
    expect([vector.id, judge(vector.cost)[0]!.is]).toEqual([vector.id, 'right'])
    for (const [fault, cost] of Object.entries(vector.wrong ?? {})) {
      const judged = judge(cost)
      const summary = explain(judged, { priceOf: () => model }).explanations.map(
        (each) => each.summary,
      )
      if (!words[fault]!.test(summary.join('; '))) ties.push([vector.id, fault, summary])
      told++
    }
  }
  // Three changes give this one cost, and a finding names two.
  expect(ties).toEqual([
    ['PV-30', 'cached-free', ['cache_write at the price of input', 'input free']],
  ])
  expect(told).toBeGreaterThan(100)
})

test('streams that a service counted itself are told with its count, where nothing else gives their cost', () => {
  const model = modelOf({ price: { input: 4, output: 20 } })
  const of = (prompt: number, output: number, cost: string, isStream: boolean) => ({
    request: request({
      isStream,
      usage: readUsage({ prompt_tokens: prompt, completion_tokens: output }, 'openai-chat'),
    }),
    statement: statement(cost),
  })
  const told = (...amounts: readonly ReturnType<typeof of>[]) =>
    explain(
      judgePlace(amounts, {
        currency: currency('USD'),
        priceOf: () => model,
        choices: {},
        clockErrorMs: 0,
        twinOf: () => null,
      }),
      { priceOf: () => model },
    ).explanations.map(({ summary, scope }) => `${summary} ${scope}`)
  // 42 tokens of the prompt cost 168 millionths, and 51 of them 204; 9 of output 180.
  // Of the next one, 61 tokens are charged as 68.
  const streams = [of(42, 9, '0.000384000', true), of(61, 13, '0.000532000', true)]
  expect(told(...streams, of(42, 9, '0.000348', false))).toEqual([
    'another count of input tokens: 51, where the answer states 42 of streams',
  ])
  // One amount fits a count and a price.
  expect(told(streams[0]!, of(42, 9, '0.000348', false))).toEqual([
    'output at 1.2 times its price of streams',
    'another count of input tokens: 51, where the answer states 42 of streams',
  ])
  // A difference that no whole count gives, and a plain answer, which is counted by its upstream.
  expect(told(of(42, 9, '0.000385500', true))).toEqual([])
  expect(told(of(42, 9, '0.000384', false))).toEqual([])
  // One of four amounts in whole millionths is that of some count.
  expect(told(of(42, 9, '0.000384', true))).toEqual([])
})
