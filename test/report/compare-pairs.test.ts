import { expect, test } from 'vitest'
import { services, timesOf } from '../../bench/intervals/services.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { compareRuns } from '../../src/report/compare/compare.ts'
import { judgeGate, parseGate } from '../../src/report/compare/gate.ts'
import { renderComparison } from '../../src/report/compare-page.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { openStore } from '../store/opened.ts'
import { attempt, enterRun } from './attempts.ts'

const n = 2_000
const independent = services.find(({ name }) => name === 'independent')!
const noiseOf = (seed: number) => timesOf(independent, n, { arrivals: seed, service: seed })
/** Noise of both, which becomes 60 % slower in its middle if `steps`. */
const both = (steps: boolean) =>
  noiseOf(7).map((time, at) => time * (steps && at >= n / 2 ? 1.6 : 1))

/** Two targets of one run; `times` in units of 10 ms, `failed` slots have no time. */
async function pairOf(
  a: Float64Array,
  b: Float64Array,
  use: (
    comparison: Awaited<ReturnType<typeof compareRuns>>,
    store: Awaited<ReturnType<typeof openStore>>,
  ) => Promise<void> | void,
  failed: (slot: number) => boolean = () => false,
) {
  const store = await openStore(':memory:')
  try {
    for (const [name, times] of Object.entries({ a, b })) {
      await enterRun(store, name, {
        scenarioJson: JSON.stringify({ phases: [], target: { name, pair: 'p' } }),
      })
      await appendAttempts(
        store,
        Array.from(times, (time, slot) => {
          const intendedUs = slot * 100_000
          const closedUs = intendedUs + Math.round(time * 10_000)
          const sent = { intendedUs, dispatchedUs: intendedUs, sentUs: intendedUs }
          const end =
            name === 'b' && failed(slot)
              ? ({ outcome: 'broken', doneUs: null, headersUs: null, status: null } as const)
              : { doneUs: closedUs }
          return attempt(slot, { runId: name, ...sent, ...end, closedUs })
        }),
      )
    }
    const sides = [
      { store, runId: 'a' },
      { store, runId: 'b' },
    ] as const
    await use(await compareRuns(...sides, defaultContract), store)
  } finally {
    store.close()
  }
}

const p50 = parseGate('service.p50 > +20%')

test('a change of level that both targets share cancels out, and gates are judged', async () => {
  const shared = both(true)
  const b = shared.map((time, at) => time * 1.05 * (1 + (at % 5) / 500))
  await pairOf(shared, b, async (comparison, store) => {
    expect(comparison.isPaired).toBe(true)
    expect(comparison.unsteadyPairs).toBeNull()
    expect(judgeGate(comparison, p50).result).toBe('passed')
    expect(judgeGate(comparison, parseGate('service.p50 > +2%')).result).toBe('failed')
    const { html } = await renderComparison(store, comparison, [])
    expect(html).toContain('Each request went to both')
  })
})

test('a change of level of one target leaves gates open, and says when it came', {
  tags: 'whole',
}, async () => {
  const a = noiseOf(7)
  await pairOf(a, both(true), (comparison) => {
    expect(comparison.unsteadyPairs).toMatch(
      /^b against a: response 60 % slower from \d\d:\d\d:\d\d UTC$/,
    )
    expect(comparison.warnings.join()).toContain('the targets differ by more than one level')
    for (const text of ['service.p50 > +20%', 'service.p50 > +300%']) {
      expect(judgeGate(comparison, parseGate(text))).toMatchObject({
        result: 'inconclusive',
        summary: expect.stringContaining('not of one level'),
      })
    }
    expect(judgeGate(comparison, parseGate('errors > +1%')).result).toBe('passed')
    // Before the change both are alike, so no gate below that fails on both sides of it.
    expect(judgeGate(comparison, parseGate('service.p50 > +1%')).result).toBe('inconclusive')
  })
  const slower = both(true).map((time) => time * 1.1)
  await pairOf(a, slower, (comparison) => {
    expect(judgeGate(comparison, parseGate('service.p50 > +5%'))).toMatchObject({
      result: 'failed',
      summary: expect.stringContaining('before and after b against a: response'),
    })
    expect(judgeGate(comparison, p50).result).toBe('inconclusive')
  })
})

test('with more than 1 % of the pairs broken, two targets are compared as two runs', {
  tags: 'whole',
}, async () => {
  const slower = both(false).map((time) => time * 1.05)
  const brokenEvery = (every: number) => (slot: number) => slot % every === 0
  await pairOf(
    both(false),
    slower,
    ({ isPaired, differences }) => {
      expect(isPaired).toBe(true)
      expect(differences.find(({ metric }) => metric === 'service')!.isPaired).toBe(true)
    },
    brokenEvery(125),
  )
  await pairOf(
    both(false),
    slower,
    ({ isPaired, warnings, differences }) => {
      expect(isPaired).toBe(false)
      expect(warnings.join()).toContain('more than 1 % of the pairs are broken')
      expect(differences.some((each) => each.isPaired)).toBe(false)
    },
    brokenEvery(50),
  )
})
