import type { Trace, TraceRequest } from './trace.ts'

/** What a replay of a trace sends, as recorded. */
export interface TraceFigures {
  readonly requests: number
  readonly spanS: number
  /** Over the span; null if all requests are due at once. */
  readonly meanPerS: number | null
  /** In the second of the trace with the most requests. */
  readonly peakPerS: number
  readonly promptTokensPerS: number | null
  /** Share of prompt tokens that an earlier request of the file had at its start; null without ids of blocks. */
  readonly repeatedShare: number | null
  readonly sessions: number
  readonly mostTurns: number
  /** Prompt and answer together. */
  readonly longestContextTokens: number
  readonly recordedFailures: number
}

export function figuresOf({ requests, tokensPerBlock }: Trace): TraceFigures {
  const spanS = requests.at(-1)!.atUs / 1e6
  const promptTokens = sum(requests.map(({ inputTokens }) => inputTokens))
  const bySecond = new Map<number, number>()
  const bySession = new Map<string, number>()
  for (const { atUs, session } of requests) {
    count(bySecond, Math.floor(atUs / 1e6))
    if (session !== null) count(bySession, session)
  }
  const shared = sharedPrefixes(requests, tokensPerBlock)
  return {
    requests: requests.length,
    spanS,
    meanPerS: spanS === 0 ? null : requests.length / spanS,
    peakPerS: most(bySecond.values()),
    promptTokensPerS: spanS === 0 ? null : promptTokens / spanS,
    repeatedShare: shared === null ? null : sum(shared) / Math.max(1, promptTokens),
    sessions: bySession.size,
    mostTurns: most(bySession.values()),
    longestContextTokens: most(requests.map((each) => each.inputTokens + each.outputTokens)),
    recordedFailures: requests.filter(({ recorded }) => recorded.failed).length,
  }
}

/** The blocks that some prompt went on with. */
type Next = Map<number, Next>

/**
 * Tokens at the start of each prompt that an earlier one of the file had at its start, which an infinite cache would
 * serve.
 *
 * @returns null if the trace has no ids of blocks
 */
export function sharedPrefixes(
  requests: readonly Pick<TraceRequest, 'hashIds' | 'inputTokens'>[],
  tokensPerBlock: number | null,
): readonly number[] | null {
  if (tokensPerBlock === null) return null
  const root: Next = new Map()
  return requests.map(({ hashIds, inputTokens }) => {
    let at = root
    let blocks = 0
    let known = true
    for (const id of hashIds) {
      known &&= at.has(id)
      if (known) blocks++
      else if (!at.has(id)) at.set(id, new Map())
      at = at.get(id)!
    }
    return Math.min(blocks * tokensPerBlock, inputTokens)
  })
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const most = (values: Iterable<number>) => {
  let largest = 0
  for (const value of values) largest = Math.max(largest, value)
  return largest
}
const count = <Key>(counts: Map<Key, number>, key: Key) =>
  counts.set(key, (counts.get(key) ?? 0) + 1)
