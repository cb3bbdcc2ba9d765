import type { Shares } from './watch.ts'

/** Two groups of sessions: those that are judged, and those that they are compared with. */
export type Groups = readonly [own: readonly Shares[], others: readonly Shares[]]

export interface Apart {
  readonly is: 'pass' | 'fail' | 'inconclusive'
  /** Root of the mean squared difference of shares, less what the spread of sessions adds. */
  readonly apart: number
  readonly p: number
}

/** The groups were asked other prompts, so that nothing is compared. */
export interface Unlike {
  readonly is: 'unlike'
  /** Prompts that two sessions of each were asked. */
  readonly common: number
}

/** So many prompts that both groups were asked make a distance, and so many prompts a session. */
export const leastPrompts = 5
/** So many sessions of each group make a verdict. */
export const leastSessions = 10
const exchanges = 299
const fails = 0.01
const doubts = 0.05
/** A smaller difference may be hardware, engine or rounding. */
const far = 0.1

/**
 * Whether two groups of sessions answer alike. Whole sessions are exchanged, since the requests of one session share load, batch and
 * replica; the share of 299 random exchanges with as large a distance is p. So of groups that answer alike at most 1 % fail.
 *
 * @param exchanged the groups after a random exchange of whole sessions
 */
export function judgeApart(groups: Groups, exchanged: () => Groups): Apart | Unlike {
  const { squared: observed, prompts } = squaredOf(groups)
  if (prompts < leastPrompts) return { is: 'unlike', common: prompts }
  let asLarge = 1
  for (let time = 0; time < exchanges; time++)
    if (squaredOf(exchanged()).squared >= observed - 1e-12) asLarge++
  const p = asLarge / (exchanges + 1)
  const apart = Math.sqrt(Math.max(0, observed))
  if (p > doubts) return { is: 'pass', apart, p }
  return { is: p <= fails && apart >= far ? 'fail' : 'inconclusive', apart, p }
}

/**
 * Mean over the prompts that both were asked of the squared difference of shares, less its expectation from the spread of sessions:
 * without bias.
 */
function squaredOf([own, others]: Groups): { readonly squared: number; readonly prompts: number } {
  let [sum, prompts] = [0, 0]
  for (let at = 0; at < own[0]!.length; at++) {
    const [one, other] = [momentsOf(own, at), momentsOf(others, at)]
    if (one === null || other === null) continue
    sum += (one.mean - other.mean) ** 2 - one.ofMean - other.ofMean
    prompts++
  }
  return { squared: prompts === 0 ? 0 : sum / prompts, prompts }
}

/** The mean share of a prompt, and its variance; null for fewer than two sessions that asked it. */
function momentsOf(sessions: readonly Shares[], prompt: number) {
  let [n, sum, squares] = [0, 0, 0]
  for (const shares of sessions) {
    const value = shares[prompt] ?? null
    if (value === null) continue
    n++
    sum += value
    squares += value * value
  }
  if (n < 2) return null
  const mean = sum / n
  return { mean, ofMean: (squares - n * mean * mean) / (n - 1) / n }
}
