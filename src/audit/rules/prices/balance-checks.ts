import type { BalanceTerms } from '../../../contract/prices.ts'
import { compare, zero } from '../../../money/rational.ts'
import { endings } from '../../../price/judge/ended-words.ts'
import { expectedCosts } from '../../../price/judge/expected.ts'
import type { PriceJudge } from '../../../price/judge/price-judge.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { strictJudge, unseenText } from '../../../price/judge/unseen.ts'
import { counted } from '../../../user/grouped.ts'
import { chargedOfLeft } from '../../evidence/prices/charged-of-left.ts'
import { expiredEarly } from '../../evidence/prices/expiries.ts'
import { explainSums } from '../../evidence/prices/explain-sums.ts'
import { repeatsOf } from '../../evidence/prices/free-repeats.ts'
import { hiddenBeside, misfitOf } from '../../evidence/prices/header-states.ts'
import { isHeldInHeaders } from '../../evidence/prices/held.ts'
import type { PriceJudgements } from '../../evidence/prices/judgements.ts'
import { latenessOf, perhapsLateMs } from '../../evidence/prices/late-values.ts'
import { silenceOn, silenceText } from '../../evidence/prices/place-verdict.ts'
import { type Reading, unreadable, whyNone } from '../../evidence/prices/readings.ts'
import { againText, asSurelyAgain, mayBeNew } from '../../evidence/prices/replays.ts'
import { computedBounds, type Recorded } from '../../evidence/prices/request-charge.ts'
import {
  besideReadings,
  type ReadingStretch,
  stretchesOf,
} from '../../evidence/prices/stretches.ts'
import { doubtOfTaken, rangeOf, short, thousandsText } from '../../evidence/prices/taken-doubt.ts'
import { unlikeValues } from '../../evidence/prices/unlike-values.ts'
import {
  fail,
  inconclusive,
  notObserved,
  pass,
  type Verdict,
  type Witness,
  witnessAt,
} from '../../verdict.ts'
import { misfitVerdict } from './misfit-verdict.ts'

export const requires =
  'reads of the balance or spend that evidence.balance names, before, between and after requests with a cost'

/** A pass over the rest of the requests needs at most this part of them to be beside the values. */
const mostBeside = 0.2

/** What the values of a balance did, beside the costs of the requests between them. */
export interface Moves {
  readonly found: PriceJudgements
  readonly terms: BalanceTerms
  /** The currency, or credits. */
  readonly unit: string
  readonly recorded: Recorded
  readonly readings: readonly Reading[]
  readonly held: readonly Reading[]
  readonly unproven: readonly Reading[]
  readonly stretches: readonly ReadingStretch[]
  /** Stretches that are right, and whose costs are large enough to show an error. */
  readonly shown: readonly ReadingStretch[]
}

/** A verdict; null if the check says nothing, and the next one is asked. */
type Check = (moves: Moves) => Verdict | null

/** What speaks against a pass, in the order in which it counts. */
const checks: readonly Check[] = [
  wrongStretch,
  stillHeld,
  misfit,
  unread,
  silentEnd,
  newRepeat,
  chargedRepeat,
  unseenTokens,
  offByOnePlace,
  hiddenByOthers,
  mostlyBeside,
  right,
  nothingBetween,
]

/** The verdict of the first check that has one. */
export function verdictOn(moves: Moves): Verdict {
  for (const check of checks) {
    const verdict = check(moves)
    if (verdict !== null) return verdict
  }
  return openOrSmall(moves)
}

const fromMoves = ({ found, terms, recorded }: Moves) =>
  [found.requests, terms, found.judge, recorded] as const

function wrongStretch(moves: Moves): Verdict | null {
  const { found, terms, unit, readings, stretches } = moves
  const wrong = stretches.filter(({ isRight }) => !isRight)
  const [first] = wrong
  if (first === undefined) return null
  const of = fromMoves(moves)
  const late = latenessOf(readings, ...of)
  const unless = unpromised(late, terms) ?? heldInHeaders(readings, of)
  const doubt =
    unless === null
      ? doubtOfTaken(found, readings, terms, first)
      : `${short(first.taken)} ${unit} between two readings, expected ${rangeOf(first, unit)}, which is right if ${unless}`
  if (doubt !== null) return inconclusive(stretches.length, doubt, [witnessOf(first, unit)])
  const why =
    (late === null
      ? ''
      : `: values are ${lateText(late)}, where the contract says ${secondsOf(terms.withinMs)} s`) ||
    expiredEarly(stretches, unit) ||
    explainSums(stretches, ...of) ||
    chargedOfLeft(stretches, found.judge) ||
    unlikeValues(readings, ...of) ||
    perhapsLate(readings, of)
  return fail(stretches.length, {
    expected: rangeOf(first, unit),
    fact: `${short(first.taken)} ${unit} were taken between two readings, where ${counted(first.count, 'request', 'cost')} ${rangeOf(first, unit)}`,
    observed: `${short(first.taken)} ${unit} between two readings; ${wrong.length} of ${stretches.length} stretches are wrong${why}`,
    witnesses: wrong.slice(0, 5).map((stretch) => witnessOf(stretch, unit)),
  })
}

function stillHeld({ unproven, stretches }: Moves): Verdict | null {
  const [first] = unproven
  return first === undefined
    ? null
    : inconclusive(
        stretches.length + unproven.length,
        `more was taken by the value ${first.text} than the requests cost: a wrong charge, or money that is held back for requests that ran or could still settle; read the balance once more after them`,
        [witnessAt(first.request, `shows ${first.text}`)],
      )
}

function misfit({ found, terms, recorded, stretches }: Moves): Verdict | null {
  const perhapsFree = new Set(repeatsOf(found.requests).filter((each) => !recorded.has(each)))
  const first = misfitOf(stretches, found.requests, terms, found.judge, perhapsFree)
  return first === null ? null : misfitVerdict(first, stretches, found, terms)
}

function unread({ found, terms, readings }: Moves): Verdict | null {
  return unreadableValues(unreadable(found, terms), readings.length)
}

/** Requests that ended in a way of which the contract does not say what it costs, and for which something may have been taken. */
function silentEnd({ found, recorded, stretches, shown }: Moves): Verdict | null {
  // In these, more was taken than the certain costs, for any of the requests.
  const unclear = new Set(
    stretches
      .filter(({ high, low, taken }) => high === null && compare(taken, low) > 0)
      .flatMap(({ requests }) => requests()),
  )
  /** What a request cost, where a place shows it; else nothing, unless something may have been taken for it: null. */
  const takenFor = (request: PricedRequest) =>
    recorded.get(request)?.value ?? (unclear.has(request) ? null : zero)
  const silent = found.requests.filter(
    (request) => silenceOn(request, found.judge, takenFor(request)) !== null,
  )
  return shown.length + unclear.size > 0 && silent.length > 0
    ? inconclusive(stretches.length, silenceText(silent))
    : null
}

/** Whether the stretches are right also if this is so instead: other requests, another judge, or other recorded costs. */
function areRight(
  { found, terms, recorded, readings }: Moves,
  instead: Partial<Pick<PriceJudgements, 'requests' | 'judge'> & { readonly recorded: Recorded }>,
): boolean {
  const of = { requests: found.requests, judge: found.judge, recorded, ...instead }
  const stretches = stretchesOf(readings, of.requests, terms, of.judge, of.recorded)
  return stretches.every(({ isRight }) => isRight)
}

function newRepeat(moves: Moves): Verdict | null {
  const { requests, judge } = moves.found
  const again = requests.filter((each) => mayBeNew(each, judge))
  return again.length > 0 && !areRight(moves, { requests: asSurelyAgain(requests, judge) })
    ? inconclusive(moves.stretches.length, againText(again.length))
    : null
}

/** Something was taken for answers that came again, and the contract does not say what those cost. */
function chargedRepeat(moves: Moves): Verdict | null {
  const { found, recorded, stretches } = moves
  const again = found.requests.filter(isOpenRepeat(found.judge))
  const free = again.map((request) => [request, { value: zero, unit: zero }] as const)
  return again.length > 0 && !areRight(moves, { recorded: new Map([...recorded, ...free]) })
    ? inconclusive(
        stretches.length,
        `something was taken for ${again.length === 1 ? 'an answer' : `${again.length} answers`} ${endings.gateway_cache}, and the contract does not say what those cost (charged.gateway_cache: none or full)`,
      )
    : null
}

const isOpenRepeat = (judge: PriceJudge) => (request: PricedRequest) =>
  expectedCosts(request, judge).open.includes('charged.gateway_cache')

/** What was taken is right only if the service counted what it does not show. */
function unseenTokens(moves: Moves): Verdict | null {
  const { requests, judge } = moves.found
  const strict = strictJudge(requests, judge)
  return moves.shown.length > 0 && strict !== null && !areRight(moves, { judge: strict })
    ? inconclusive(moves.stretches.length, unseenText('some of what was taken is'))
    : null
}

function offByOnePlace({ unit, stretches, shown }: Moves): Verdict | null {
  // What one value hides, the next one makes good, except for the first and the last of all.
  const off = stretches.find(
    (each) => each.isOffByPlace && (each.isWhole || stretches.length === 1),
  )
  return shown.length > 0 && off !== undefined
    ? inconclusive(
        stretches.length,
        `${short(off.taken)} ${unit} taken, where ${counted(off.count, 'request', 'cost')} ${rangeOf(off, unit)}: one unit of the last place of the balance, which is a wrong charge, or a smaller amount that it does not show`,
        [witnessOf(off, unit)],
      )
    : null
}

function hiddenByOthers({ found, terms, unit, stretches, shown }: Moves): Verdict | null {
  const hidden = hiddenBeside(stretches, found.requests, terms, found.judge)
  return shown.length > 0 && hidden !== null
    ? inconclusive(
        stretches.length,
        `most values were read while other requests were in flight, so wrong charges of up to ${short(hidden)} ${unit} would not show; read the balance with nothing in flight`,
      )
    : null
}

function mostlyBeside(moves: Moves): Verdict | null {
  const { paid, beside } = besideOf(moves)
  return moves.shown.length > 0 && beside.length > mostBeside * paid
    ? inconclusive(moves.stretches.length, besideText(moves))
    : null
}

const besideOf = ({ found, terms, readings }: Moves) =>
  besideReadings(readings, found.requests, terms, found.judge)

function besideText(moves: Moves): string {
  const { paid, beside } = besideOf(moves)
  return `${beside.length} of ${paid} requests with a cost have no value of the balance of their account before them, or none after them`
}

function right(moves: Moves): Verdict | null {
  const { found, terms, readings, held, stretches, shown } = moves
  if (shown.length === 0) return null
  const each = stretches.filter(({ isWhole }) => !isWhole)
  const open = each.filter(({ high }) => high === null).length
  const accounts = new Set(readings.map(({ account }) => account)).size
  const leftOut = readings.length - accounts - each.length
  const absent = whyNone(found, terms)
  const notes = [
    ...(leftOut === 0
      ? []
      : [
          `${leftOut} ${leftOut === 1 ? 'stretch was' : 'stretches were'} left out, in which the balance was added to, or a spend began anew`,
        ]),
    ...(held.length === 0 ? [] : [heldNote(held.length)]),
    ...(besideOf(moves).beside.length === 0 ? [] : [besideText(moves)]),
    ...boundedNote(moves),
    ...(open === 0
      ? []
      : [`${open} of ${each.length} stretches have a cost that is open${openNames(found)}`]),
    ...(absent === null ? [] : [absent]),
  ]
  return pass(shown.length, notes.length === 0 ? {} : { note: notes.join('; ') })
}

/** Charges that a pass compares with bounds alone: `3 of 4 requests may have cost any amount between two bounds`. */
function boundedNote({ found: { requests, judge }, recorded }: Moves): readonly string[] {
  const bounded = requests.filter((request) => {
    if (isOpenRepeat(judge)(request)) return false
    const { low, high } = computedBounds(request, judge)
    return !recorded.has(request) && high !== null && compare(low, high) < 0
  })
  return bounded.length === 0
    ? []
    : [
        `${bounded.length} of ${requests.length} requests may have cost any amount between two bounds`,
      ]
}

/** No account has two values, so that nothing is between them. */
function nothingBetween({ found, terms, readings, stretches, held }: Moves): Verdict | null {
  if (stretches.length + held.length > 0) return null
  const why = whyNone(found, terms)
  if (why !== null) return inconclusive(readings.length, why)
  return hasTwo(readings) ? null : notObserved(requires)
}

/** Whether an account has two values. */
const hasTwo = (readings: readonly Reading[]) =>
  new Set(readings.map(({ account }) => account)).size < readings.length

const openOrSmall = ({ found, readings }: Moves): Verdict =>
  inconclusive(
    readings.length,
    thousandsText(readings, found) ??
      `the costs between the readings are open${openNames(found)}, or smaller than the place that the balance shows`,
  )

/** Why a value that is late is no wrong charge where the contract does not say how late it may be; null if it is, or says so. */
const unpromised = (lateMs: number | null, { isWithinPromised }: BalanceTerms) =>
  lateMs === null || isWithinPromised
    ? null
    : `values may be ${lateText(lateMs)}, in what they take or give back, which the contract does not say (evidence.balance.within)`

const lateText = (ms: number) => `up to ${secondsOf(ms)} s late`
const secondsOf = (ms: number) => Math.ceil(ms / 100) / 10

function perhapsLate(readings: readonly Reading[], of: ReturnType<typeof fromMoves>): string {
  const ms = perhapsLateMs(readings, ...of)
  return ms === null
    ? ''
    : `: values may be ${lateText(ms)}, and the last one, too, or charges are missing at the end`
}

const heldInHeaders = (readings: readonly Reading[], of: ReturnType<typeof fromMoves>) =>
  isHeldInHeaders(readings, ...of)
    ? 'money is held back for a stream in the header of its answer, as a fall of what was taken shows; read the balance with nothing in flight'
    : null

const heldNote = (count: number) =>
  `${count} ${count === 1 ? 'value was' : 'values were'} left out, in which money was held back for requests that ran or had not settled, and given back by the next`

/** Values of a balance that nobody can read are no pass. Null without one. */
export function unreadableValues(
  texts: ReturnType<typeof unreadable>,
  readable: number,
): Verdict | null {
  const [first] = texts
  if (first === undefined) return null
  const all = readable + texts.length
  const text = JSON.stringify(first.text)
  return inconclusive(
    all,
    `${texts.length} of ${all} values of the balance are no number: ${text}`,
    [witnessAt(first.request, `shows ${text}`)],
  )
}

/** What makes costs open: ` (usage.speed fast, a price of search)`. */
function openNames({ requests, judge }: PriceJudgements): string {
  const names = requests.flatMap((request) => expectedCosts(request, judge).open)
  const some = [...new Set(names)].slice(0, 3)
  return some.length === 0 ? '' : ` (${some.join(', ')})`
}

function witnessOf(stretch: ReadingStretch, unit: string): Witness {
  const { first, last, count, taken } = stretch
  return witnessAt(
    stretch.requests()[0] ?? last.request,
    `${first.text} to ${last.text}: ${short(taken)} ${unit} for ${counted(count, 'request')}, expected ${rangeOf(stretch, unit)}`,
  )
}
