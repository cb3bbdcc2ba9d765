import { type Random, shuffled } from '../../../user/random.ts'
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
export const leastSessions = 10
const exchanges = 999
/** So few pairs are exchanged in each way that there is: of ten there are 512, and random ones would often be the same. */
const mostInEachWay = 12
/** Groups differ up to these p, and perhaps up to the next. */
const fails = { named: 0.002, underLoad: 0.008 }
const doubts = 0.05
/** A smaller difference may be hardware, engine or rounding. */
const far = 0.1

/**
 * Whether two groups of sessions answer alike: p is the share of the ways to exchange whole sessions, which share load and replica,
 * with as large a distance.
 *
 * @param most the p up to which they differ: so many of equal groups fail
 * @param ways to exchange sessions, the first of which leaves them as they are
 */
function judgeApart(most: number, ways: Iterable<Groups>): Apart | Unlike {
  let [all, asLarge, observed] = [0, 0, 0]
  for (const groups of ways) {
    const { squared, prompts } = squaredOf(groups)
    if (all === 0) {
      if (prompts < leastPrompts) return { is: 'unlike', common: prompts }
      observed = squared
    }
    all++
    if (squared >= observed - 1e-12) asLarge++
  }
  const p = asLarge / all
  const apart = Math.sqrt(Math.max(0, observed))
  if (p > doubts) return { is: 'pass', apart, p }
  return { is: p <= most && apart >= far ? 'fail' : 'inconclusive', apart, p }
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

/** The mean share of a prompt, and the variance of that mean; null for fewer than two sessions that asked it. */
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

/** Sessions of the service and of the reference that are neighbours in time. */
export interface SessionPair {
  readonly service: Shares
  readonly reference: Shares
}

export type NamedResult =
  | { readonly is: 'unseen' }
  | Apart
  | Unlike
  | (Pick<Apart, 'apart' | 'p'> & { readonly is: 'few' })
  /** One pair has no spread, and so no distance. */
  | { readonly is: 'one' }

/** @param isExchanged whether the sessions of the nth pair change places */
const groupsOf = (pairs: readonly SessionPair[], isExchanged: (nth: number) => boolean): Groups => [
  pairs.map(({ service, reference }, nth) => (isExchanged(nth) ? reference : service)),
  pairs.map(({ service, reference }, nth) => (isExchanged(nth) ? service : reference)),
]

/** The pairs as they are, then exchanged: in each way, or by so many draws. If all change places the distance stays, so the first need not. */
function* waysOf(pairs: readonly SessionPair[], draw: Random): Iterable<Groups> {
  if (pairs.length <= mostInEachWay) {
    for (let way = 0; way < 2 ** (pairs.length - 1); way++)
      yield groupsOf(pairs, (nth) => ((way >> (nth - 1)) & 1) === 1 && nth > 0)
    return
  }
  yield groupsOf(pairs, () => false)
  for (let time = 0; time < exchanges; time++) {
    const isExchanged = pairs.map(() => draw() < 0.5)
    yield groupsOf(pairs, (nth) => isExchanged[nth]!)
  }
}

/** Whether a service answers as the reference does: SOLD-06. Sessions are exchanged within their pair. */
export function judgeNamed(pairs: readonly SessionPair[], draw: Random): NamedResult {
  if (pairs.length < 2) return { is: pairs.length === 0 ? 'unseen' : 'one' }
  const found = judgeApart(fails.named, waysOf(pairs, draw))
  return found.is === 'unlike' || pairs.length >= leastSessions ? found : { ...found, is: 'few' }
}

export interface RestAndLoad {
  readonly rest: readonly Shares[]
  readonly load: readonly Shares[]
}

/** Whether a model answers under load as at rest: SOLD-11. Sessions are exchanged within their run, whose own difference is none. */
export const judgeUnderLoad = (runs: readonly RestAndLoad[], draw: Random): Apart | Unlike =>
  judgeApart(fails.underLoad, waysOfRuns(runs, draw))

function* waysOfRuns(runs: readonly RestAndLoad[], draw: Random): Iterable<Groups> {
  const groups = (of: readonly RestAndLoad[]) =>
    [of.flatMap(({ load }) => load), of.flatMap(({ rest }) => rest)] as const
  yield groups(runs)
  for (let time = 0; time < exchanges; time++)
    yield groups(
      runs.map(({ rest, load }) => {
        const all = shuffled([...rest, ...load], draw)
        return { rest: all.slice(0, rest.length), load: all.slice(rest.length) }
      }),
    )
}
