import {
  rates as base,
  type GatewayFault,
  type Place,
  type Rates,
  type Sent,
  sum,
} from './gateway.ts'

/** A public fault, on paper: what it charges, where it shows, and what a finding must say. */
export interface PublicFault {
  /** Its number in the list of public faults. */
  readonly id: string
  readonly name: string
  readonly fault: GatewayFault
  readonly places: readonly Place[]
  readonly summary: RegExp
  /** Rules that fail, if they do not follow from the places. */
  readonly rules?: readonly string[]
  readonly dialects?: readonly ('chat' | 'messages')[]
}

const all: readonly Place[] = ['stated', 'log', 'balance']
const ok = (sent: Sent) => sent.ended === 'ok'
type Charge = NonNullable<GatewayFault['charge']>
const when =
  (holds: (sent: Sent) => boolean, charge: Charge): Charge =>
  (right, sent, rates) =>
    holds(sent) ? charge(right, sent, rates) : right
const more = (count: (sent: Sent) => number, rate: keyof Rates, by = 1): Charge =>
  when(ok, (right, sent, rates) => right + BigInt(by * count(sent)) * BigInt(rates[rate]))
const free: Charge = () => 0n
const prompt = ({ counts }: Sent) => counts.input + counts.read + counts.write
const without = (rates: Rates, change: Partial<Rates>): Rates => ({ ...rates, ...change })

export const faults: readonly PublicFault[] = [
  {
    id: 'F01',
    name: 'stream-free',
    fault: { charge: when((s) => ok(s) && s.streamed, free) },
    places: all,
    summary: /free \(of streams\)/,
  },
  {
    id: 'F02',
    name: 'log-total-zero',
    fault: { charge: when((s) => ok(s) && s.streamed, free) },
    places: ['log'],
    summary: /free \(of streams\)/,
  },
  {
    id: 'F03',
    name: 'alias-stream-free',
    fault: { charge: when((s) => s.streamed && s.model === 'big-alias', free) },
    places: ['stated', 'log'],
    summary: /free/,
  },
  {
    id: 'F04',
    name: 'header-zero',
    fault: { charge: when(ok, free) },
    places: ['stated'],
    summary: /free/,
  },
  {
    id: 'F05',
    name: 'chunk-sum-output',
    fault: {
      charge: when(
        (s) => ok(s) && s.streamed,
        (r, _, rates) => r + 3n * BigInt(rates.visible),
      ),
    },
    places: all,
    summary: /the output of every event added up/,
    dialects: ['messages'],
  },
  {
    id: 'F06',
    name: 'chunk-sum-input',
    fault: {
      charge: when(
        (s) => ok(s) && s.streamed,
        (r, s, rates) => r + sum({ ...s.counts, visible: 0, reasoning: 0 }, rates),
      ),
    },
    places: all,
    summary: /input and cached tokens counted twice/,
  },
  {
    id: 'F07',
    name: 'delta-row',
    fault: {
      rows: (rows, s) =>
        ok(s) && s.streamed ? [...rows, { ...rows[0]!, prompt_tokens: 0, spend: 0.0016 }] : rows,
    },
    places: ['log'],
    summary: /2 rows with tokens for one request/,
    rules: ['PRICE-04', 'PRICE-05'],
  },
  {
    id: 'F08',
    name: 'stream-cached-full',
    fault: {
      charge: when(
        (s) => ok(s) && s.streamed,
        (_r, s, rates) => sum(s.counts, without(rates, { read: rates.input })),
      ),
    },
    places: all,
    summary: /cache_read at the price of input \(of streams\)/,
  },
  {
    id: 'F09',
    name: 'cached-double',
    fault: { charge: more((s) => s.counts.read, 'input') },
    places: all,
    summary: /cache_read also charged as input/,
  },
  {
    id: 'F11',
    name: 'write-double',
    fault: { charge: more((s) => s.counts.write, 'input') },
    places: all,
    summary: /cache_write also charged as input/,
  },
  {
    id: 'F12',
    name: 'cached-full',
    fault: {
      charge: when(ok, (_, s, rates) => sum(s.counts, without(rates, { read: rates.input }))),
    },
    places: all,
    summary: /cache_read at the price of input/,
  },
  {
    id: 'F13',
    name: 'cached-negative',
    fault: { charge: when(ok, (r, s, rates) => r - BigInt(s.counts.read) * BigInt(rates.input)) },
    places: all,
    summary: /cached tokens subtracted/,
  },
  {
    id: 'F14',
    name: 'cache-price-ignored',
    fault: {
      charge: when(ok, (_, s, rates) => sum(s.counts, without(rates, { read: rates.input / 2 }))),
    },
    places: ['stated', 'log'],
    summary: /cache_read at 5 times its price/,
  },
  {
    id: 'F16',
    name: 'write-unseen',
    fault: {
      shown: (usage, s) =>
        s.counts.write > 0
          ? { ...usage, prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 } }
          : usage,
      charge: when(
        (s) => s.counts.write > 0,
        (_, s, rates) => sum(s.counts, without(rates, { write: rates.input })),
      ),
    },
    places: all,
    summary: /reads 3000 cached tokens that no earlier request wrote/,
    rules: ['PRICE-02'],
    dialects: ['chat'],
  },
  {
    id: 'F17',
    name: 'tier-marginal',
    fault: {
      charge: when(
        (s) => prompt(s) > 200_000,
        (_, s) => sum(s.counts, base),
      ),
    },
    places: all,
    summary: /the tier ignored|threshold at the price of the tier/,
  },
  {
    id: 'F18',
    name: 'tier-misses-read',
    fault: {
      charge: when(
        (s) => prompt(s) > 200_000,
        (_, s, rates) => sum(s.counts, without(rates, { read: base.read })),
      ),
    },
    places: all,
    summary: /cache_read at its price below the tier/,
  },
  {
    id: 'F19',
    name: 'flex-full',
    fault: {
      charge: when(
        (s) => s.serviceTier === 'flex',
        (_, s) => sum(s.counts, base),
      ),
    },
    places: all,
    summary: /the service tier ignored/,
  },
  {
    id: 'F22',
    name: 'snapshot-price',
    fault: {
      charge: when(
        (s) => s.model === 'big-2026',
        (r) => 2n * r,
      ),
    },
    places: all,
    summary: /charged twice|the price of big/,
  },
  {
    id: 'F23',
    name: 'unknown-free',
    fault: { charge: when((s) => s.model === 'big-2026', free) },
    places: all,
    summary: /free/,
  },
  {
    id: 'F24',
    name: 'component-free',
    fault: { charge: when(ok, (r, s, rates) => r - BigInt(s.counts.input) * BigInt(rates.input)) },
    places: all,
    summary: /input free/,
  },
  {
    id: 'F26',
    name: 'failed-attempt-charged',
    fault: {
      charge: when(
        (s) => s.ended === 'broken',
        (_, s, rates) => sum({ ...s.counts, visible: 0 }, rates),
      ),
    },
    places: ['log', 'balance'],
    summary: /its input charged|expected 0 USD|at least|0 USD/,
  },
  {
    id: 'F27',
    name: 'reasoning-double',
    fault: { charge: more((s) => s.counts.reasoning, 'reasoning') },
    places: all,
    summary: /reasoning counted twice/,
    dialects: ['chat'],
  },
  {
    id: 'F28',
    name: 'reasoning-free',
    fault: { charge: more((s) => s.counts.reasoning, 'reasoning', -1) },
    places: all,
    summary: /reasoning free/,
    dialects: ['chat'],
  },
  {
    id: 'F33',
    name: 'empty-charged',
    fault: {
      charge: when(
        (s) => s.ended === 'broken',
        () => 480_000_000n,
      ),
    },
    places: ['log', 'balance'],
    summary: /expected 0 USD|0\.00048/,
  },
  {
    id: 'F34',
    name: 'abort-estimated',
    fault: {
      charge: when(
        (s) => s.ended === 'broken',
        () => 1_280_000_000n,
      ),
    },
    places: ['log', 'balance'],
    summary: /0\.00128/,
  },
  {
    id: 'F35',
    name: 'abort-free',
    fault: { charge: when((s) => s.ended === 'aborted', free) },
    places: ['log', 'balance'],
    summary: /not charged|expected 0\.0000?48|"expected":"0\.00128 USD"/,
  },
  {
    id: 'F36',
    name: 'abort-full',
    fault: {
      charge: when(
        (s) => s.ended === 'aborted',
        (_, s, rates) => sum({ ...s.counts, visible: 80 }, rates),
      ),
    },
    places: ['log', 'balance'],
    summary: /charged in full|expected 0\.0000|"expected":"0\.00128 USD"/,
  },
  {
    id: 'F45',
    name: 'abort-refund-all',
    fault: { charge: when((s) => s.ended === 'aborted', free) },
    places: ['log', 'balance'],
    summary: /expected 0\.0000?(?:24|48)|"expected":"0\.00128 USD"/,
  },
  {
    id: 'F47',
    name: 'balance-without-ratio',
    fault: {
      charge: when(
        (s) => s.serviceTier === 'flex',
        (r) => 2n * r,
      ),
    },
    places: ['balance'],
    summary: /the service tier ignored/,
  },
  {
    id: 'F49',
    name: 'truncate-cents',
    fault: { charge: when(ok, (r) => (r / 10_000_000_000n) * 10_000_000_000n) },
    places: ['balance'],
    summary: /expected|rounded/,
  },
  {
    id: 'F50',
    name: 'round-component-up',
    fault: {
      charge: when(ok, (_, s, rates) =>
        (Object.keys(s.counts) as (keyof Rates)[])
          .map((part) => BigInt(s.counts[part]) * BigInt(rates[part]))
          .map((c) => ((c + 9_999_999_999n) / 10_000_000_000n) * 10_000_000_000n)
          .reduce((a, b) => a + b, 0n),
      ),
    },
    places: ['stated', 'log'],
    summary: /rounded to 2 decimals, up/,
  },
  {
    id: 'F51',
    name: 'log-twice',
    fault: { rows: (rows) => [...rows, ...rows] },
    places: ['log'],
    summary: /2 rows with tokens for one request/,
    rules: ['PRICE-04', 'PRICE-05'],
  },
  {
    id: 'F52',
    name: 'row-missing',
    fault: { rows: (rows, s) => (s.prompt === 'think' ? [] : rows) },
    places: ['log'],
    summary: /no row in the log/,
    rules: ['PRICE-05'],
  },
]
