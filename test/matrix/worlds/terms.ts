import { parseContract } from '../../../src/contract/load.ts'
import type { Rounding } from './amounts.ts'
import type { Draw } from './draw.ts'

/** Parts of a usage that have a price, with the price that each falls back to. */
export const parents = {
  input: null,
  cache_read: 'input',
  cache_write: 'input',
  cache_write_1h: 'cache_write',
  output: null,
  reasoning: 'output',
} as const
export type Part = keyof typeof parents
export const parts = Object.keys(parents) as readonly Part[]
export type Prices = Readonly<Partial<Record<Part, string>>>

/** A model as its prices are promised. Times are seconds since the run began. */
export interface Model {
  readonly id: string
  readonly alias: string | null
  /** For 1,000,000 tokens. */
  readonly prices: Prices
  readonly request: string | null
  readonly search: string | null
  readonly tier: {
    readonly from: number
    readonly isAbove: boolean
    readonly count: 'prompt' | 'input'
    readonly apply: 'whole' | 'marginal'
    readonly prices: Prices
  } | null
  readonly flex: string | null
  /** Minutes of the UTC day. */
  readonly hours: { readonly from: number; readonly to: number; readonly times: string } | null
  readonly change: { readonly at: number; readonly prices: Prices } | null
  readonly margin: string | null
  readonly group: { readonly usual: string; readonly vip: string } | null
  readonly round: {
    readonly at: 'request' | 'component'
    readonly digits: number
    readonly mode: Rounding
  } | null
  readonly minimum: string | null
  /** For a second of sound: rounded up to whole steps, and no less than the least. */
  readonly second?: Sound | undefined
}

export interface Sound {
  readonly price: string
  readonly least: number
  readonly step: number
}

export type Ending = 'refused' | 'broken' | 'abort' | 'empty' | 'filtered' | 'gateway_cache'
export type Charged = 'full' | 'input' | 'received' | 'none' | 'open'

export interface Terms {
  readonly currency: string
  readonly digits: number
  readonly startMs: number
  readonly models: readonly Model[]
  readonly charged: Readonly<Record<Ending, Charged>>
  readonly isVip: boolean
  /** Where the service shows money, if the contract names it. */
  readonly cost: 'header' | 'body' | 'both' | null
  readonly log: boolean
  readonly balance: {
    readonly at: 'page' | 'header'
    readonly moves: 'up' | 'down'
    readonly withinS: number
    /** Whether it shows what is left and what is used, and how the contract states their sum. */
    readonly both?: 'no limit' | 'an amount' | 'a place'
  } | null
  /** What an attempt costs that gave way to another model; absent: the contract does not say. */
  readonly inner?: 'full' | 'none'
}

export type Need =
  | ('cache' | 'reasoning' | 'search' | 'request' | 'tier' | 'flex' | 'hours' | 'change' | 'margin')
  | ('group' | 'round' | 'minimum' | 'models' | 'alias' | 'down' | Ending)
  | ('passes' | 'fallback' | 'embeddings' | 'transcriptions' | 'both')

const minuteMs = 60_000

/** Prices as vendors write them. */
const priceOf = (draw: Draw, least = 0.05) =>
  String(
    Number(
      (draw.chance(0.5)
        ? draw.one([0.15, 0.6, 1, 2.5, 4, 10, 15])
        : draw.whole(1, 999) / draw.one([10, 100, 1000])
      ).toFixed(3),
    ) + least,
  ).slice(0, 6)

function pricesOf(draw: Draw, needs: ReadonlySet<Need>): Prices {
  const has = (need: Need, chance: number) => needs.has(need) || draw.chance(chance)
  const cached = has('cache', 0.5)
  const input = priceOf(draw)
  /** Most services read a cache for less than a prompt costs, and write it for more; nothing in a contract says so. */
  const near = (by: readonly number[]) =>
    draw.chance(0.8) ? String(Number((Number(input) * draw.one(by)).toFixed(6))) : priceOf(draw)
  return {
    input,
    output: priceOf(draw),
    ...(cached ? { cache_read: near([0.1, 0.25, 0.5]) } : {}),
    ...(cached && (needs.has('cache') || draw.chance(0.7))
      ? { cache_write: near([1.25, 1.5]) }
      : {}),
    ...(cached && (needs.has('cache') || draw.chance(0.3)) ? { cache_write_1h: near([2, 3]) } : {}),
    ...(has('reasoning', 0.25) ? { reasoning: priceOf(draw) } : {}),
  }
}

/** The prices of a tier or a change: some of those that the model has. */
function someOf(draw: Draw, prices: Prices): Prices {
  const named = (Object.keys(prices) as Part[]).filter(() => draw.chance(0.7))
  const chosen: readonly Part[] = named.length === 0 ? ['input'] : named
  return Object.fromEntries(chosen.map((part) => [part, priceOf(draw, 0.07)]))
}

function modelOf(draw: Draw, id: string, needs: ReadonlySet<Need>, startMs: number): Model {
  const has = (need: Need, chance: number) => needs.has(need) || draw.chance(chance)
  const prices = pricesOf(draw, needs)
  const minute = Math.floor((startMs % 86_400_000) / minuteMs)
  const from = Math.max(0, minute - draw.whole(-2, 90))
  return {
    id,
    alias: has('alias', 0.3) ? `${id}-latest` : null,
    prices,
    request: has('request', 0.2) ? `0.00${draw.whole(1, 99)}` : null,
    search: has('search', 0.2) ? `0.0${draw.whole(1, 9)}` : null,
    tier: has('tier', 0.25)
      ? {
          from: draw.whole(500, 4000),
          isAbove: draw.chance(0.7),
          count: draw.chance(0.8) ? 'prompt' : 'input',
          apply: draw.chance(0.85) ? 'whole' : 'marginal',
          prices: someOf(draw, prices),
        }
      : null,
    flex: has('flex', 0.25) ? draw.one(['0.5', '0.75', '1.5']) : null,
    hours: has('hours', 0.2)
      ? {
          from,
          to: Math.min(1439, from + draw.whole(2, 200)),
          times: draw.one(['0.5', '1.5', '2']),
        }
      : null,
    change: has('change', 0.2)
      ? { at: draw.whole(-2000, 100), prices: someOf(draw, prices) }
      : null,
    margin: has('margin', 0.2) ? draw.one(['1.1', '1.05', '0.9']) : null,
    group: has('group', 0.2)
      ? { usual: draw.one(['1', '1.2']), vip: draw.one(['0.8', '0.5', '1.7']) }
      : null,
    round: null,
    minimum: has('minimum', 0.1) ? draw.one(['0.0005', '0.001', '0.01']) : null,
  }
}

const endings: readonly Ending[] = [
  'refused',
  'broken',
  'abort',
  'empty',
  'filtered',
  'gateway_cache',
]

function chargedOf(draw: Draw): Terms['charged'] {
  const open = (of: readonly Charged[]) => draw.one<Charged>([...of, 'open'])
  return {
    refused: draw.chance(0.9) ? 'none' : 'open',
    broken: open(['none', 'none', 'input']),
    abort: open(['none', 'received', 'received', 'full', 'input']),
    empty: open(['none', 'full']),
    filtered: open(['none', 'full']),
    gateway_cache: open(['none', 'full']),
  }
}

/** A legal contract, with what a fault or a conduct needs. */
export function drawTerms(draw: Draw, needs: ReadonlySet<Need>): Terms {
  const startMs = Date.UTC(
    2026,
    draw.whole(0, 11),
    draw.whole(1, 28),
    draw.whole(0, 22),
    draw.whole(0, 59),
  )
  const names = draw.chance(0.4) || needs.has('models') ? ['big', 'small'] : ['big']
  const models = names.map((id) => modelOf(draw, id, needs, startMs))
  const isCoarse = needs.has('round') || draw.chance(0.25)
  const digits = isCoarse ? draw.one([2, 4, 6]) : 12
  const round = {
    at: draw.one(['request', 'request', 'component'] as const),
    digits,
    mode: draw.one(['up', 'down', 'half_up', 'half_even'] as const),
  }
  const charged = chargedOf(draw)
  const promised = endings.filter((ending) => needs.has(ending))
  return {
    currency: draw.one(['USD', 'USD', 'USD', 'CNY', 'quota']),
    digits,
    startMs,
    models: isCoarse ? models.map((model) => ({ ...model, round })) : models,
    charged: {
      ...charged,
      ...Object.fromEntries(
        promised.filter((each) => charged[each] === 'open').map((each) => [each, 'none']),
      ),
    },
    isVip: models.some(({ group }) => group !== null) && draw.chance(0.5),
    cost: draw.chance(0.5) ? draw.one(['header', 'body', 'both'] as const) : null,
    log: draw.chance(0.5),
    balance:
      needs.has('down') || draw.chance(0.75)
        ? {
            at: draw.chance(0.5) ? 'page' : 'header',
            moves: needs.has('down') || draw.chance(0.5) ? 'down' : 'up',
            withinS: draw.one([0, 0, 5]),
          }
        : null,
  }
}

/** What is left and what is used add up to this. */
export const sumOfBoth = 300

const bothValues = ({ at, moves, both }: NonNullable<Terms['balance']>) => ({
  also: [
    {
      ...(at === 'page' ? { value: 'info.other' } : { header: 'x-other' }),
      moves: moves === 'up' ? 'down' : 'up',
    },
  ],
  ...(both === 'an amount' ? { limit: sumOfBoth } : {}),
  ...(both === 'a place' ? { limit: at === 'page' ? 'info.most' : 'x-most' } : {}),
})

const clock = (minute: number) =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`

/** The contract that these terms are, as its file states it. */
export function contractText({
  currency,
  digits,
  startMs,
  models,
  charged,
  cost,
  log,
  balance,
  inner,
}: Terms) {
  const written = Object.entries(charged).filter(([, charge]) => charge !== 'open')
  return {
    ...{ extends: 'none', name: 'world', currency, digits },
    charged: {
      success: 'full',
      ...Object.fromEntries(written),
      ...(inner === undefined ? {} : { inner_attempt: inner }),
    },
    ...(inner === undefined ? {} : { served: 'any' }),
    models: models.map((model) => ({
      id: model.id,
      ...(model.alias === null ? {} : { aliases: [model.alias] }),
      price: {
        ...model.prices,
        ...(model.request === null ? {} : { request: model.request }),
        ...(model.search === null ? {} : { search: model.search }),
        ...(model.second === undefined
          ? {}
          : {
              second: {
                price: model.second.price,
                ...(model.second.least === 0 ? {} : { minimum: model.second.least }),
                ...(model.second.step === 0 ? {} : { step: model.second.step }),
              },
            }),
      },
      ...(model.tier === null
        ? {}
        : {
            tiers: {
              ...{ count: model.tier.count, apply: model.tier.apply },
              steps: [
                {
                  [model.tier.isAbove ? 'above' : 'from']: model.tier.from,
                  price: model.tier.prices,
                },
              ],
            },
          }),
      ...(model.flex === null ? {} : { service: { flex: { times: model.flex } } }),
      ...(model.hours === null
        ? {}
        : {
            hours: [
              {
                utc: [`${clock(model.hours.from)}-${clock(model.hours.to)}`],
                times: model.hours.times,
              },
            ],
          }),
      ...(model.change === null
        ? {}
        : {
            changes: [
              {
                from: new Date(startMs + 1000 * model.change.at).toISOString(),
                price: model.change.prices,
              },
            ],
          }),
      times: {
        ...(model.margin === null ? {} : { margin: model.margin }),
        ...(model.group === null
          ? {}
          : { group: { default: model.group.usual, vip: model.group.vip } }),
      },
      ...(model.round === null ? {} : { round: model.round }),
      ...(model.minimum === null ? {} : { minimum: model.minimum }),
    })),
    evidence: {
      ...(cost === null
        ? {}
        : {
            cost: [
              ...(cost === 'body' ? [] : [{ header: 'x-cost' }]),
              ...(cost === 'header' ? [] : [{ body: 'usage.cost' }]),
            ],
          }),
      ...(log
        ? {
            log: {
              ...{ get: '/spend/logs?request_id={response.id}', id: 'request_id', cost: 'spend' },
              ...{ model: 'model', at: 'startTime' },
            },
          }
        : {}),
      ...(balance === null
        ? {}
        : {
            balance: {
              ...(balance.at === 'page'
                ? { get: '/key/info', value: 'info.value' }
                : { header: 'x-balance' }),
              moves: balance.moves,
              ...(balance.both === undefined ? {} : bothValues(balance)),
              ...(balance.withinS === 0 ? {} : { within: `${balance.withinS}s` }),
            },
          }),
    },
  }
}

export const contractOf = (terms: Terms) => parseContract(contractText(terms), 'world.yaml')
