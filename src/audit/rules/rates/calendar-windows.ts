import type { Band, CalendarLimit } from '../../../contract/contract.ts'
import { bandsWithin } from '../../../limits/band.ts'
import { calendarWindow } from '../../../limits/calendar.ts'
import { flightsOf } from '../../../limits/in-flight.ts'
import { otherWindowMayRefuse, pacingOf } from '../../../limits/other-windows.ts'
import { type ServiceClock, serviceClock } from '../../../limits/service-clock.ts'
import { fail, inconclusive, pass, type Verdict } from '../../verdict.ts'
import { type RateEvent, type RateHistory, witnessOf } from './history.ts'
import type { Known } from './traces.ts'

/**
 * The limits by the calendar of a zone; a request is in the window of its whole interval, by the service's `Date`. Null if none
 * was tested.
 */
export function judgeCalendar(
  history: RateHistory,
  { contract }: Known<'bands'>,
  lengths: readonly CalendarLimit['each'][],
): Verdict | null {
  const limits = contract.bands.flatMap(({ calendar }) => calendar ?? [])
  if (!limits.some(({ each }) => lengths.includes(each))) return null
  let [observations, full, undated] = [0, 0, 0]
  let doubt: { readonly event: RateEvent; readonly why: string } | null = null
  for (const events of history.byKey.values()) {
    const clock = serviceClock(events)
    const flights = flightsOf(events)
    const pacing = pacingOf(events)
    const windows = new Map<string, Counted>()
    for (const [index, event] of events.entries()) {
      const bands = bandsWithin(contract, event.balance)
      const [band] = bands
      for (const limit of band?.calendar ?? []) {
        const isOfAll = bands.every(({ calendar }) => calendar?.some((each) => isSame(each, limit)))
        if (band === undefined || !isOfAll || !lengths.includes(limit.each)) continue
        if (clock === null) {
          undated++
          continue
        }
        const window = windowOf(event, limit, clock)
        if (window === null) continue
        const name = `${limit.each} ${window} of ${limit.zone}`
        const counted = windows.get(name) ?? begun(events, index, limit, clock)
        windows.set(name, counted)
        const { admitted } = counted
        observations++
        if (event.decision === 'rejected') {
          const isFree = () =>
            flights.atMost(event) < (band.inFlight ?? Infinity) &&
            !otherWindowMayRefuse(without(band, limit), null, events, index, pacing)
          if (admitted.length >= limit.requests) full++
          else if (counted.most(index) < limit.requests && isFree()) {
            const most = counted.most(index)
            const why = `a rejection after ${most} of ${limit.requests} in the ${name}`
            if (!counted.isWhole) doubt ??= { event, why }
            else
              return fail(observations, {
                expected: `${limit.requests} in each ${limit.each} of ${limit.zone} before a rejection`,
                observed: `a rejection after ${most} that can have been counted in the ${name}`,
                witnesses: [witnessOf(event, `rejected after ${most}`)],
              })
          }
        }
        if (event.decision !== 'admitted') continue
        admitted.push(event)
        if (admitted.length <= limit.requests) continue
        const all = events.filter(
          (each) => each.decision === 'admitted' && windowOf(each, limit, clock) === window,
        )
        return fail(observations, {
          expected: `at most ${limit.requests} in each ${limit.each} of ${limit.zone}`,
          observed: `${all.length} admitted in the ${name}`,
          witnesses: [
            witnessOf(admitted[0]!, 'the first of them'),
            witnessOf(event, `number ${admitted.length}, admitted as well`),
          ],
        })
      }
    }
  }
  if (doubt !== null)
    return inconclusive(observations, `${doubt.why}; earlier ones may have been sent in it`, [
      witnessOf(doubt.event, 'rejected early'),
    ])
  if (full > 0) return pass(observations, { note: `${full} rejections came after it was used up` })
  if (undated === 0) return null
  return inconclusive(
    undated,
    'no Date of the answers says in which window of the calendar they were',
  )
}

/** The requests of one window of a calendar, as far as the record has them. */
interface Counted {
  readonly admitted: RateEvent[]
  /** Whether the record has all of its requests. */
  readonly isWhole: boolean
  /** The most requests that may be counted in it before the one at an index. */
  readonly most: (index: number) => number
}

/** A window whose first request is at an index: the record has all of it if it has earlier windows, or its headers say so. */
function begun(
  events: readonly RateEvent[],
  index: number,
  limit: CalendarLimit,
  clock: ServiceClock,
): Counted {
  const event = events[index]!
  const window = windowOf(event, limit, clock)
  const before = events.slice(0, index).map((each) => windowOf(each, limit, clock))
  const earlier = before.findLastIndex((each) => each !== null)
  const isFirst =
    event.limit === limit.requests &&
    event.remaining !== null &&
    limit.requests - event.remaining <= 1
  return {
    admitted: [],
    isWhole: isFirst || (earlier >= 0 && before[earlier] !== window),
    // Those between two windows may be of this one.
    most: (at) => at - earlier - 1,
  }
}

/** The window in which the whole interval of a request lies, by the service's clock; null if it may be in two. */
function windowOf(event: RateEvent, limit: CalendarLimit, clock: ServiceClock): string | null {
  const window = calendarWindow((event.fromUs + clock.lowUs) / 1e3, limit)
  return window === calendarWindow((event.untilUs + clock.highUs) / 1e3, limit) ? window : null
}

const without = (band: Band, limit: CalendarLimit): Band => ({
  ...band,
  calendar: (band.calendar ?? []).filter((each) => !isSame(each, limit)),
})

const isSame = (a: CalendarLimit, b: CalendarLimit) =>
  a.each === b.each &&
  a.zone === b.zone &&
  a.requests === b.requests &&
  a.begins === b.begins &&
  a.at === b.at
