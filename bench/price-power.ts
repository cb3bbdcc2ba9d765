/**
 * How often an audit of token prices notices a fault that strikes a share of the requests, and the money at stake:
 * `node bench/detection-power.ts prices [seeds]`.
 *
 * A history is 200 requests, a third of them streamed, with prompts that a cache may hold, and reasoning. The balance is read before
 * and after all of them, exact, and with two decimals.
 */
import { stretchesOf } from '../src/audit/evidence/prices/stretches.ts'
import { parseContract } from '../src/contract/load.ts'
import { modelPriceOf } from '../src/contract/model-price.ts'
import { shownAmount } from '../src/money/money.ts'
import {
  add,
  divide,
  multiply,
  powerOfTen,
  type Rational,
  rational,
  roundTo,
  subtract,
  zero,
} from '../src/money/rational.ts'
import { judgePlace } from '../src/price/judge/judge.ts'
import type { PriceJudge } from '../src/price/judge/price-judge.ts'
import type { PricedRequest } from '../src/price/judge/request.ts'
import { normalUsage } from '../src/tokens/usage.ts'

const contract = parseContract(
  {
    models: [
      {
        id: 'big',
        price: { input: 4, cache_read: 0.4, output: 20, reasoning: 20 },
        tiers: { steps: [{ above: 16000, price: { input: 8, cache_read: 0.8, output: 30 } }] },
      },
    ],
    evidence: { balance: { get: '/key/info', value: 'info.spend', moves: 'up' } },
  },
  'power',
)
const prices = contract.prices!
const judge: PriceJudge = {
  currency: prices.currency,
  priceOf: (name) => modelPriceOf(contract, name),
  choices: {},
  clockErrorMs: 0,
  twinOf: () => null,
}

interface Counts {
  readonly input: number
  readonly read: number
  readonly visible: number
  readonly reasoning: number
}

/** Millionths of a dollar, as whole numbers of 10^-12: the arithmetic of the simulated service, not of the judge. */
const pico = (millionths: number) => rational(BigInt(Math.round(millionths * 1e6)), 10n ** 12n)
const isLong = ({ input, read }: Counts) => input + read > 16_000
const costOf = (counts: Counts, { read = 0.4, tier = true } = {}): Rational => {
  const { input, visible, reasoning } = counts
  const [ofInput, ofOutput] = tier && isLong(counts) ? [8, 30] : [4, 20]
  const ofRead = tier && isLong(counts) ? read * 2 : read
  return pico(input * ofInput + counts.read * ofRead + visible * ofOutput + reasoning * 20)
}

/** What a fault charges; null if the request gives no occasion. */
const faults: Readonly<Record<string, (counts: Counts, isStream: boolean) => Rational | null>> = {
  'stream-free': (_, isStream) => (isStream ? zero : null),
  'cached-full': (counts) => (counts.read === 0 ? null : costOf(counts, { read: 4 })),
  'reasoning-double': (counts) =>
    counts.reasoning === 0 ? null : add(costOf(counts), pico(counts.reasoning * 20)),
  'tier-ignored': (counts) => (isLong(counts) ? costOf(counts, { tier: false }) : null),
  'reservation-kept': (counts) => add(costOf(counts), pico(1_000 * 20)),
}

const requestsOfHistory = 200

function randomOf(seed: number): () => number {
  let state = seed * 2_654_435_761
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

interface Told {
  readonly answers: boolean
  readonly balance: boolean
  readonly coarse: boolean
  readonly stake: Rational
}

function told(fault: string, rate: number, seed: number): Told {
  const random = randomOf(seed)
  const charged: { readonly request: PricedRequest; readonly cost: Rational }[] = []
  let stake = zero
  for (let slot = 0; slot < requestsOfHistory; slot++) {
    const isStream = random() < 1 / 3
    const prompt = Math.round(200 + 20_000 * random() ** 4)
    const read = prompt > 1_024 && random() < 0.5 ? Math.floor((prompt * 0.9) / 128) * 128 : 0
    const reasoning = random() < 0.3 ? Math.round(50 + 500 * random()) : 0
    const counts = {
      input: prompt - read,
      read,
      visible: Math.round(20 + 400 * random()),
      reasoning,
    }
    const wrong = faults[fault]!(counts, isStream)
    const right = costOf(counts)
    const cost = wrong !== null && random() < rate ? wrong : right
    const apart = subtract(cost, right)
    stake = add(stake, apart.numerator < 0n ? { ...apart, numerator: -apart.numerator } : apart)
    charged.push({ request: requestOf(slot, counts, isStream), cost })
  }
  const sum = charged.map(({ cost }) => cost).reduce(add, zero)
  const stated = charged.map(({ request, cost }) => ({
    request,
    statement: { place: 'log', text: String(cost.numerator), value: cost, decimals: 12 },
  }))
  return {
    answers: judgePlace(stated, judge).some(({ is }) => is === 'wrong'),
    balance: isWrong(charged, sum, 12),
    coarse: isWrong(charged, roundTo(sum, 2, 'half_even'), 2),
    stake,
  }
}

/** Whether the spend, read before and after everything, is wrong. */
function isWrong(
  charged: readonly { readonly request: PricedRequest }[],
  value: Rational,
  decimals: number,
): boolean {
  const requests = charged.map(({ request }) => request)
  const reading = (atMs: number, spend: Rational) => ({
    ...{
      account: 'a',
      fromMs: atMs,
      untilMs: atMs,
      value: spend,
      lastUnit: powerOfTen(-decimals),
      text: '',
    },
    request: requests[0]!,
  })
  const readings = [reading(-10, zero), reading(1e9, value)]
  return stretchesOf(readings, requests, prices.evidence.balance!, judge).some(
    (stretch) => !stretch.isRight,
  )
}

function requestOf(slot: number, counts: Counts, isStream: boolean): PricedRequest {
  const { input, read, visible, reasoning } = counts
  return {
    ...{ runId: 'a', slot, retry: 0, requestedModel: 'big', returnedModel: 'big', isStream },
    ...{
      outcomes: ['success'],
      startMs: slot * 100,
      headMs: slot * 100 + 50,
      endMs: slot * 100 + 50,
    },
    ...{ serviceTier: null, isTierRead: true, hasHead: true, eventUsages: [], receivedEvents: 0 },
    ...{ receivedBytes: null, askedBytes: null },
    usage: normalUsage(
      { input: input + read, cacheRead: read, output: visible + reasoning, reasoning },
      { input: 'all', output: 'all' },
    ),
    ...{
      prompt: String(slot),
      ...{
        body: null,
        answer: null,
        isFreeRepeat: false,
        isRepeat: false,
        isSurelyAgain: false,
        once: null,
        askedMs: 0,
        maxOutputTokens: null,
        thinking: '',
        mayCall: false,
        areCallsRead: true,
        shownCalls: [],
      },
      account: 'a',
      key: 'a',
      responseId: null,
      header: () => undefined,
      stated: [],
    },
  }
}

export function printPricePower(seeds: number): void {
  process.stdout.write(
    `${seeds} seeds of ${requestsOfHistory} requests; share of seeds in which the fault is told:\n\n| fault | rate | answer or log | balance, exact | balance, 2 decimals | at stake in 200 requests |\n|---|---|---|---|---|---|\n`,
  )
  for (const fault of Object.keys(faults)) {
    for (const rate of [1, 0.1, 0.02]) {
      const all = Array.from({ length: seeds }, (_, seed) => told(fault, rate, seed + 1))
      const share = (is: (each: Told) => boolean) =>
        `${Math.round((100 * all.filter(is).length) / seeds)} %`
      const stake = all.map((each) => each.stake).reduce(add, zero)
      const mean = divide(stake, rational(BigInt(seeds)))
      process.stdout.write(
        `| ${fault} | ${rate} | ${share((each) => each.answers)} | ${share((each) => each.balance)} | ${share((each) => each.coarse)} | ${shownAmount(multiply(mean, rational(1n)), 'USD')} |\n`,
      )
    }
  }
  const honest = Array.from({ length: seeds }, (_, seed) => told('stream-free', 0, seed + 1))
  const alarms = honest.filter(({ answers, balance, coarse }) => answers || balance || coarse)
  process.stdout.write(`\nhonest histories with an alarm: ${alarms.length} of ${seeds}\n`)
}
