import type { PricedRequest } from '../../../price/judge/request.ts'
import { firstReadings } from './explained-part.ts'
import { chainsOf, mostHeldAt } from './held-chains.ts'
import type { Reading } from './readings.ts'
import { RequestsByStart } from './requests-by-start.ts'
import { type Change, changesOf, stretchesOf } from './stretches.ts'

/**
 * Values of a balance that money is held back in. A service may hold what a request can cost while it runs, and give back the rest when
 * it settles:
 *
 *     balance   1.00 ──── 0.90 ──────────── 0.98     a request that may cost 0.10, and cost 0.02
 *     read        ^         ^  held back      ^
 *
 * Such a value has no charge too much. The next one that no request is near shows what was taken.
 */

/** The values that are compared, and those that are left out. */
export interface SettledReadings {
  readonly readings: readonly Reading[]
  /** Values with more taken than the requests cost, which may be held back for those that ran or could still settle. */
  readonly held: readonly Reading[]
  /** Those of them between which and a later value nothing shows that it was given back. */
  readonly unproven: readonly Reading[]
}

type From = Parameters<typeof changesOf>

/** The values without those in which money is held back, if the rest is right without them; all of them otherwise. */
export function settledReadings(...from: From): SettledReadings {
  const [all, requests, terms, judge, recorded] = from
  const none: SettledReadings = { readings: all, held: [], unproven: [] }
  if (terms.header !== null || stretchesOf(...from).every(({ isRight }) => isRight)) return none
  const chains = chainsOf(from)
  if (chains === null) return atRest(from) ?? none
  const held = new Set(chains.flatMap((chain) => chain.held))
  const readings = all.filter((reading) => !held.has(reading))
  const stretches = stretchesOf(readings, requests, terms, judge, recorded)
  if (held.size === 0 || !stretches.every(({ isRight }) => isRight)) return none
  const isGivenBack = ({ account, fromMs, untilMs }: Reading) =>
    stretches.some(
      ({ first, last }) =>
        first.account === account && first.untilMs <= fromMs && untilMs <= last.fromMs,
    )
  const unproven = [...held].filter((each) => !isGivenBack(each))
  // A service that gave nothing back, with nothing running, is not taken for one that holds money.
  const holds = (reading: Reading) => unproven.length < held.size || isBesideOne(reading, requests)
  return unproven.every(holds) ? { readings, held: [...held], unproven } : none
}

/**
 * The values at which nothing can be held, where a charge between them is wrong, and others show money that was given back: these tell
 * nothing of the charge. Null where that is not so.
 */
function atRest(from: From): SettledReadings | null {
  const [all, requests, terms, judge, recorded] = from
  const byAccount = Map.groupBy(requests, ({ account }) => account)
  const readings = [...Map.groupBy(all, ({ account }) => account)].flatMap(([account, own]) => {
    const mostAt = mostHeldAt(new RequestsByStart(byAccount.get(account) ?? []), terms, judge)
    return own.filter((reading) => mostAt(reading)?.numerator === 0n)
  })
  const rest = [readings, requests, terms, judge, recorded] as const
  const isGivenBack = ({ taken, isRight }: Change) => taken.numerator < 0n && !isRight
  const givesBack = (...of: From) =>
    changesOf(...of).some((changes) => changes.all.some(isGivenBack))
  const isWrong = stretchesOf(...rest).some(({ isRight }) => !isRight)
  if (!isWrong || givesBack(...rest) || !givesBack(...from)) return null
  const kept = new Set(readings)
  return { readings, held: all.filter((reading) => !kept.has(reading)), unproven: [] }
}

/** Whether a request ran when the value was read. */
const isBesideOne = ({ account, fromMs, untilMs }: Reading, requests: readonly PricedRequest[]) =>
  requests.some(
    (each) => each.account === account && each.startMs <= untilMs && each.endMs >= fromMs,
  )

/**
 * Whether the values in the headers of streams are right if money is held back in them: a balance rises without a payment, and what is
 * missing is never more than the requests may cost. No value is without it, so none shows what was taken.
 */
export function isHeldInHeaders(...from: From): boolean {
  const [readings, requests, ...of] = from
  if (from[2].header === null) return false
  const [first, ofFirst] = firstReadings(readings, requests)
  // What the first values contradict needs no look at the others.
  if (first !== readings && chainsOf([first, ofFirst, ...of]) === null) return false
  return chainsOf(from)?.some(({ givesBack }) => givesBack) ?? false
}
