import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { compareRuns } from '../../src/report/compare/compare.ts'
import { terminalComparison } from '../../src/report/compare/formats.ts'
import { judgeGate, parseGate } from '../../src/report/compare/gate.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { resolveRepeated } from '../../src/store/runs/repeats.ts'
import { randomOf } from '../../src/user/random.ts'
import { openStore } from '../store/opened.ts'
import { attempt, enterRun, novemberUs } from './attempts.ts'

/** Builds of several runs each; every run has times of its own level, milliseconds. */
async function storeOf(builds: Readonly<Record<string, readonly number[]>>) {
  const store = await openStore(':memory:')
  const random = randomOf(5)
  let hour = 0
  for (const [name, levels] of Object.entries(builds)) {
    for (const [at, ms] of levels.entries()) {
      const runId = `${name}-${at + 1}`
      const repeat = { name, number: at + 1, of: levels.length }
      await enterRun(store, runId, {
        scenarioJson: levels.length === 1 ? '{}' : JSON.stringify({ repeat }),
        startedAtUs: novemberUs + hour++ * 3_600e6,
      })
      await appendAttempts(
        store,
        Array.from({ length: 400 }, (_, slot) => {
          const end = slot * 1e5 + 20 + ms * 1_000 + Math.round(random() * 2_000)
          const sent = { intendedUs: slot * 1e5, dispatchedUs: slot * 1e5, sentUs: slot * 1e5 }
          return attempt(slot, { runId, ...sent, doneUs: end, closedUs: end })
        }),
      )
    }
  }
  const compared = (a: string, b: string) =>
    compareRuns({ store, runId: a }, { store, runId: b }, defaultContract)
  return { store, compared }
}

const p95Of = ({ differences }: Awaited<ReturnType<typeof compareRuns>>) =>
  differences.find(({ metric, statistic }) => metric === 'service' && statistic === 'p95')!

/** One build, whose restarts differ by 10 %. */
const restarts = [100, 110, 96, 104, 99]
const others = [112, 101, 95, 108, 98]

test('restarts of one build differ, and only repeats tell that the build did not change', {
  tags: 'whole',
}, async () => {
  const { store, compared } = await storeOf({
    old: restarts,
    same: others,
    slow: [126, 133, 121, 128, 124],
  })
  const same = await compared('old-5', 'same-1')
  const p95 = p95Of(same)
  expect(same.repeats).toEqual({ a: 5, b: 5 })
  expect([p95.verdict, p95.na, p95.nb, p95.repeats]).toEqual(['unclear', 5, 5, [5, 5]])
  expect(judgeGate(same, parseGate('service.p95 > +20%')).result).toBe('passed')
  const open = judgeGate(same, parseGate('service.p95 > +3%'))
  expect(open.result).toBe('inconclusive')
  expect(open.summary).toContain('5 and 5 repeats leave changes on both sides of the limit')
  expect(terminalComparison(same, [])).toContain(
    'The intervals are between 5 runs of a and 5 of b.',
  )

  const slow = p95Of(await compared('old-1', 'slow-3'))
  expect(slow.verdict).toBe('worse')
  expect(slow.change).toBeGreaterThan(0.2)
  store.close()
})

test('one run of each side says that repeats were not made, and calls the same build worse', {
  tags: 'whole',
}, async () => {
  const { store, compared } = await storeOf({ old: [100], same: [110] })
  const single = await compared('old-1', 'same-1')
  expect(p95Of(single).verdict).toBe('worse')
  expect(single.repeats).toBeNull()
  expect(terminalComparison(single, [])).toContain(
    'The intervals are of these two runs; repeats were not made.',
  )
  store.close()
})

test('repeats of one side alone, too few, or INVALID ones are not compared, and a warning says so', {
  tags: 'whole',
}, async () => {
  const { store, compared } = await storeOf({ old: restarts, one: [100], few: [100, 101, 99] })
  const alone = await compared('old-5', 'one-1')
  expect([alone.repeats, alone.warnings]).toEqual([
    null,
    expect.arrayContaining([
      'b has 1 run; at least 3 of each side are needed to compare repeats, so one run of each is compared',
    ]),
  ])
  await store.execute(`UPDATE runs SET verdict = 'invalid' WHERE run_id IN ('few-3', 'old-5')`)
  const few = await compared('old-5', 'few-3')
  expect([few.repeats, few.a.run.runId, few.b.run.runId]).toEqual([null, 'old-4', 'few-2'])
  expect(few.warnings).toEqual(
    expect.arrayContaining([
      '1 of 5 runs of a are INVALID and left out',
      '1 of 3 runs of b are INVALID and left out',
      expect.stringContaining('b has 2 runs'),
    ]),
  )
  // Two runs of one name are two runs.
  const within = await compared('old-1', 'old-2')
  expect(within.repeats).toBeNull()
  store.close()
})

test('errors of repeats without any error are not known to be zero', {
  tags: 'whole',
}, async () => {
  const { store, compared } = await storeOf({ old: restarts, same: others })
  const comparison = await compared('old-5', 'same-5')
  const errors = comparison.differences.find(({ metric }) => metric === 'errors')!
  expect([errors.a, errors.b, errors.repeats]).toEqual([0, 0, [5, 5]])
  expect(errors.interval![1]).toBeGreaterThan(0.001)
  expect(judgeGate(comparison, parseGate('errors > +0.1%')).result).toBe('inconclusive')
  store.close()
})

test('repeats are found by their name, and previous is the run before all of the latest', async () => {
  const { store } = await storeOf({ old: restarts, same: others })
  expect(await resolveRepeated(store, 'old')).toBe('old-5')
  expect(await resolveRepeated(store, 'latest')).toBe('same-5')
  expect(await resolveRepeated(store, 'previous')).toBe('old-5')
  expect(await resolveRepeated(store, 'old-2')).toBe('old-2')
  await expect(resolveRepeated(store, 'ol')).rejects.toThrow('5 runs "ol"')
  store.close()
})
