import type { Session } from '../../store/session/session.ts'
import { prepareScope } from '../scope.ts'
import { failedRate, heldRate, nounRate } from '../search-words.ts'
import { claimedTrial, type StoredSearch, searchShape } from '../stored-search.ts'

/** A trial of a search, as a chart draws it. */
export interface SearchedRate {
  readonly perS: number
  /** Share of its requests within the objective, with its 95 % interval; null for no bound on a side. */
  readonly goodput: number
  readonly low: number | null
  readonly high: number | null
  readonly verdict: string
}

/** The answer of a search, and the trials that found it. */
export interface SearchSide {
  readonly objective: string
  /** The rate that a confirmation sustained; null without one. */
  readonly sustainedPerS: number | null
  /** The lowest rate that failed above it; null if none did. */
  readonly failedPerS: number | null
  /** The rate whose requests are the figures of the run; null if no trial claims a rate. */
  readonly figuresPerS: number | null
  readonly budget: string
  /** What the rates are of. */
  readonly of: StoredSearch['of']
  readonly trials: readonly SearchedRate[]
}

/** How the search of b differs from that of a. */
export interface SearchComparison {
  readonly a: SearchSide
  readonly b: SearchSide
  /** Whether the limit of b is beyond that of a. `unclear` if the brackets overlap, or one of them is not known. */
  readonly verdict: 'better' | 'worse' | 'unclear'
  /** Whether the figures of both runs are those of one rate, so that they can be compared. */
  readonly isAtOneRate: boolean
}

/** Rates are equal up to this ratio. */
const sameRate = 1.02

/** Reads the search of a run; null without one. It prepares the scope of the session. */
export async function readSearch(session: Session, runId: string): Promise<SearchSide | null> {
  const [run] = await session.rows<{ sweeps: string | null }>(
    `SELECT try_cast(verdict_json AS JSON) -> '$.sweeps' AS sweeps FROM runs WHERE run_id = $1`,
    [runId],
  )
  const sweeps: unknown = JSON.parse(run?.sweeps ?? '[]')
  const parsed = searchShape.safeParse(Array.isArray(sweeps) ? sweeps[0] : undefined)
  if (!parsed.success || parsed.data.safeRate === null) return null
  const { safeRate, objective, of } = parsed.data
  await prepareScope(session, { runIds: [runId], timeZone: 'UTC' })
  const trials = await session.rows<SearchedRate>(
    `SELECT offered_per_s AS "perS", good_ratio AS goodput, good_low AS low, good_high AS high, verdict
     FROM shown_rates WHERE judged IS NOT NULL ORDER BY offered_per_s, nth`,
  )
  return {
    objective,
    of,
    sustainedPerS: safeRate.kind === 'held' ? safeRate.heldPerS : null,
    failedPerS: safeRate.failedPerS,
    figuresPerS: claimedTrial(parsed.data)?.ratePerS ?? null,
    budget: safeRate.kind === 'held' ? safeRate.budget : 'quick',
    trials,
  }
}

/** @returns null unless both runs are searches */
export function compareSearches(
  a: SearchSide | null,
  b: SearchSide | null,
): SearchComparison | null {
  if (a === null || b === null) return null
  const [left, right] = [a.figuresPerS, b.figuresPerS]
  const isAtOneRate =
    left !== null && right !== null && Math.max(left / right, right / left) <= sameRate
  return { a, b, verdict: verdictOf(a, b), isAtOneRate }
}

/** The limit of a service is between the rate that it sustained and the lowest that failed. */
function verdictOf(a: SearchSide, b: SearchSide): SearchComparison['verdict'] {
  if (a.objective !== b.objective) return 'unclear'
  const isAbove = (one: SearchSide, other: SearchSide) =>
    one.sustainedPerS !== null && other.failedPerS !== null && one.sustainedPerS >= other.failedPerS
  if (isAbove(b, a)) return 'better'
  return isAbove(a, b) ? 'worse' : 'unclear'
}

/** `7.5/s`, or that no confirmation did. */
export const sustainedText = ({ sustainedPerS, budget, of }: SearchSide): string =>
  sustainedPerS === null ? 'none known' : nounRate(heldRate(sustainedPerS, budget), of)

const unknownLimit = 'not known'

/** `7.5/s to 8.2/s`: between which rates the limit of the service lies. */
export function limitText({ sustainedPerS, failedPerS, budget, of }: SearchSide): string {
  const from = sustainedPerS === null ? null : nounRate(heldRate(sustainedPerS, budget), of)
  const to = failedPerS === null ? null : nounRate(failedRate(failedPerS, budget), of)
  if (from === null) return to === null ? unknownLimit : `below ${to}`
  return to === null ? `above ${from}` : `${from} to ${to}`
}

/** What the searches say, as a summary and its reason. */
export function searchWords(
  searches: SearchComparison,
): readonly [summary: string, because: string] {
  const { a, b, verdict } = searches
  const limits = `The limit of a is ${limitWords(a)}, that of b ${limitWords(b)}`
  if (a.objective !== b.objective) {
    return [
      'The searches have different objectives, so their rates are not compared',
      `a searched for ${a.objective}, b for ${b.objective}.`,
    ]
  }
  if (verdict === 'unclear') {
    const areKnown = [a, b].every((side) => limitText(side) !== unknownLimit)
    return [
      `No difference in the sustained rate is known: ${sustainedText(a)} and ${sustainedText(b)}`,
      `${limits}${areKnown ? ': these ranges overlap' : ''}. A longer search narrows them: assay bench --continue.`,
    ]
  }
  return [
    `b sustains ${verdict === 'better' ? 'more' : 'less'}: ${sustainedText(a)} before, now ${sustainedText(b)}`,
    `${limits}.`,
  ]
}

function limitWords(side: SearchSide): string {
  const { sustainedPerS, failedPerS } = side
  return sustainedPerS !== null && failedPerS !== null
    ? `between ${limitText(side).replace(' to ', ' and ')}`
    : limitText(side)
}

/** Why times and errors of two searches are not compared; empty if they are. */
export function otherRatesText({ a, b, isAtOneRate }: SearchComparison): string {
  if (isAtOneRate) return ''
  if (a.figuresPerS === null && b.figuresPerS === null)
    return 'Times, errors and throughput are not compared, because neither search has figures at one rate.'
  const rate = ({ figuresPerS, budget, of }: SearchSide) =>
    figuresPerS === null ? 'no rate' : nounRate(heldRate(figuresPerS, budget), of)
  const low = Math.min(a.figuresPerS ?? Infinity, b.figuresPerS ?? Infinity)
  // A rate of tasks is none of requests.
  const command =
    Number.isFinite(low) && a.of !== 'tasks' ? `: assay bench URL --rate ${heldRate(low)}` : ''
  return `Times, errors and throughput are not compared, because those of a are at ${rate(a)} and those of b at ${rate(b)}. To compare them, run both at one rate${command}.`
}
