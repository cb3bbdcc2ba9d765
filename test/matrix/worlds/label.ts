import { type Amount, finest, sizeOf, unitOf } from './amounts.ts'
import { modelOf } from './asks.ts'
import { isSure } from './cost.ts'
import type { Place } from './fault.ts'
import { begins, type Played, type Shown } from './play.ts'
import type { World } from './world.ts'

/** What an audit of a world may say. */
export interface Label {
  /** Places whose evidence proves the fault. */
  readonly provenAt: readonly Place[]
  /** Rules that the fault explains, without those of single prices. */
  readonly mayFail: ReadonlySet<string>
  /** Prices that may be blamed: `PRICE-03:big:input` ends with one. */
  readonly about: readonly string[]
  /** Whether something leaves a cost open, so that rules may be inconclusive. */
  readonly isDoubtful: boolean
}

const fewDigits = 6
const mostDigits = 12

/** What is known about a world by its own arithmetic alone. */
export function labelFor(world: World, played: Played): Label {
  const { terms, fault, isCaptured, conduct } = world
  const seen: Readonly<Record<Place, boolean>> = {
    answer: terms.cost !== null && isCaptured,
    log: terms.log,
    balance: terms.balance !== null && (terms.balance.at === 'page' || isCaptured),
  }
  const isDoubtful = conduct.has('bare usage') || world.asks.some((ask) => !isCertain(world, ask))
  // What is charged may take a balance below 0.
  const overdrawn = isOverdrawn(world, played) ? ['PRICE-07'] : []
  if (fault === null) return { provenAt: [], mayFail: new Set(overdrawn), about: [], isDoubtful }
  const places = fault.places.filter((place) => seen[place])
  const proof: Readonly<Record<Place, () => boolean>> = {
    answer: () => isProvenAt(world, played, 'answer'),
    log: () =>
      fault.deed === undefined ? isProvenAt(world, played, 'log') : isProvenByRows(world),
    balance: () => isProvenBySums(world, played),
  }
  return {
    provenAt: places.filter((place) => proof[place]()),
    mayFail: new Set([
      ...places.flatMap((place) => rulesOf[place]),
      // What remains and what is used no longer add up.
      ...(fault.deed === 'posted in one value' ? ['PRICE-07'] : []),
      ...overdrawn,
    ]),
    about: fault.about,
    isDoubtful,
  }
}

const isOverdrawn = ({ terms }: World, { shown }: Played) =>
  terms.balance?.moves === 'down' && shown.some(({ taken, extra }) => begins - taken + extra < 0n)

const rulesOf: Readonly<Record<Place, readonly string[]>> = {
  answer: ['PRICE-03', 'PRICE-05', 'PRICE-08'],
  log: ['PRICE-03', 'PRICE-04', 'PRICE-05', 'PRICE-08'],
  balance: ['PRICE-06', 'PRICE-08'],
}

type Asked = World['asks'][number]

/** Whether nothing but one cost is right, as far as a client can know. */
function isCertain(world: World, ask: Asked): boolean {
  return (
    isSure(world.terms, ask) &&
    !world.conduct.has('bare usage') &&
    // The first answer again costs what the contract says, or it may cost anything.
    (ask.repeats === null || world.terms.charged.gateway_cache !== 'open') &&
    isTold(world, ask)
  )
}

/** Whether the usage that the client has of an answer says all that is priced. */
function isTold(world: World, ask: Asked): boolean {
  const { terms, isCaptured } = world
  // Columns have neither seconds nor passes, nor tokens of other endpoints.
  if (!isCaptured && (ask.other !== undefined || ask.passes !== undefined)) return false
  if (ask.passes?.some(({ kind }) => kind === 'fallback_message') && terms.inner === undefined)
    return false
  const names = new Set([ask.model, ...(ask.passes ?? []).flatMap(({ model }) => model ?? [])])
  return [...names].every((model) => isToldOf(world, ask, model))
}

function isToldOf(
  { terms, isCaptured }: World,
  { dialect, ended, other }: Asked,
  model: string,
): boolean {
  const { prices, search, flex } = modelOf(terms, model)
  if (ended !== 'ok' || other !== undefined) return true
  // Columns have no calls, no writes by life, and no tier that served.
  if (!isCaptured && (search !== null || flex !== null || prices.cache_write_1h !== undefined))
    return false
  // These answers do not say how long they reasoned, and those do not say how long they keep a write.
  return dialect === 'chat' ? prices.cache_write_1h === undefined : prices.reasoning === undefined
}

/** An equal request got this answer before: a cache of the gateway may have answered. */
function isRepeat({ asks }: World, ask: Asked): boolean {
  const key = ({ model, prompt, isStream, isFlex, dialect }: Asked) =>
    JSON.stringify([model, prompt, isStream, isFlex, dialect])
  return asks
    .slice(0, asks.indexOf(ask))
    .some((each) => key(each) === key(ask) && each.ended === 'ok')
}

/** By an amount for one request: another one than the only right one, by more than the place hides. */
function isProvenAt(world: World, { amounts }: Played, place: 'answer' | 'log'): boolean {
  const { terms, asks, conduct } = world
  const digits = conduct.has('short costs') ? Math.min(fewDigits, terms.digits) : terms.digits
  const shownDigits = Math.min(mostDigits, digits)
  const isShown = (ask: Asked) =>
    place === 'log' ||
    ((ask.ended === 'ok' || ask.ended === 'empty' || ask.ended === 'filtered') &&
      !(ask.isStream && (terms.cost === 'header' || conduct.has('costs on plain answers alone'))))
  const unit = finest(
    amounts.flatMap((each, nth) => (isShown(asks[nth]!) ? [each[place]] : [])),
    shownDigits,
  )
  return asks.some((ask, nth) => {
    const { right, [place]: shown } = amounts[nth]!
    const isFree = shown === 0n && isRepeat(world, ask)
    return isShown(ask) && isCertain(world, ask) && !isFree && sizeOf(shown - right) > 2n * unit
  })
}

/** By what the rows of the log say beside their amounts. */
function isProvenByRows(world: World): boolean {
  const { asks } = world
  const others = asks.filter(({ ended, isStruck }) => ended === 'ok' && !isStruck)
  return asks.some((ask) => ask.isStruck && ask.repeats === null) && others.length > 0
}

/** By what a balance lost between two values, which the requests between them cannot cost. */
function isProvenBySums(world: World, played: Played): boolean {
  const accounts = Map.groupBy(played.shown, ({ account }) => account)
  return [...accounts].some(([account, values]) =>
    values
      .toSorted((a, b) => a.until - b.until)
      .some(
        (last, at, all) =>
          at > 0 &&
          (isWrongSum(world, played, account, all[at - 1]!, last) ||
            isWrongSum(world, ofOthers(played), account, ofOther(all[at - 1]!), ofOther(last))),
      ),
  )
}

const ofOthers = (played: Played): Played => ({ ...played, shown: played.shown.map(ofOther) })
const ofOther = (shown: Shown): Shown => ({ ...shown, taken: shown.otherTaken ?? shown.taken })

function isWrongSum(
  world: World,
  { amounts, shown }: Played,
  account: string,
  first: Shown,
  last: Shown,
): boolean {
  if (first.extra !== last.extra) return false
  const withinS = world.terms.balance!.withinS
  const own = world.asks
    .map((ask, nth) => ({ ask, right: amounts[nth]!.right, end: ask.at + ask.seconds + withinS }))
    .filter(({ ask }) => ask.account === account)
  const surely = own.filter(({ ask, end }) => ask.at >= first.until && end <= last.from)
  const perhaps = own.filter(
    (each) => !surely.includes(each) && each.ask.at <= last.until && each.end >= first.from,
  )
  const behind = own.filter(({ ask, end }) => ask.at <= first.until && end > last.from)
  const all = [...surely, ...perhaps]
  if (all.length === 0 && first.taken === last.taken) return false
  if (
    all.some(
      ({ ask }) =>
        !isCertain(world, ask) || (ask.isStruck && ask.repeats === null && isRepeat(world, ask)),
    )
  )
    return false
  const sum = (of: typeof own) => of.reduce((total, { right }) => total + right, 0n)
  const [low, high] = [sum(surely) - sum(behind), sum(all)]
  const taken: Amount = last.taken - first.taken
  const charges = BigInt(Math.max(1, all.length)) * unitOf(Math.min(mostDigits, world.terms.digits))
  const place = finest(
    shown.map(({ taken }) => taken),
    mostDigits,
  )
  const slack = 2n * (place > charges ? place : charges)
  return taken > high + slack || taken < low - slack
}
