import {
  type Contract,
  type LimitWindow,
  lengthUs,
  limitOf,
  mayBeOfBand,
  windowsOf,
} from '../../../contract/contract.ts'
import type { Bracket, Brackets } from '../../../limits/balance.ts'
import { bandsWithin, type Cell, cellsNamed } from '../../../limits/band.ts'
import { trailingBrackets } from '../../../limits/trailing.ts'
import { smallest } from '../../../user/extremes.ts'
import { fail, inconclusive, notObserved, pass } from '../../verdict.ts'
import { anyOf, type RateEvent, witnessOf } from './history.ts'
import { rateRule } from './rate-rule.ts'
import { goesOn, holds, sequentialPairs } from './row-changes.ts'

/** A response with a limit from the wrong row. */
interface Judged {
  readonly event: RateEvent
  readonly allowed: readonly number[]
  /** Whether an earlier band, from before the record, may still be in effect. */
  readonly earlierBandPossible: boolean
}

export const rate01 = rateRule({
  id: 'RATE-01',
  title: "X-RateLimit-Limit is a value of the balance's row",
  promised: ['bands', 'headers.rate_limit', 'headers.credits_remaining'],
  explain: `All values of the table differ, so one number identifies a band and a window. The balance at
admission is only known as a bracket: from the credits headers before, on and after the attempt,
widened by the cost of the attempt (the header may precede or follow its charge) and by every charge
that may have happened in between. A new band may take effect at once or with the next window, so the
row may be any that the bracket touched within the trailing window. A row that lags behind its balance,
and then changes while the count of used requests continues, did neither. The rule fails only if the
value is in no such row. Responses to unknown keys (401) have no band; a balance of zero has no row. The
balance before the first request of a key is unknown: unless its first response shows an unused window,
a wrong row within the first window decides nothing.`,
  decide({ byKey, byAccount }, { contract }) {
    let [named, decided] = [0, 0]
    const seen = new Set<number>()
    // A balance below every band has no row (gap G-25).
    const lowestBalance = smallest(contract.bands.map((band) => band.minBalance))
    // The header may show a limit of the calendar.
    const ofCalendar = new Set(
      contract.bands.flatMap(({ calendar = [] }) => calendar.map(({ requests }) => requests)),
    )
    let wrong = 0
    let first: Judged | undefined
    let proven: Judged | undefined
    const enter = (judged: Judged) => {
      wrong++
      first ??= judged
      if (!judged.earlierBandPossible) proven ??= judged
    }
    for (const ofAccount of byAccount.values()) {
      const trailing = new Map<LimitWindow, Brackets>()
      for (const window of new Set(contract.bands.flatMap(windowsOf)))
        trailing.set(window, trailingBrackets(ofAccount, lengthUs(window)))
      const start = recordStarts(ofAccount)
      ofAccount.forEach((event, index) => {
        const { limit } = event
        if (limit === null || event.status === 401 || ofCalendar.has(limit)) return
        named++
        const cells = cellsNamed(contract, limit)
        const span = cells.at(-1)?.window ?? 'minute'
        const { low, high } = trailing.get(span)!
        const bracket = { low: low[index]!, high: high[index]! }
        if (!Number.isFinite(bracket.high) || event.balance.low < lowestBalance) return
        decided++
        if (cells.some(({ band }) => mayBeOfBand(band, bracket))) {
          seen.add(limit)
          return
        }
        const allowed = bandsWithin(contract, bracket).flatMap((band) =>
          windowsOf(band).map((window) => limitOf(band, window)),
        )
        const opened = start.get(event.key)!
        const earlierBandPossible =
          cells.length > 0 && !opened.fresh && event.fromUs - opened.atUs < lengthUs(span)
        enter({ event, allowed, earlierBandPossible })
      })
    }
    if (named === 0)
      return notObserved(
        `an answer with ${contract.headers.rateLimit[0]}, and a credits header near it`,
      )
    for (const ofKey of byKey.values()) {
      const late = changedLate(contract, ofKey)
      if (late !== null) enter({ ...late, earlierBandPossible: false })
    }
    if (decided === 0)
      return notObserved(
        `a success with ${contract.headers.creditsRemaining[0]} near an answer with ${contract.headers.rateLimit[0]}`,
      )
    if (proven !== undefined) {
      const { event, allowed } = proven
      return fail(decided, {
        expected: `${anyOf(allowed)}, the row of a balance between ${event.balance.low} and ${event.balance.high}`,
        observed: `${event.limit}`,
        witnesses: [witnessOf(event, `limit ${event.limit} at balance ${describe(event.balance)}`)],
        ...(wrong > 1 ? { note: `${wrong} of ${decided} answers do so` } : {}),
      })
    }
    if (first !== undefined) {
      const { event } = first
      return inconclusive(
        decided,
        'the limit is of another row, and the key was used before the record began, so an earlier band may still have been in effect',
        [witnessOf(event, `limit ${event.limit} at balance ${describe(event.balance)}`)],
      )
    }
    return pass(decided, {
      note: `seen: ${[...seen].flatMap((limit) => cellsNamed(contract, limit).map(nameOf)).join(', ')}`,
    })
  },
})

const nameOf = ({ band, window }: Cell): string =>
  `${limitOf(band, window)} (${band.name}, ${window})`

const describe = ({ low, high }: Bracket): string => (low === high ? `${low}` : `${low} to ${high}`)

/** The start of each key's record, and whether its first response showed an unused window. */
function recordStarts(events: readonly RateEvent[]) {
  const starts = new Map<string, { atUs: number; fresh: boolean }>()
  for (const { key, fromUs, limit, remaining } of events) {
    if (starts.has(key) || limit === null) continue
    starts.set(key, { atUs: fromUs, fresh: remaining !== null && limit - remaining <= 1 })
  }
  return starts
}

/** A response whose row lagged behind its balance, and was corrected within a window. */
function changedLate(
  contract: Contract,
  events: readonly RateEvent[],
): Pick<Judged, 'event' | 'allowed'> | null {
  for (const { before, after, from, to, steps } of sequentialPairs(contract, events)) {
    if (from.band === to.band || holds(from.band, before) || !holds(to.band, after)) continue
    if (!goesOn(before, after, steps)) continue
    const bracket = { low: before.credits! - before.costCredits, high: before.balance.high }
    const allowed = bandsWithin(contract, bracket).map((band) => limitOf(band, from.window))
    return { event: before, allowed }
  }
  return null
}
