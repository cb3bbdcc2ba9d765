import { expect, test } from 'vitest'
import type { Finding } from '../../../src/audit/verdict.ts'
import { parseContract } from '../../../src/contract/load.ts'
import { completed } from '../../../src/service/money/complete.ts'
import { RecordedClient } from '../../audit/prices/field/recorded-client.ts'
import { gateway, type Json, long, user } from '../../service/money/gateway.ts'
import type { Ask, Counts } from './asks.ts'
import { partFaults, wholeFaults } from './fault-prices.ts'
import { stepFaults } from './fault-steps.ts'
import { outcomeOf, wordsOf } from './outcome.ts'
import { contractText, type Terms } from './terms.ts'
import type { World } from './world.ts'

/**
 * The worlds of the generator and the reference service share no arithmetic. The same requests, with the counts that the
 * service answers, give the same findings on paper as over a socket.
 */

const model: Terms['models'][number] = {
  ...{ id: 'big', alias: 'big-latest', request: '0.001', search: null, minimum: null, round: null },
  prices: { input: '4', cache_read: '0.4', cache_write: '5', output: '20' },
  tier: {
    from: 3000,
    isAbove: true,
    count: 'prompt',
    apply: 'whole',
    prices: { input: '8', output: '30' },
  },
  ...{ flex: '0.5', hours: null, margin: '1.1', group: null },
  change: { at: -1e6, prices: { output: '25' } },
}
const charged: Terms['charged'] = {
  ...{ refused: 'none', broken: 'none', abort: 'received', empty: 'none', filtered: 'none' },
  gateway_cache: 'none',
}
const plain = { messages: user('Hello') }
const many = { messages: long(2000, 'a') }
const above = { messages: long(4000, 'b') }
const bodies: readonly (object & { stream?: boolean; service_tier?: string; model?: string })[] = [
  ...[plain, { ...plain, stream: true }, many, many, { ...many, stream: true }, above],
  ...[
    { ...plain, service_tier: 'flex' },
    { ...plain, model: 'big-latest' },
  ],
]

const usageOf = (body: string): Json => {
  const events = [...body.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!) as Json)
  return (events.findLast(({ usage }) => usage) ?? JSON.parse(body.startsWith('{') ? body : '{}'))
    .usage
}

function countsOf({ prompt_tokens, completion_tokens, prompt_tokens_details: of }: Json): Counts {
  const [read, write] = [of?.cached_tokens ?? 0, of?.cache_write_tokens ?? 0]
  return {
    ...{ input: prompt_tokens - read - write, cache_read: read, cache_write: write },
    ...{ cache_write_1h: 0, output: completion_tokens, reasoning: 0 },
  }
}

const details = ['cached_tokens', 'cache_write_tokens', 'reasoning_tokens']

/** What was decided, in words that have no time in them. */
const decided = (findings: readonly Finding[]) =>
  findings
    .filter(({ verdict }) => verdict.verdict === 'fail')
    .map((finding) => [
      finding.rule,
      wordsOf(finding)
        .split('\n')[1]!
        .split('. ')[0]!
        .replace(/^[\d.]+;? ?| of \d+ stretches/g, ''),
    ])

const faults = [
  ...stepFaults.filter(({ name }) => ['flex ignored', 'stale price'].includes(name)),
  ...[partFaults('cache_read', 'input')[0]!, wholeFaults(true)[0]!],
]
const services: Readonly<Record<string, string>> = {
  'flex ignored': 'flex-full',
  'stale price': 'price-stale',
  'cache_read at the price of input': 'cached-full',
  'free (streams)': 'stream-free',
}

test.each([
  ['an honest service', null],
  ...faults.map((fault) => [fault.name, fault] as const),
] as const)(
  '%s is judged alike on paper and over a socket',
  { tags: 'whole' },
  async (_, fault) => {
    const terms: Terms = {
      ...{
        currency: 'USD',
        digits: 12,
        startMs: Date.now(),
        models: [model],
        charged,
        isVip: false,
      },
      ...{ cost: 'both', log: true, balance: { at: 'page', moves: 'up', withinS: 0 } },
    }
    const written = contractText(terms)
    const balance = { get: '/key/info', value: 'info.spend', moves: 'up' }
    const contract = completed(
      parseContract({ ...written, evidence: { ...written.evidence, balance } }, 'world.yaml'),
    )
    const places = ['stated', 'logged', 'balance']
    const target = await gateway({
      contract,
      ...(fault === null
        ? {}
        : { faults: places.map((place) => `${services[fault.name]}@${place}=1`) }),
    })
    const client = new RecordedClient(target.baseUrl, target.key)
    const asks: World['asks'][number][] = []
    await client.read('/key/info')
    for (const [nth, body] of bodies.entries()) {
      const answer = await client.ask(body)
      await client.read('/key/info')
      const usage = usageOf(answer)
      const told = { ...usage.prompt_tokens_details, ...usage.completion_tokens_details }
      const ask: Ask = {
        ...{
          nth,
          at: 1 + nth,
          seconds: 0.4,
          model: body.model ?? 'big',
          dialect: 'chat',
          repeats: null,
        },
        prompt: JSON.stringify((body as Json).messages),
        ...{ isStream: body.stream === true, counts: countsOf(usage), searches: 0 },
        ...{ maySearch: false, ended: 'ok', received: 0, generated: 0, account: 'main' },
        isFlex: body.service_tier === 'flex',
        silent: details.filter((name) => !(name in told)),
      }
      asks.push({ ...ask, isStruck: fault?.strikes(ask, terms) === true })
    }
    const found = await client.audit(contract, await target.rows())
    const world: World = {
      seed: 0,
      terms,
      asks,
      conduct: new Set(),
      fault,
      isCaptured: true,
      readEvery: 1,
    }
    const outcome = await outcomeOf(world)
    expect(decided(found)).toEqual(decided(outcome.findings))
    expect(outcome.is).toBe(fault === null ? 'honest' : 'by cause')
  },
)
