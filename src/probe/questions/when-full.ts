import type { ProbeResponse } from '../probe-response.ts'
import type { Prober } from '../prober.ts'
import type { SeenFirst } from '../seen-first.ts'

/**
 * Sends requests with another mistake right after a rejection.
 *
 * @param before the rejection
 * @param freesUs how long one request takes to come free, in our time
 */
export async function askWhenFull(
  prober: Prober,
  before: ProbeResponse,
  freesUs: number,
): Promise<SeenFirst> {
  const once = { patient: false, expects: 'any' } as const
  const body = { temperature: prober.contract.ranges.chatTemperature.max + 97 }
  const askWrong = () => prober.chat({ maxTokens: 1, body }, { ...once, step: 'full' })
  for (let [plain, nth] = [before, 1]; ; nth++) {
    const first = await askWrong()
    if (first.status === 429) return '429'
    const second = await askWrong()
    const after = await prober.chat({ maxTokens: 1 }, { ...once, step: 'limiter' })
    const wrong = [first.columns, second.columns] as const
    const seen = seenFirst(plain.columns, wrong, after.columns, freesUs)
    // A slow sequence decides nothing, and the limit may still be full.
    if (typeof seen === 'string' || after.status !== 429 || nth === mostPairs) return seen
    plain = after
  }
}

/** Pairs of wrong requests, each between two rejections. */
const mostPairs = 3

type Met = Pick<ProbeResponse['columns'], 'status' | 'sentUs' | 'closedUs'>

/**
 * A 429 always shows that the limit is checked first. Another status shows the opposite only if the limit was
 * certainly full, and a wrong request may itself have taken the free place. So it takes two wrong requests between two
 * rejections, in less time than one request takes to come free.
 *
 * @param before the plain request before the wrong ones
 * @param after the plain request after them
 */
export function seenFirst(
  before: Met,
  wrong: readonly [Met, Met],
  after: Met,
  freesUs: number,
): SeenFirst {
  const [{ status }, second] = wrong
  if (status === 429 || second.status === 429) return '429'
  const isRefused = status !== null && status >= 400 && status < 500 && status === second.status
  const wasFull = before.status === 429 && after.status === 429
  const tookUs = (second.closedUs ?? Infinity) - (before.sentUs ?? -Infinity)
  if (isRefused && wasFull && tookUs < freesUs) return `${status}`
  return { oneOf: ['429', isRefused ? `${status}` : '400'] }
}
