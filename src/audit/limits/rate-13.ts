import type { BandCourse } from '../../limits/courses.ts'
import { type ResetUnit, resetInstant } from '../../limits/reset-unit.ts'
import type { Rule } from '../rule.ts'
import { coursesIn, explain } from './courses.ts'
import { type History, historyOf, type Sighting, witnessOf } from './history.ts'
import { readResets, sampleOf } from './resets.ts'

export const rate13: Rule = {
  id: 'RATE-13',
  says: 'X-RateLimit-Reset is true: then, and for fixed windows not before, requests are admitted again',
  section: '§8.1',
  severity: 'must',
  needs: ['active', 'quiescence'],
  explain: `Takes a rejection with its reset, read in the only unit that fits the deployment (RATE-12).
Not after: the next attempt, sent after that instant (with W/N and 1 % of the window to spare) and alone,
must not be rejected. Where a limiter that counts rejections explains the record, the time by which they may have
moved the reset is spared too. Not before: where only
fixed windows explain the record, nothing is admitted between the rejection and its reset. For other
limiters a reset may name the next token or the whole refill, so an early admission decides nothing.`,
  async decide(evidence) {
    const { contract } = evidence
    const history = await historyOf(evidence)
    const { clock, inference } = readResets(history, contract)
    const [unit, second] = inference.units
    if (unit === undefined || second !== undefined) {
      return {
        verdict: 'not-observed',
        takes: 'rejections whose reset has one unit (RATE-12), and a request after that instant',
      }
    }
    let observations = 0
    for (const course of coursesIn(history, contract, 'minute')) {
      // Other keys of the account may share the counter (gap G-36).
      if (hasSiblings(history, course.key)) continue
      const arrivals = course.arrivals as readonly Sighting[]
      const models = lazily(() => explain(course).models)
      const fixedOnly = () =>
        models().length > 0 && models().every(({ algorithm }) => algorithm.startsWith('fixed'))
      const countsRejections = () =>
        models().some((model) => 'rejectionsCount' in model && model.rejectionsCount)
      const spareUs = course.windowUs / course.limit + course.windowUs * 0.01
      const spareFor = (index: number) =>
        spareUs + (countsRejections() ? movedByRejections(course, index) : 0)
      for (const [index, rejection] of arrivals.entries()) {
        const instant = instantOf(rejection, unit)
        if (rejection.decision !== 'rejected' || instant === null) continue
        const next = firstAfter(arrivals, index, instant.highUs + spareUs)
        if (next !== null && next.fromUs > instant.highUs + spareFor(index)) {
          observations++
          if (next.decision === 'rejected') {
            return {
              verdict: 'fail',
              observations,
              expected: `admitted ${Math.round((next.fromUs - instant.highUs) / 1e3)} ms after the reset`,
              came: '429 again, with nothing else sent since',
              witnesses: [
                witnessOf(rejection, `429, reset ${rejection.reset} (${unit})`),
                witnessOf(next, '429 after that instant'),
              ],
            }
          }
        }
        const early = firstAdmitted(arrivals, index)
        if (early === null || early.untilUs >= instant.lowUs - spareUs || !fixedOnly()) continue
        return {
          verdict: 'fail',
          observations: observations + 1,
          expected: 'a fixed window stays full until its reset',
          came: `admitted ${Math.round((instant.lowUs - early.untilUs) / 1e3)} ms before it`,
          witnesses: [
            witnessOf(rejection, `429, reset ${rejection.reset} (${unit})`),
            witnessOf(early, 'admitted before that instant'),
          ],
        }
      }
    }
    return observations > 0
      ? { verdict: 'pass', observations, note: `unit: ${unit}` }
      : { verdict: 'not-observed', takes: 'a rejection, and one request after its reset' }

    function instantOf(rejection: Sighting, unit: ResetUnit) {
      const sample = sampleOf(rejection, contract)
      return sample === null ? null : resetInstant(unit, sample, clock)
    }
  },
}

/** The very next attempt, when it came after the instant, alone, and nothing was in flight. */
function firstAfter(
  arrivals: readonly Sighting[],
  index: number,
  instantUs: number,
): Sighting | null {
  const next = arrivals[index + 1]
  if (next === undefined || next.fromUs <= instantUs) return null
  const alone = (arrivals[index + 2]?.fromUs ?? Infinity) >= next.untilUs
  const before = arrivals.slice(Math.max(0, index - inFlightLookback), index + 1)
  const settled = before.every(({ closedUs }) => closedUs <= instantUs)
  const spoke = next.decision === 'rejected' || next.decision === 'admitted'
  return alone && settled && spoke ? next : null
}

/** How many earlier attempts are looked at for one that may still have been in flight. */
const inFlightLookback = 100

function firstAdmitted(arrivals: readonly Sighting[], index: number): Sighting | null {
  const rejectedBy = arrivals[index]!.untilUs
  for (let at = index + 1; at < arrivals.length; at++) {
    const arrival = arrivals[at]!
    if (arrival.decision === 'admitted' && arrival.fromUs > rejectedBy) return arrival
  }
  return null
}

/**
 * By how much a limiter that counts rejections may be later than it says: a counter that weighs the
 * last window weighs its rejections too, and a log that counts this one must lose one more entry.
 */
function movedByRejections({ arrivals, limit, windowUs }: BandCourse, index: number): number {
  const untilUs = arrivals[index]!.fromUs
  const trailing = arrivals.filter(({ fromUs }, at) => at <= index && fromUs >= untilUs - windowUs)
  const rejections = trailing.filter(({ decision }) => decision !== 'admitted').length
  const gaps = trailing.slice(1).map(({ fromUs }, at) => fromUs - trailing[at]!.fromUs)
  return Math.max(0, ...gaps, (windowUs * rejections) / (limit + rejections))
}

function hasSiblings({ byKey, byAccount }: History, key: string): boolean {
  const own = byKey.get(key)!
  return byAccount.get(own[0]!.account)!.length > own.length
}

function lazily<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
