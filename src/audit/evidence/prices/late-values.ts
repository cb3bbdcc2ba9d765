import { compare } from '../../../money/rational.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { smallest } from '../../../user/extremes.ts'
import { settledReadings } from './held.ts'
import type { Reading } from './readings.ts'
import { type changesOf, stretchesOf } from './stretches.ts'

/** Values of a balance that are right if they may be later than the contract says. */

type From = Parameters<typeof changesOf>

/** A time that is found is this exact: findings show tenths of a second. */
const exactMs = 50

/** Of so many values, the first and the last are looked at before all others. */
const manyReadings = 20_000

/**
 * How late values must be to be right, in ms; null if no time makes them so. The last value of each account has all charges even then, so
 * nothing is lost or taken twice.
 */
export function latenessOf(...from: From): number | null {
  const [all, requests, terms, judge, recorded] = from
  const most = mostLateMs(all, requests)
  const isRight = (withinMs: number) => {
    const late = { ...terms, withinMs }
    const { readings, unproven } = settledReadings(all, requests, late, judge, recorded)
    const stretches = stretchesOf(readings, requests, late, judge, recorded)
    const byAccount = Map.groupBy(readings, ({ account }) => account)
    const areCompared = [...byAccount.values()].every((own) =>
      stretches.some(({ first, last }) => first === own[0] && last === own.at(-1)),
    )
    return unproven.length === 0 && areCompared && stretches.every((each) => each.isRight)
  }
  const ends = [...Map.groupBy(all, ({ account }) => account).values()].flatMap((own) =>
    own.length === 1 ? own : [own[0]!, own.at(-1)!],
  )
  const mayBeRight = () =>
    all.length < manyReadings ||
    stretchesOf(ends, requests, { ...terms, withinMs: most }, judge, recorded).every(
      (each) => each.isRight,
    )
  return most <= terms.withinMs || !mayBeRight() ? null : leastMs(terms.withinMs, most, isRight)
}

/**
 * How late values may be if the last one has not everything yet, in ms: one took more than the requests near it cost, which earlier ones lack,
 * and in all too little was taken. Null if no time up to half of that of all values makes them right.
 */
export function perhapsLateMs(...from: From): number | null {
  const [all, requests, terms, judge, recorded] = from
  const [first, last] = [all[0], all.at(-1)]
  if (first === undefined || last === undefined || all.length > manyReadings) return null
  const wrong = stretchesOf(...from).filter(({ isRight }) => !isRight)
  const isMore = wrong.some(({ taken, high }) => high !== null && compare(taken, high) > 0)
  const isLess = wrong.some(({ taken, low, isWhole }) => isWhole && compare(taken, low) < 0)
  if (!isMore || !isLess) return null
  return leastMs(terms.withinMs, (last.untilMs - first.fromMs) / 2, (withinMs) =>
    stretchesOf(all, requests, { ...terms, withinMs }, judge, recorded).every(
      ({ isRight }) => isRight,
    ),
  )
}

/** The least time, a little more at most, that holds as all longer ones do; null if the longest one does not. */
function leastMs(from: number, most: number, holds: (ms: number) => boolean): number | null {
  if (most <= from || !holds(most)) return null
  let [low, high] = [from, most]
  while (high - low > exactMs) {
    const middle = (low + high) / 2
    if (holds(middle)) high = middle
    else low = middle
  }
  return high
}

/** How long the last value of each account waited for the requests before it, at least. */
function mostLateMs(all: readonly Reading[], requests: readonly PricedRequest[]): number {
  const ofAccounts = Map.groupBy(requests, ({ account }) => account)
  const waits = [...Map.groupBy(all, ({ account }) => account)].map(([account, own]) => {
    const last = own.at(-1)!
    const before = (ofAccounts.get(account) ?? []).filter(
      (each) => each !== last.request && each.startMs <= last.untilMs,
    )
    return last.fromMs - before.reduce((latest, { endMs }) => Math.max(latest, endMs), 0)
  })
  return Math.floor(smallest(waits))
}
