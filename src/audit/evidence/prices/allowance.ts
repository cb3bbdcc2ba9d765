import { ordersOf } from '../../../price/judge/in-order.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { countWhile } from '../../../user/count-below.ts'
import { dayMs } from '../../../user/durations.ts'
import { largest, smallest } from '../../../user/extremes.ts'

/** Requests of a day that cost nothing until an allowance was used up. */

/** A request, or some between two values of a balance that took a part of their price, and what they were charged. */
export interface Charged {
  /** In order of start. */
  readonly requests: readonly PricedRequest[]
  /** `free`: nothing; `less`: a part of the price; `full`: the price. */
  readonly is: 'free' | 'less' | 'full'
  /** How many of the first that began at a moment or later cost nothing, where the others cost their price; null if that is not so. */
  readonly freeFrom?: (startMs: number) => number | null
}

/** As many orders of these requests would be as likely by chance. */
export const fewestOrders = 20

/** Fewer free requests than these are lost charges as well. */
const fewestFree = 2

/** Those whose allowance it may be. */
const owners: readonly ((request: PricedRequest) => string)[] = [
  ({ account }) => account,
  ({ account, requestedModel }) => `${account} ${requestedModel}`,
  ({ key }) => key,
]

/**
 * `the first 5 requests of a day cost nothing …`; null if the charges have no such order.
 *
 * @param isPromised whether the contract says that some requests may cost nothing. If not, the order must be none by chance
 */
export function allowanceOf(all: readonly Charged[], isPromised: boolean): string | null {
  const timed = all.map(timesOf).toSorted((a, b) => a.firstMs - b.firstMs)
  for (const whose of owners) {
    const byOwner = [...Map.groupBy(timed, ({ requests }) => whose(requests[0]!)).values()]
    for (const days of daysThatFit(byOwner)) {
      const fewest = isPromised ? 1 : days.fewestOrders
      const most = mostFree(days, { isPromised, fewest })
      if (most === null) continue
      if (isPromised && all.every(({ is }) => is === 'free'))
        return `all ${all.length} requests cost nothing: ${unlessNamed(true)}`
      const first =
        most === 0
          ? 'the first requests of a day cost less than their price'
          : `the first ${most} requests of a day cost nothing`
      return `${first}, and the others their price: ${unlessNamed(isPromised)}`
    }
  }
  return null
}

const unlessNamed = (isPromised: boolean) =>
  isPromised
    ? 'an allowance, of which the contract does not say how many requests it has, or charges that are missing'
    : 'an allowance that the contract does not name, or charges that are missing'

/** A charge, with the times at which its first and last request began, and the last ended. */
interface Timed extends Charged {
  readonly firstMs: number
  readonly lastMs: number
  readonly endMs: number
}

const timesOf = (charged: Charged): Timed => ({
  ...charged,
  firstMs: charged.requests[0]!.startMs,
  lastMs: charged.requests.at(-1)!.startMs,
  endMs: largest(charged.requests.map(({ endMs }) => endMs)),
})

/** Midnights of the world are so far apart; the first zone is UTC. */
const zoneStepMs = dayMs / 96
const zones = Array.from({ length: dayMs / zoneStepMs }, (_, nth) => nth)
const dayIn = (zone: number, ms: number) => Math.floor((ms + zone * zoneStepMs) / dayMs)

/** The charges of each owner by day. */
interface Days {
  readonly ofOwners: readonly (readonly (readonly Timed[])[])[]
  /** When the day after that of a charge began. */
  readonly midnightAfter: (ms: number) => number
  readonly fewestOrders: number
}

/**
 * The days that an allowance may be of: those of a zone, of which one begins wherever a charge comes before a lower one, or the last 24
 * hours, if that is nowhere. Zones with the same days are one.
 */
function daysThatFit(byOwner: readonly (readonly Timed[])[]): readonly Days[] {
  const fitting = zonesThatFit(byOwner)
  if (fitting === null)
    return [
      {
        ofOwners: byOwner.map((own) => [own]),
        midnightAfter: () => Number.POSITIVE_INFINITY,
        fewestOrders,
      },
    ]
  const firstMs = smallest(byOwner.map((own) => own[0]!.firstMs))
  const lastMs = largest(byOwner.map((own) => own.at(-1)!.lastMs))
  const within = zones.filter((zone) => dayIn(zone, firstMs) !== dayIn(zone, lastMs)).length
  const found = new Map<string, Days>()
  for (const zone of fitting) {
    const cuts = byOwner.map((own) => cutsOf(own, zone))
    const name = cuts.join(' ')
    if (found.has(name)) continue
    found.set(name, {
      ofOwners: byOwner.map((own, nth) =>
        cuts[nth]!.map((cut, at) => own.slice(cut, cuts[nth]![at + 1])),
      ),
      midnightAfter: (ms) => (dayIn(zone, ms) + 1) * dayMs - zone * zoneStepMs,
      fewestOrders: zone === 0 ? fewestOrders : fewestOrders * within,
    })
  }
  return [...found.values()]
}

/** The zones of which a day begins between each charge and any lower one after it; null if none need begin. */
function zonesThatFit(byOwner: readonly (readonly Timed[])[]): readonly number[] | null {
  let fitting: readonly number[] | null = null
  for (const own of byOwner) {
    const paid = own.filter(({ is }) => is !== 'free').toSorted((a, b) => a.endMs - b.endMs)
    const lower = own.filter(({ is }) => is !== 'full').toSorted((a, b) => a.lastMs - b.lastMs)
    let [at, paidMs, seenMs] = [0, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
    for (const { lastMs } of lower) {
      // Those that ran together have no order.
      for (; at < paid.length && paid[at]!.endMs < lastMs; at++)
        paidMs = Math.max(paidMs, paid[at]!.firstMs)
      if (paidMs === seenMs) continue
      seenMs = paidMs
      fitting = (fitting ?? zones).filter((zone) => dayIn(zone, seenMs) !== dayIn(zone, lastMs))
      if (fitting.length === 0) return fitting
    }
  }
  return fitting
}

/** Where the days of a zone begin in charges that are in order of start. */
function cutsOf(own: readonly Timed[], zone: number): readonly number[] {
  const cuts: number[] = []
  for (let at = 0; at < own.length; ) {
    cuts.push(at)
    const day = dayIn(zone, own[at]!.firstMs)
    at = countWhile(own.length, (index) => dayIn(zone, own[index]!.firstMs) <= day)
  }
  return cuts
}

/**
 * How many requests at the beginning of a day were free; null if a day has another order, or one that may be by chance.
 *
 * @param fewest so many orders must be possible, of all days together
 */
function mostFree(
  { ofOwners, midnightAfter }: Days,
  { isPromised, fewest }: { readonly isPromised: boolean; readonly fewest: number },
): number | null {
  let [most, orders] = [0, 1]
  for (const days of ofOwners) {
    let paidBefore: readonly Timed[] = []
    let isEndless = false
    for (const day of days) {
      const isOver = ({ firstMs, lastMs }: Timed) => midnightAfter(firstMs) <= lastMs
      // What was taken over a midnight is full before it, and free after it.
      const isTorn = (each: Timed) =>
        each.is === 'less' && isOver(each) && each.freeFrom?.(midnightAfter(each.firstMs)) == null
      if (!isPromised && day.some(isTorn)) return null
      const own = day.filter((each) => !isOver(each))
      const full = own.filter(({ is }) => is === 'full')
      const lower = own.filter(({ is }) => is !== 'full')
      const parts = lower.filter(({ is }) => is === 'less')
      if (parts.length > 1) return null
      const [part] = parts
      const count = lower.length - parts.length + (part?.freeFrom?.(part.firstMs) ?? 0)
      // Who lost the charges of a whole day has no allowance on the next.
      if (!isPromised && isEndless && count === 0 && full.length > 0) return null
      isEndless ||= full.length === 0 && count >= fewestFree
      most = Math.max(most, count)
      if (count > 0)
        orders *=
          full.length > 0
            ? ordersOf(count, surelyAfter(lower, full), fewest)
            : ordersOf(paidBefore.length, surelyAfter(paidBefore, lower), fewest)
      paidBefore = full
    }
  }
  return orders >= fewest && (isPromised || most >= fewestFree) ? most : null
}

/** How many began when the others were over. Requests that ran together have no order. */
function surelyAfter(some: readonly Timed[], others: readonly Timed[]): number {
  const endMs = largest(some.map((each) => each.endMs))
  return others.filter(({ firstMs }) => firstMs > endMs).length
}
