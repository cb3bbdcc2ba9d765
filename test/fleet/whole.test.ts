import fc from 'fast-check'
import { expect, test } from 'vitest'
import { liveWord, parsed } from '../../src/fleet/messages.ts'
import { progressOfFleet } from '../../src/fleet/progress.ts'
import { noCounts } from '../../src/run/count/attempt-counts.ts'
import type { Progress } from '../../src/run/count/progress.ts'
import { TimeHistogram } from '../../src/run/count/time-histogram.ts'
import type { TimesOfSteps } from '../../src/run/count/times-by-step.ts'

const step = { planned: 3, sent: 3, ok: 2, failures: 1, plannedPerS: 5, achievedPerS: 4.5 }
const progress: Progress = {
  runId: 'r',
  scenario: 's',
  phase: 'steady',
  atUs: 1e6,
  endsUs: 5e6,
  counts: { ...noCounts, planned: 3, sent: 3, ok: 2, httpError: 1 },
  inFlight: 1,
  creditsSpent: 4,
  money: null,
  maxCredits: 10,
  steps: [{ step: 'chat', ...step, responseUs: null, serviceUs: null, ttftUs: null }],
  errors: [['429', 1]],
  keys: [{ name: 'a', creditsRemaining: 7, rateRemaining: null }],
  health: [],
}

const counted = (us: readonly number[]): TimesOfSteps => ({
  histogramsOfSteps(metric) {
    const histogram = new TimeHistogram()
    for (const each of us) histogram.record(each)
    return new Map(metric === 'response' && us.length > 0 ? [['chat', histogram]] : [])
  },
})

const word = (own: Partial<Progress>, us: readonly number[] = []) =>
  parsed.live(liveWord({ ...progress, ...own }, counted(us)))!

test('percentiles of the whole equal those of one machine with all samples', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.integer({ min: 0, max: 9e9 }), { maxLength: 40 }), {
        minLength: 1,
        maxLength: 4,
      }),
      (shards) => {
        const all = new TimeHistogram()
        for (const us of shards.flat()) all.record(us)
        const [first, ...more] = shards.map((us) => word({}, us))
        const { responseUs } = progressOfFleet([first!, ...more]).steps[0]!
        expect(responseUs).toEqual(
          all.samples === 0
            ? null
            : {
                samples: all.samples,
                p50: all.percentile(50),
                p95: all.percentile(95),
                p99: all.percentile(99),
              },
        )
      },
    ),
  )
})

test('counts of shards are added, and a key has the lowest remaining values that any shard saw', () => {
  const other = word({
    atUs: 2e6,
    phase: 'last',
    maxCredits: 5,
    keys: [{ name: 'a', creditsRemaining: 6, rateRemaining: 2 }],
    errors: [
      ['500', 2],
      ['429', 3],
    ],
  })
  expect(progressOfFleet([word({}), other])).toEqual({
    ...progress,
    phase: 'last',
    atUs: 2e6,
    counts: { ...noCounts, planned: 6, sent: 6, ok: 4, httpError: 2 },
    inFlight: 2,
    creditsSpent: 8,
    maxCredits: 15,
    steps: [
      {
        step: 'chat',
        ...{ planned: 6, sent: 6, ok: 4, failures: 2, plannedPerS: 10, achievedPerS: 9 },
        ...{ responseUs: null, serviceUs: null, ttftUs: null },
      },
    ],
    errors: [
      ['429', 4],
      ['500', 2],
    ],
    keys: [{ name: 'a', creditsRemaining: 6, rateRemaining: 2 }],
  })
})

test('the whole has no bound if one shard has none, and a closed step has no rate', () => {
  const closed = { step: 'chat', ...step, plannedPerS: null }
  const whole = progressOfFleet([
    word({}),
    word({
      maxCredits: null,
      steps: [{ ...closed, responseUs: null, serviceUs: null, ttftUs: null }],
    }),
  ])
  expect([whole.maxCredits, whole.steps[0]!.plannedPerS]).toEqual([null, null])
})

test('a word that is not valid JSON or has another shape counts as missing', () => {
  expect(parsed.live('{')).toBeNull()
  expect(parsed.live(JSON.stringify({ ...progress, times: {}, inFlight: 'many' }))).toBeNull()
  expect(parsed.said('{"atUs":"soon"}', { atUs: 0 })).toBeNull()
  expect(parsed.said('{"atUs":5,"more":1}', { atUs: 0 })).toEqual({ atUs: 5 })
  expect(parsed.stop('{"reason":"because"}')).toBeNull()
  expect(parsed.end(undefined)).toBeNull()
})

test('text from another shard cannot control the terminal', () => {
  const said = JSON.parse(liveWord({ ...progress, phase: 'a\u001b[2Jb' }, null))
  expect(parsed.live(JSON.stringify(said))!.phase).toBe('a [2Jb')
})
