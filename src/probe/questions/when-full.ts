import type { ProbeResponse } from '../probe-response.ts'
import type { Prober } from '../prober.ts'
import type { Shown } from '../shown.ts'

/**
 * Whether a service at its limit looks at the limit or at the request first. It sends invalid requests right after a rejection:
 *
 *     plain: 429   wrong: 429                        the limit comes first
 *     plain: 429   wrong: 400   wrong: 400   plain: 429   the request comes first, if all of it was fast
 *
 * @param before the rejection, a 429
 * @param freesUs after how long the limit admits one more request, in our time
 */
export async function askWhenFull(
  prober: Prober,
  before: ProbeResponse,
  freesUs: number,
): Promise<Shown> {
  const once = { patient: false, expects: 'any' } as const
  const body = { temperature: prober.contract.ranges.chatTemperature.max + 97 }
  const askWrong = () => prober.chat({ maxTokens: 1, body }, { ...once, step: 'full' })
  for (let [rejected, nth] = [before, 1]; ; nth++) {
    const first = await askWrong()
    if (first.status === 429) return '429'
    const second = await askWrong()
    const after = await prober.chat({ maxTokens: 1 }, { ...once, step: 'limiter' })
    const wrong = [first.columns, second.columns] as const
    const seen = seenFirst(rejected.columns, wrong, after.columns, freesUs)
    // A slow sequence decides nothing, and the limit may still be full.
    if (typeof seen === 'string' || after.status !== 429 || nth === mostPairs) return seen
    rejected = after
  }
}

/** Pairs of wrong requests, each between two rejections. */
const mostPairs = 3

type Got = Pick<ProbeResponse['columns'], 'status' | 'sentUs' | 'closedUs'>

/**
 * A 429 always shows that the limit is checked first; another status the opposite only if the limit was certainly full: two
 * wrong requests between two rejections (`before`, `after`), faster than the limit admits one more.
 */
export function seenFirst(
  before: Got,
  wrong: readonly [Got, Got],
  after: Got,
  freesUs: number,
): Shown {
  const [{ status }, second] = wrong
  if (status === 429 || second.status === 429) return '429'
  const isRefused = status !== null && status >= 400 && status < 500 && status === second.status
  const wasFull = before.status === 429 && after.status === 429
  const tookUs = (second.closedUs ?? Infinity) - (before.sentUs ?? -Infinity)
  if (isRefused && wasFull && tookUs < freesUs) return `${status}`
  return { oneOf: ['429', isRefused ? `${status}` : '400'] }
}
