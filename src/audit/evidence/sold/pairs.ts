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

/** Requests so far apart in a run still share its load. */
const farthest = 5

/**
 * Requests of different kinds, each in one pair at most: neighbours first, then what is left, if it is close. They share load, connection and
 * replica.
 */
export function pairsOf(requests: readonly TimedRequest[]): readonly Pair[] {
  const all = requests.map((request, at) => ({ request, at }))
  const neighbours = paired(all, 1)
  const taken = new Set(neighbours.flat())
  const left = all.filter((each) => !taken.has(each))
  const others = paired(left, farthest)
  return [...neighbours, ...others].map(([first, second]) => pairOf(first.request, second.request))
}

interface Placed {
  readonly request: TimedRequest
  readonly at: number
}

/** Each request with the last one of the other kind that is no farther away and has no partner. */
function paired(all: readonly Placed[], apart: number): (readonly [Placed, Placed])[] {
  const pairs: (readonly [Placed, Placed])[] = []
  let waiting: readonly Placed[] = []
  for (const each of all) {
    waiting = waiting.filter(({ at }) => each.at - at <= apart)
    const partner = waiting.findLast(({ request }) => canBeCompared(request, each.request))
    if (partner !== undefined) pairs.push([partner, each])
    waiting =
      partner === undefined ? [...waiting, each] : waiting.filter((other) => other !== partner)
  }
  return pairs
}

const canBeCompared = (a: TimedRequest, b: TimedRequest) =>
  a.isOther !== b.isOther && areAlike(a.promptTokens, b.promptTokens)

function pairOf(first: TimedRequest, second: TimedRequest): Pair {
  const [own, other] = first.isOther ? [second, first] : [first, second]
  return { logRatio: Math.log(other.ttftUs / own.ttftUs), isOtherFirst: first.isOther }
}

/** Longer prompts begin later. */
const areAlike = (a: number, b: number) => Math.max(a, b) <= 1.1 * Math.min(a, b)

/** Whether both orders are there often enough. */
export function areMixed(pairs: readonly Pair[]): boolean {
  const first = pairs.filter(({ isOtherFirst }) => isOtherFirst).length
  return Math.min(first, pairs.length - first) >= leastOfOrder * pairs.length
}
