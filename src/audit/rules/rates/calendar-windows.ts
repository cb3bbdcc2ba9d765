import type { CalendarLimit } from '../../../contract/contract.ts'
import { bandsWithin } from '../../../limits/band.ts'
import { calendarWindow } from '../../../limits/calendar.ts'
import { serviceClock } from '../../../limits/service-clock.ts'
import { fail, inconclusive, pass, type Verdict } from '../../verdict.ts'
import { type RateEvent, type RateHistory, witnessOf } from './history.ts'
import type { Known } from './traces.ts'

/**
 * The limits that begin by the calendar of a zone. A request is of the window in which its whole interval lies, by the
 * service's own `Date`.
 *
 * @returns null if the contract has none of these limits, or no request tested one
 */
export function judgeCalendar(
  history: RateHistory,
  { contract }: Known<'bands'>,
  lengths: readonly CalendarLimit['each'][],
): Verdict | null {
  const limits = contract.bands.flatMap(({ calendar }) => calendar ?? [])
  if (!limits.some(({ each }) => lengths.includes(each))) return null
  let [observations, full, undated] = [0, 0, 0]
  for (const events of history.byKey.values()) {
    const clock = serviceClock(events)
    const admitted = new Map<string, RateEvent[]>()
    for (const event of events) {
      const ofBands = bandsWithin(contract, event.balance).map(({ calendar }) => calendar ?? [])
      const [first = []] = ofBands
      for (const limit of first) {
        const isOfAll = ofBands.every((all) => all.some((each) => isSame(each, limit)))
        if (!isOfAll || !lengths.includes(limit.each)) continue
        if (clock === null) {
          undated++
          continue
        }
        const window = calendarWindow((event.fromUs + clock.lowUs) / 1e3, limit)
        if (window !== calendarWindow((event.untilUs + clock.highUs) / 1e3, limit)) continue
        const name = `${limit.each} ${window} of ${limit.zone}`
        const before = admitted.get(name) ?? []
        admitted.set(name, before)
        observations++
        if (event.decision === 'rejected' && before.length >= limit.requests) full++
        if (event.decision !== 'admitted') continue
        before.push(event)
        if (before.length <= limit.requests) continue
        const all = events.filter(
          ({ decision, fromUs, untilUs }) =>
            decision === 'admitted' &&
            calendarWindow((fromUs + clock.lowUs) / 1e3, limit) === window &&
            calendarWindow((untilUs + clock.highUs) / 1e3, limit) === window,
        )
        return fail(observations, {
          expected: `at most ${limit.requests} in each ${limit.each} of ${limit.zone}`,
          observed: `${all.length} admitted in the ${name}`,
          witnesses: [
            witnessOf(before[0]!, 'the first of them'),
            witnessOf(event, `number ${before.length}, admitted as well`),
          ],
        })
      }
    }
  }
  if (full > 0) return pass(observations, { note: `${full} rejections came after it was used up` })
  if (undated === 0) return null
  return inconclusive(
    undated,
    'no Date of the answers says in which window of the calendar they were',
  )
}

const isSame = (a: CalendarLimit, b: CalendarLimit) =>
  a.each === b.each && a.zone === b.zone && a.requests === b.requests
