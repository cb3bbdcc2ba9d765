import type { Arrival } from '../../limits/arrival.ts'
import type { BandCourse } from '../../limits/courses.ts'
import { limiterClock, resetInstant } from '../../limits/reset-unit.ts'
import type { Rule } from '../rule.ts'
import type { Verdict } from '../verdict.ts'
import { coursesIn, explain, type Known } from './courses.ts'
import { type History, historyOf, witnessOf } from './history.ts'
import { readResets, sampleOf } from './resets.ts'

export const rate13: Rule = {
  id: 'RATE-13',
  says: 'X-RateLimit-Reset is true: then, and for fixed windows not before, requests are admitted again',
  section: '§8.1',
  severity: 'must',
  needs: ['active', 'quiescence'],
  explain: `Takes a rejection with its reset, read in the unit that fits the deployment (RATE-12); where
two fit, it must be untrue in both, and an epoch by every clock that RATE-12 allows. Not too late: a window after the last request that counted, every
limiter has forgotten all.
Not after: the next attempt, sent after that instant (with W/N and 1 % of the window to spare) and
alone, must not be rejected. Where a limiter that counts rejections explains the record, the time by
which they may have moved the reset is spared too. Not before: where only fixed windows explain the
record, nothing is admitted between the rejection and its reset. For other limiters a reset may name the
next token or the whole refill, so an early admission decides nothing.`,
  async decide(evidence) {
    const history = await historyOf(evidence)
    const { samples, clock, inference } = readResets(history, evidence)
    // Where the values fit two units, each of them must be untrue.
    const verdicts = inference.units.map((unit) => {
      const limiters = limiterClock(unit, samples, clock)
      return judge(history, evidence, (rejection) => {
        const sample = sampleOf(rejection, evidence.contract)
        return sample === null ? null : resetInstant(unit, sample, limiters)
      })
    })
    const held = verdicts.find(({ verdict }) => verdict === 'pass')
    if (held !== undefined) return held
    if (verdicts.length > 0 && verdicts.every(({ verdict }) => verdict === 'fail')) {
      return verdicts[0]!
    }
    return {
      verdict: 'not-observed',
      takes: 'a rejection whose reset has a unit (RATE-12), and one request after that instant',
    }
  },
}

/** Replaying a course takes a fraction of a second, so that of many keys the first few are asked. */
const mostCourses = 24

type Instant = { readonly lowUs: number; readonly highUs: number }

function judge(
  history: History,
  known: Known,
  instantOf: (rejection: Arrival) => Instant | null,
): Verdict {
  let observations = 0
  const courses = coursesIn(history, known, 'minute').filter(({ arrivals }) =>
    arrivals.some(({ decision }) => decision === 'rejected'),
  )
  for (const course of courses.slice(0, mostCourses)) {
    const { arrivals, windowUs } = course
    const models = lazily(() => explain(course).models)
    const fixedOnly = () =>
      models().length > 0 && models().every(({ algorithm }) => algorithm.startsWith('fixed'))
    const countsRejections = () =>
      models().some((model) => 'rejectionsCount' in model && model.rejectionsCount)
    const spareUs = windowUs / course.limit + windowUs * 0.01
    const spareFor = (index: number) => {
      // A read after the rejection may have been counted, as a rejection may (gap G-18).
      const mayHaveMoved = countsRejections() || arrivals[index + 1]?.decision === 'read'
      return spareUs + (mayHaveMoved ? movedByRejections(course, index) : 0)
    }
    let newestUs = Number.NEGATIVE_INFINITY
    for (const [index, rejection] of arrivals.entries()) {
      if (rejection.decision !== 'rejected') newestUs = Math.max(newestUs, rejection.closedUs)
      const instant = rejection.decision === 'rejected' ? instantOf(rejection) : null
      if (instant === null) continue
      const shown = witnessOf(rejection, `429, reset ${rejection.reset}`)
      const forgottenBy = () =>
        countsRejections()
          ? rejection.untilUs + windowUs * (1 + (index + 1) / course.limit)
          : newestUs + windowUs
      // Which models explain the record is asked only where the answer matters: asking takes long.
      const soonestUs = Math.min(newestUs, rejection.untilUs) + windowUs
      const isLate = (byUs: number) => instant.lowUs > byUs + windowUs * 0.01
      if (Number.isFinite(newestUs) && isLate(soonestUs) && isLate(forgottenBy())) {
        return {
          verdict: 'fail',
          observations: observations + 1,
          expected: 'a reset no later than a window after the last request that counted',
          came: `${Math.round((instant.lowUs - forgottenBy()) / 1e3)} ms later than that`,
          witnesses: [shown],
        }
      }
      const next = firstAfter(arrivals, index, instant.highUs + spareUs)
      const judged =
        next !== null &&
        next.fromUs > instant.highUs + spareFor(index) &&
        !hasSiblings(history, course.key, rejection.fromUs - 2 * windowUs, next.untilUs)
      if (judged) observations++
      if (judged && next.decision === 'rejected') {
        return {
          verdict: 'fail',
          observations,
          expected: `admitted ${Math.round((next.fromUs - instant.highUs) / 1e3)} ms after the reset`,
          came: '429 again, with no generation sent since',
          witnesses: [shown, witnessOf(next, '429 after that instant')],
        }
      }
      const early = firstAdmitted(arrivals, index)
      if (early === null || early.untilUs >= instant.lowUs - spareUs || !fixedOnly()) continue
      return {
        verdict: 'fail',
        observations: observations + 1,
        expected: 'a fixed window stays full until its reset',
        came: `admitted ${Math.round((instant.lowUs - early.untilUs) / 1e3)} ms before it`,
        witnesses: [shown, witnessOf(early, 'admitted before that instant')],
      }
    }
  }
  return observations > 0
    ? { verdict: 'pass', observations }
    : { verdict: 'not-observed', takes: 'a rejection, and one request after its reset' }
}

/** The very next generation, when it came after the instant, alone, and nothing was in flight. */
function firstAfter(
  arrivals: readonly Arrival[],
  index: number,
  instantUs: number,
): Arrival | null {
  let at = index + 1
  while (arrivals[at]?.decision === 'read') at++
  const next = arrivals[at]
  if (next === undefined || next.fromUs <= instantUs) return null
  const alone = (arrivals[at + 1]?.fromUs ?? Infinity) >= next.untilUs
  const before = arrivals.slice(Math.max(0, index - inFlightLookback), at)
  const settled = before.every(({ closedUs }) => closedUs <= instantUs)
  const spoke = next.decision === 'rejected' || next.decision === 'admitted'
  return alone && settled && spoke ? next : null
}

/** How many earlier attempts are looked at for one that may still have been in flight. */
const inFlightLookback = 100

function firstAdmitted(arrivals: readonly Arrival[], index: number): Arrival | null {
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

/** Whether another key of the account was used meanwhile: it may share the counter. */
function hasSiblings(
  { byKey, byAccount }: History,
  key: string,
  fromUs: number,
  untilUs: number,
): boolean {
  const { account } = byKey.get(key)![0]!
  return byAccount
    .get(account)!
    .some((other) => other.key !== key && other.fromUs <= untilUs && other.untilUs >= fromUs)
}

function lazily<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
