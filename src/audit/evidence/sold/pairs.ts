/** A request of one of two kinds, with the time to its first token. */
export interface TimedRequest {
  readonly isOther: boolean
  /** Above 0. */
  readonly ttftUs: number
  readonly promptTokens: number
}

/** The logarithm of the ratio of the times of two neighbours: of the other kind, over this one. */
export interface Pair {
  readonly logRatio: number
  readonly isOtherFirst: boolean
}

/** A share of the pairs has each order, so that a load that grows is on no side. */
const leastOfOrder = 0.2

/** Neighbours of different kinds, each in one pair at most: close in time, they share load, connection and replica. */
export function pairsOf(requests: readonly TimedRequest[]): readonly Pair[] {
  const pairs: Pair[] = []
  for (let at = 1; at < requests.length; at++) {
    const [a, b] = [requests[at - 1]!, requests[at]!]
    if (a.isOther === b.isOther || !areAlike(a.promptTokens, b.promptTokens)) continue
    const [own, other] = a.isOther ? [b, a] : [a, b]
    pairs.push({ logRatio: Math.log(other.ttftUs / own.ttftUs), isOtherFirst: a.isOther })
    at++
  }
  return pairs
}

/** Longer prompts begin later. */
const areAlike = (a: number, b: number) => Math.max(a, b) <= 1.1 * Math.min(a, b)

/** Whether both orders are there often enough. */
export function areMixed(pairs: readonly Pair[]): boolean {
  const first = pairs.filter(({ isOtherFirst }) => isOtherFirst).length
  return Math.min(first, pairs.length - first) >= leastOfOrder * pairs.length
}
