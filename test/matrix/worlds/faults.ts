import { type Amount, amount, type Rounding, rounded } from './amounts.ts'
import type { Ask } from './asks.ts'
import type { Line, Twist } from './cost.ts'
import type { Draw } from './draw.ts'
import { type Ending, type Model, type Need, type Part, parents, type Terms } from './terms.ts'

export type Place = 'answer' | 'log' | 'balance'

/** What a fault does beside, or instead of, another amount. */
export type Deed =
  | 'row twice'
  | 'row missing'
  | 'other tokens in the row'
  | 'other time in the row'
  | 'other model in the row'
  | 'posted twice'
  | 'not posted'
  | 'posted to another account'
  | 'given back'
  | 'given back twice'
  | 'grant taken'

type Family = string

/** A fault of a service, with the words that a finding must have to name its cause. */
export interface Fault {
  readonly name: string
  readonly family: Family
  readonly needs: readonly Need[]
  readonly places: readonly Place[]
  readonly twist?: Twist
  readonly deed?: Deed
  /** Which requests can show it. */
  readonly strikes: (ask: Ask, terms: Terms) => boolean
  readonly cause: RegExp
  /** The prices that may be blamed, as findings of their own. */
  readonly about: readonly string[]
}

const all: readonly Place[] = ['answer', 'log', 'balance']
const books: readonly Place[] = ['log', 'balance']
const isOk = ({ ended }: Ask) => ended === 'ok'
const has = (part: Part) => (ask: Ask) => isOk(ask) && ask.counts[part] > 0

const onLines = (
  part: Part,
  change: (line: Line, rateOf: (part: Part) => Amount) => readonly Line[],
): Twist => ({
  lines: (lines, rateOf) =>
    lines.flatMap((line) => (line.name === part ? change(line, rateOf) : [line])),
})

const needOf: Readonly<Partial<Record<Part, Need>>> = {
  cache_read: 'cache',
  cache_write: 'cache',
  cache_write_1h: 'cache',
  reasoning: 'reasoning',
}
const needsOf = (...of: readonly Part[]) => of.flatMap((part) => needOf[part] ?? [])

/** Each part at the price of each other one, free, twice, and beside its parent. */
function partFault(draw: Draw): Fault {
  const part = draw.one(Object.keys(parents) as readonly Part[])
  const other = draw.one((Object.keys(parents) as readonly Part[]).filter((each) => each !== part))
  const parent = parents[part]
  const usual = {
    family: 'price',
    needs: needsOf(part, other),
    places: all,
    strikes: has(part),
    about: [part],
  }
  const kinds: readonly Fault[] = [
    {
      ...usual,
      name: `${part} at the price of ${other}`,
      twist: onLines(part, (line, rateOf) => [{ ...line, each: rateOf(other) }]),
      cause: new RegExp(`${part} at the price of ${other}`),
    },
    {
      ...{ ...usual, needs: needsOf(part) },
      name: `${part} free`,
      twist: onLines(part, () => []),
      cause: new RegExp(`${part} free`),
    },
    {
      ...{ ...usual, needs: needsOf(part), family: 'count' },
      name: `${part} counted twice`,
      twist: onLines(part, (line) => [line, line]),
      cause: new RegExp(`${part} counted twice`),
    },
    ...(parent === null
      ? []
      : [
          {
            ...{ ...usual, needs: needsOf(part), family: 'count' },
            name: `${part} also charged as ${parent}`,
            twist: onLines(part, (line, rateOf) => [line, { ...line, each: rateOf(parent) }]),
            cause: new RegExp(`${part} also charged as ${parent}`),
          },
        ]),
  ]
  return draw.one(kinds)
}

/** A price that is in no contract: the finding names the part, and the price that it is. */
function wrongNumber(draw: Draw): Fault {
  const part = draw.one(Object.keys(parents) as readonly Part[])
  const by = draw.one([11n, 9n, 13n, 8n])
  return {
    ...{ name: `${part} at ${Number(by) / 10} of its price`, family: 'price' },
    ...{ needs: needsOf(part), places: all, strikes: has(part), about: [part] },
    twist: onLines(part, (line) => [{ ...line, each: (line.each * by) / 10n }]),
    cause: new RegExp(`${part} at ${Number(by) / 10} times its price`),
  }
}

const wholes = [
  ['free', (cost) => 0n * cost, /free/],
  ['charged twice', (cost) => 2n * cost, /charged twice/],
  ['in hundredths', (cost) => 100n * cost, /in hundredths/],
  ['a thousandth', (cost) => cost / 1000n, /a thousandth/],
  ['a tenth more', (cost) => (cost * 11n) / 10n, /1\.1 times/],
] as const satisfies readonly (readonly [string, (cost: Amount) => Amount, RegExp])[]

function wholeFault(draw: Draw): Fault {
  const [name, whole, cause] = draw.one(wholes)
  const currency = name === 'in hundredths' || name === 'a thousandth'
  const isStreams = draw.chance(0.4)
  return {
    ...{ name: `${name}${isStreams ? ' (streams)' : ''}`, needs: [], places: all, about: [] },
    family: currency
      ? 'currency'
      : name === 'free'
        ? 'lost'
        : name === 'charged twice'
          ? 'double'
          : 'price',
    strikes: (ask) => isOk(ask) && (!isStreams || ask.isStream),
    twist: { whole },
    cause,
  }
}

const onModel = (
  name: string,
  family: Family,
  need: Need,
  about: readonly string[],
  change: (model: Model, ask: Ask, terms: Terms) => Model,
  cause: RegExp,
): Fault => ({
  ...{ name, family, needs: [need], places: all, about, cause },
  strikes: isOk,
  twist: { model: change },
})

/** Steps of the price that are left out, or taken for others. */
const stepFaults: readonly Fault[] = [
  onModel(
    'tier ignored',
    'tier',
    'tier',
    [],
    (model) => ({ ...model, tier: null }),
    /the tier ignored/,
  ),
  onModel(
    'tier by the piece',
    'tier',
    'tier',
    [],
    (model) => ({
      ...model,
      tier: model.tier === null ? null : { ...model.tier, apply: 'marginal' },
    }),
    /only the tokens above the threshold/,
  ),
  onModel(
    'tier counts input alone',
    'tier',
    'tier',
    [],
    (model) => ({ ...model, tier: model.tier === null ? null : { ...model.tier, count: 'input' } }),
    /the tier counts input without/,
  ),
  onModel(
    'flex ignored',
    'tier',
    'flex',
    [],
    (model) => ({ ...model, flex: null }),
    /the service tier ignored/,
  ),
  onModel(
    'hours ignored',
    'time',
    'hours',
    [],
    (model) => ({ ...model, hours: null }),
    /the hours ignored/,
  ),
  onModel(
    'hours all day',
    'time',
    'hours',
    [],
    (model) => ({
      ...model,
      hours: model.hours === null ? null : { ...model.hours, from: 0, to: 1440 },
    }),
    /the hours applied all day/,
  ),
  onModel(
    'stale price',
    'time',
    'change',
    [],
    (model) => ({ ...model, change: null }),
    /the price before/,
  ),
  onModel(
    'change too early',
    'time',
    'change',
    [],
    (model) => ({ ...model, change: model.change === null ? null : { ...model.change, at: -1e6 } }),
    /a change applied before its time/,
  ),
  onModel(
    'margin left out',
    'price',
    'margin',
    [],
    (model) => ({ ...model, margin: null }),
    /the factor margin left out/,
  ),
  onModel(
    'group left out',
    'price',
    'group',
    [],
    (model) => ({ ...model, group: null }),
    /the factor group left out/,
  ),
  onModel(
    'other group',
    'price',
    'group',
    [],
    (model) => ({
      ...model,
      group: model.group === null ? null : { usual: model.group.vip, vip: model.group.usual },
    }),
    /the factor of group/,
  ),
  onModel(
    'rounding left out',
    'rounding',
    'round',
    [],
    (model) => ({ ...model, round: null }),
    /the rounding left out/,
  ),
  onModel(
    'minimum left out',
    'rounding',
    'minimum',
    [],
    (model) => ({ ...model, minimum: null }),
    /the smallest charge left out/,
  ),
  onModel(
    'request free',
    'price',
    'request',
    ['request'],
    (model) => ({ ...model, request: null }),
    /request free/,
  ),
  onModel(
    'search free',
    'price',
    'search',
    ['search'],
    (model) => ({ ...model, search: null }),
    /search free/,
  ),
  onModel(
    'price of another model',
    'price',
    'models',
    [],
    (model, ask, { models }) => {
      const other = models.find(({ id }) => id !== model.id) ?? model
      return { ...other, id: model.id, alias: ask.model }
    },
    /the price of (big|small)/,
  ),
]

function roundedFault(draw: Draw): Fault {
  const digits = draw.one([2, 4, 6])
  const mode = draw.one<Rounding>(['up', 'down'])
  return {
    ...{
      name: `rounded ${mode} to ${digits}`,
      family: 'rounding',
      needs: [],
      places: all,
      about: [],
    },
    strikes: isOk,
    twist: { whole: (cost) => rounded(cost, digits, mode) },
    cause: new RegExp(`rounded to ${digits} decimals, ${mode}|free`),
  }
}

/** Another charge for how a request ended. */
const endFault = (
  name: string,
  family: Family,
  ending: Ending,
  twist: Twist,
  cause: RegExp,
): Fault => ({
  ...{ name, family, needs: [ending], places: books, about: [], twist, cause },
  strikes: ({ ended }, { charged }) => ended === ending && charged[ending] !== 'open',
})

const full: Twist = { charge: 'full' }
const none: Twist = { whole: () => 0n }
const endFaults: readonly Fault[] = [
  endFault('abort charged in full', 'aborted', 'abort', full, /charged in full|which cost nothing/),
  endFault('abort free', 'aborted', 'abort', none, /not charged/),
  endFault(
    'abort charged for max_tokens',
    'aborted',
    'abort',
    { ask: (ask) => ({ ...ask, ended: 'ok', counts: { ...ask.counts, output: 4000 } }) },
    /max_tokens|another count of output|which cost nothing/,
  ),
  endFault(
    'broken charged in full',
    'refunded',
    'broken',
    full,
    /charged in full|its input charged|which cost nothing/,
  ),
  endFault(
    'refused charged',
    'refunded',
    'refused',
    full,
    /charged in full|its input charged|which cost nothing|belongs to no request/,
  ),
  endFault('empty charged', 'refunded', 'empty', full, /charged in full|which cost nothing/),
  endFault('filtered charged', 'refunded', 'filtered', full, /charged in full|which cost nothing/),
  endFault('replay charged', 'replayed', 'gateway_cache', full, /charged in full/),
]

const deedFault = (
  name: string,
  family: Family,
  deed: Deed,
  places: readonly Place[],
  cause: RegExp,
  needs: readonly Need[] = [],
  strikes: Fault['strikes'] = isOk,
): Fault => ({ name, family, needs, places, about: [], deed, cause, strikes })

const deedFaults: readonly Fault[] = [
  deedFault('row twice', 'double', 'row twice', ['log'], /2 rows with tokens/),
  deedFault('row missing', 'lost', 'row missing', ['log'], /no row in the log/),
  deedFault(
    'other tokens in the row',
    'count',
    'other tokens in the row',
    ['log'],
    /tokens in the log/,
  ),
  deedFault('other time in the row', 'time', 'other time in the row', ['log'], /in the log, sent/),
  deedFault(
    'other model in the row',
    'price',
    'other model in the row',
    ['log'],
    /^model .* in the log/,
  ),
  deedFault('posted twice', 'double', 'posted twice', ['balance'], /charged twice/),
  deedFault('not posted', 'lost', 'not posted', ['balance'], /free/),
  deedFault(
    'posted to another account',
    'accounts',
    'posted to another account',
    ['balance'],
    /free|another account/,
    [],
    (ask) => isOk(ask),
  ),
  deedFault('given back', 'refunded', 'given back', ['balance'], /free/),
  deedFault('given back twice', 'refunded', 'given back twice', ['balance'], /given back|refund/),
  deedFault(
    'grant taken',
    'grant',
    'grant taken',
    ['balance'],
    /without a request|no request|a grant/,
    ['down'],
  ),
]

export function drawFault(draw: Draw): Fault {
  const fault = draw.one([
    ...[partFault, partFault, partFault, wrongNumber, wholeFault, roundedFault],
    ...[() => draw.one(stepFaults), () => draw.one(stepFaults)],
    ...[() => draw.one(endFaults), () => draw.one(deedFaults)],
  ])(draw)
  // A wrong meter shows everywhere, a wrong book alone.
  const places = draw.chance(0.4) ? fault.places : [draw.one(fault.places)]
  return { ...fault, places }
}

/** What a grant loses before its time. */
export const grantTaken = amount('0.5')
