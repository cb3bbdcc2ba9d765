/** What a bet pays for a p-value: a density on 0 to 1, so that none gains by chance. */
type Bet = (p: number) => number

/** Pays nearly all below `below`: a change that stays keeps p-values there, also while its own sessions dilute the ranks. */
const step =
  (below: number): Bet =>
  (p) =>
    p < below ? 0.9 / below : 0.1 / (1 - below)

/** The first bets nothing; the second finds small changes, the others large ones, sooner or later. */
const bets: readonly Bet[] = [
  () => 1,
  (p) => 0.5 / Math.sqrt(p),
  step(0.05),
  step(0.15),
  step(0.35),
]
/** Share of the wealth that moves back to equal parts after each step, so that a late change is found as well. */
const moved = 0.02

/** Wealth at which a watch alarms: an honest one ever reaches it with a chance of at most 1 %. */
export const alarmAt = 100

/**
 * The wealth of a bet, after each session, that sessions are no longer exchangeable: a conformal test martingale. A session's
 * p-value is the rank of its score (larger is farther from the reference) among all so far, ties broken at random; uniform if
 * sessions are exchangeable. The bets, each a density, start with equal parts, and `P(it ever reaches 1/a) <= a` (Ville).
 */
export function wealthOf(scores: readonly number[], draw: () => number): readonly number[] {
  let wealth: readonly number[] = bets.map(() => 1 / bets.length)
  return scores.map((score, at) => {
    let [above, equal] = [0, 1]
    for (let before = 0; before < at; before++) {
      if (scores[before]! > score) above++
      else if (scores[before] === score) equal++
    }
    // Above 0, since a draw may be 0.
    const p = (above + (1 - draw()) * equal) / (at + 1)
    const won = wealth.map((each, bet) => each * bets[bet]!(p))
    const total = won.reduce((sum, each) => sum + each, 0)
    wealth = won.map((each) => (1 - moved) * each + (moved * total) / bets.length)
    return total
  })
}

/** Where a level of scores changes: the first session of the new level, and the first and the last that fit about as well. */
export interface ChangeAt {
  readonly at: number
  readonly from: number
  readonly to: number
}

/** The old level has so many sessions at least. */
const leastBefore = 4
/** Twice the loss of likelihood of a split that is about as good. */
const about = 6

/** The split of the scores into two levels with the least squares; null for too few scores. */
export function changeOf(scores: readonly number[]): ChangeAt | null {
  const fits: { readonly at: number; readonly squares: number }[] = []
  for (let at = leastBefore; at < scores.length; at++)
    fits.push({ at, squares: squaresOf(scores.slice(0, at)) + squaresOf(scores.slice(at)) })
  const [best] = fits.toSorted((a, b) => a.squares - b.squares)
  if (best === undefined) return null
  const near = fits.filter(
    ({ squares }) =>
      squares === best.squares || scores.length * Math.log(squares / best.squares) < about,
  )
  return { at: best.at, from: near[0]!.at, to: near.at(-1)!.at }
}

const meanOf = (values: readonly number[]) =>
  values.reduce((sum, each) => sum + each, 0) / values.length

function squaresOf(values: readonly number[]): number {
  const mean = meanOf(values)
  return values.reduce((sum, each) => sum + (each - mean) ** 2, 0)
}

/** For each prompt, the share of its first tokens that are the likeliest one of the reference; null for a prompt that was not asked. */
export type Shares = readonly (number | null)[]

/** So many sessions are the reference. */
export const referenceSessions = 10

/** The distance of each session after the reference from it: the mean over prompts of the absolute difference of shares. */
export function scoresOf(sessions: readonly Shares[]): readonly number[] {
  const reference = sessions.slice(0, referenceSessions)
  const center = (reference[0] ?? []).map((_, prompt) =>
    meanOf(reference.flatMap((shares) => shares[prompt] ?? [])),
  )
  return sessions
    .slice(referenceSessions)
    .map((shares) =>
      meanOf(shares.flatMap((share, at) => (share === null ? [] : Math.abs(share - center[at]!)))),
    )
}

export const leastSince = 20
/** Wealth that is no alarm, and no peace. */
export const doubtAt = 10

export type WatchResult =
  | {
      readonly is: 'few' | 'pass' | 'inconclusive'
      readonly since: number
      readonly wealth: number
    }
  /** Places of sessions, from 0, of all of the watch. */
  | {
      readonly is: 'fail'
      readonly since: number
      readonly wealth: number
      /** The session that alarmed. */
      readonly alarm: number
      readonly change: ChangeAt
    }

/** Whether a model stayed the same: SOLD-05. Each of so many `watches` alarms at as many times the wealth: one error rate for all. */
export function judgeWatch(
  sessions: readonly Shares[],
  watches: number,
  draw: () => number,
): WatchResult {
  const scores = scoresOf(sessions)
  const wealth = wealthOf(scores, draw)
  const since = scores.length
  // Earlier there is no change to date; a later alarm is no likelier.
  const alarm = wealth.findIndex((each, at) => at >= leastBefore && each >= alarmAt * watches)
  if (alarm >= 0) {
    const { at, from, to } = changeOf(scores.slice(0, alarm + 1))!
    const place = (score: number) => score + referenceSessions
    const change = { at: place(at), from: place(from), to: place(to) }
    return { is: 'fail', since, wealth: wealth[alarm]!, alarm: place(alarm), change }
  }
  const last = wealth.at(-1) ?? 1
  if (last >= doubtAt) return { is: 'inconclusive', since, wealth: last }
  return { is: since < leastSince ? 'few' : 'pass', since, wealth: last }
}
