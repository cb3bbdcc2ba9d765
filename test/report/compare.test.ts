import { describe, expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { type Comparison, compareRuns } from '../../src/report/compare/compare.ts'
import type { Difference } from '../../src/report/compare/differences.ts'
import { markdownComparison, terminalComparison } from '../../src/report/compare/formats.ts'
import { judgeGate, parseGate } from '../../src/report/compare/gate.ts'
import { headlineOf } from '../../src/report/compare/headline.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { randomOf } from '../../src/user/random.ts'
import { openStore } from '../store/opened.ts'
import { attempt, enterRun } from './attempts.ts'

/** Two runs of the same plan; times of `b` are drawn separately and scaled. */
async function compared(
  scaleB: number,
  seed: number,
  change: {
    verdicts?: Readonly<Record<string, string>>
    run?: object
    failB?: number
    modelB?: string
    n?: number
    timeouts?: 'a' | 'b'
    /** The run of which only every second answer reports its tokens. */
    halfReported?: 'a' | 'b'
  } = {},
): Promise<Comparison> {
  const store = await openStore(':memory:')
  const random = randomOf(seed)
  await enterRun(store, 'a')
  await enterRun(store, 'b', change.run)
  for (const [runId, verdict] of Object.entries(change.verdicts ?? {})) {
    await store.execute(`UPDATE runs SET verdict = '${verdict}' WHERE run_id = '${runId}'`)
  }
  for (const [runId, scale] of [
    ['a', 1],
    ['b', scaleB],
  ] as const) {
    await appendAttempts(
      store,
      Array.from({ length: change.n ?? 1_000 }, (_, slot) => {
        const us = Math.round(80_000 * scale * (0.5 + random()) ** 2)
        const at = slot * 50_000
        const failed = runId === 'b' && random() < (change.failB ?? 0)
        const cut = runId === change.timeouts && us > 100_000 * scale
        return attempt(slot, {
          runId,
          intendedUs: at,
          dispatchedUs: at,
          sentUs: at,
          doneUs: failed || cut ? null : at + us,
          closedUs: at + us,
          outcome: cut ? 'timeout' : failed ? 'http_error' : 'ok',
          status: cut ? null : failed ? 500 : 200,
          completionTokens: runId === change.halfReported && slot % 2 === 1 ? null : 10,
          model: runId === 'b' ? (change.modelB ?? 'svc-k2') : 'svc-k2',
        })
      }),
    )
  }
  const comparison = await compareRuns(
    { store, runId: 'a' },
    { store, runId: 'b' },
    defaultContract,
  )
  store.close()
  return comparison
}

const find = (comparison: Comparison, metric: string, statistic: string): Difference =>
  comparison.differences.find(
    (difference) => difference.metric === metric && difference.statistic === statistic,
  )!

describe('two runs', () => {
  test('of the same service almost always show no significant difference', {
    tags: 'whole',
  }, async () => {
    let clear = 0
    for (let seed = 1; seed <= 8; seed++) {
      const p95 = find(await compared(1, seed, { n: 400 }), 'service', 'p95')
      expect(p95.interval).not.toBeNull()
      if (p95.verdict !== 'unclear') clear++
    }
    // Expected 0.4 of 8; 3 or more occur once in 170 such tests, and these seeds are fixed.
    expect(clear).toBeLessThan(3)
  })

  test('show a slowdown by a fifth with its interval, and fail the gate', {
    tags: 'whole',
  }, async () => {
    const comparison = await compared(1.2, 5)
    const p95 = find(comparison, 'response', 'p95')
    expect(p95.verdict).toBe('worse')
    expect(p95.interval![0]).toBeLessThan(0.2)
    expect(p95.interval![1]).toBeGreaterThan(0.2)
    expect(judgeGate(comparison, parseGate('p95 > +10%')).result).toBe('failed')
    expect(judgeGate(comparison, parseGate('p95 > +50%')).result).toBe('passed')
    expect(judgeGate(comparison, parseGate('chat.service.p50 > +10%')).result).toBe('failed')
    expect(comparison.warnings).toEqual([])
  })

  test('differ in errors by percentage points, and in credits by the price', {
    tags: 'whole',
  }, async () => {
    const comparison = await compared(1, 7, { failB: 0.05, modelB: 'svc-k2.5' })
    expect(find(comparison, 'errors', 'share')).toMatchObject({ a: 0, verdict: 'worse' })
    expect(judgeGate(comparison, parseGate('errors > +1%')).result).toBe('failed')
    expect(find(comparison, 'credits', 'each')).toMatchObject({ a: 1, b: 2, change: 1 })
    expect(judgeGate(comparison, parseGate('credits > 0%')).result).toBe('failed')
  })

  test('with too few samples or unmeasured metrics are inconclusive, never passed', {
    tags: 'whole',
  }, async () => {
    const comparison = await compared(3, 5, { n: 40 })
    expect(find(comparison, 'service', 'p95')).toMatchObject({ interval: null, verdict: 'unclear' })
    expect(judgeGate(comparison, parseGate('service.p95 > +10%'))).toMatchObject({
      result: 'inconclusive',
      summary: expect.stringContaining('too few samples'),
    })
    expect(judgeGate(comparison, parseGate('ttft.p95 > +10%')).result).toBe('inconclusive')
    expect(judgeGate(comparison, parseGate('nostep.service.p50 > +10%')).result).toBe(
      'inconclusive',
    )
  })

  test('with too few samples are inconclusive even if the change is within the bound', {
    tags: 'whole',
  }, async () => {
    const comparison = await compared(1, 5, { n: 40 })
    expect(find(comparison, 'service', 'p95').change).toBeLessThan(0.9)
    expect(judgeGate(comparison, parseGate('service.p95 > +90%')).result).toBe('inconclusive')
    const terminal = terminalComparison(comparison, [], true)
    expect(terminal).toMatch(/service p95 +few +few/)
    expect(terminal).toMatch(/service p50 +\d/)
  })

  test('with percentiles cut off by timeouts leave the possible direction of change open', {
    tags: 'whole',
  }, async () => {
    const slowerB = await compared(1.5, 5, { timeouts: 'a' })
    expect(find(slowerB, 'service', 'p95')).toMatchObject({
      marks: ['at-least', 'exact'],
      verdict: 'unclear',
    })
    expect(judgeGate(slowerB, parseGate('service.p95 > +10%')).result).toBe('inconclusive')
    expect(judgeGate(slowerB, parseGate('service.p95 > +90%')).result).toBe('passed')
    expect(find(slowerB, 'service', 'mean').marks).toEqual(['at-least', 'exact'])
    expect(find(slowerB, 'service', 'p50')).toMatchObject({ verdict: 'worse' })
    const cutB = await compared(1.5, 5, { timeouts: 'b' })
    expect(find(cutB, 'service', 'p95')).toMatchObject({
      marks: ['exact', 'at-least'],
      verdict: 'worse',
    })
    expect(judgeGate(cutB, parseGate('service.p95 > +10%')).result).toBe('failed')
    expect(judgeGate(cutB, parseGate('service.p95 > +90%')).result).toBe('inconclusive')
    expect(terminalComparison(cutB, [])).toMatch(/service p95 +\d[\d.]* +>\d/)
  })

  test('of different conditions get a warning for each', { tags: 'whole' }, async () => {
    const comparison = await compared(1, 1, {
      run: { scenario: 'other', seed: 9, machineJson: '{"cores":64}', assayVersion: '0.2.0' },
      n: 50,
    })
    expect(comparison.warnings).toEqual([
      'the scenario differs: quick and other',
      'the seed differs: 1 and 9',
      'the version of Assay differs: 0.1.0 and 0.2.0',
      'the machine (cores) differs: 2 and 64',
    ])
  })

  test('give the same comparison each time, in 80 columns and in Markdown', {
    tags: 'whole',
  }, async () => {
    const [first, second] = [await compared(1.3, 2), await compared(1.3, 2)]
    expect(first).toEqual(second)
    const gates = [judgeGate(first, parseGate('p95 > +10%'))]
    const terminal = terminalComparison(first, gates)
    expect(Math.max(...terminal.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
    expect(terminal).toMatch(/response p95 .* WORSE/)
    expect(terminal).toMatch(/fail on p95 > \+10% +FAILED/)
    const markdown = markdownComparison(first, gates)
    expect(markdown).toContain('### Comparison: 1 of 1 not passed')
    expect(markdown).toMatch(/\| all \| response p95 \| .* \| worse \|/)
  })
})

test('a gate has a step, metric and statistic, and an invalid one is refused', () => {
  expect(parseGate('chat.stream.ttft.p99 > +5%')).toMatchObject({
    step: 'chat.stream',
    metric: 'ttft',
    statistic: 'p99',
    operator: '>',
    bound: 0.05,
  })
  expect(parseGate('throughput < -5%')).toMatchObject({ statistic: 'rate', bound: -0.05 })
  for (const wrong of ['p95', 'p95 > 5', 'speed > 5%', 'errors.p95 > 1%', 'ttft > 5%', '']) {
    expect(() => parseGate(wrong)).toThrow(/--fail-on/)
  }
})

describe('an invalid run', () => {
  test.each([
    ['a', { a: 'invalid' }, 'run a is INVALID'],
    ['b', { b: 'invalid' }, 'run b is INVALID'],
    ['both', { a: 'invalid', b: 'invalid' }, 'both runs are INVALID'],
  ])(
    'on side %s passes no gate and fails none',
    { tags: 'whole' },
    async (_side, verdicts, summary) => {
      for (const scale of [0.5, 1, 3]) {
        const comparison = await compared(scale, 5, { verdicts })
        for (const text of [
          'service.p95 > +10%',
          'throughput < -5%',
          'errors > +1%',
          'credits > 0%',
        ]) {
          expect(judgeGate(comparison, parseGate(text))).toMatchObject({
            result: 'inconclusive',
            summary,
          })
        }
        expect(headlineOf(comparison, [])).toMatchObject({
          tone: 'warn',
          summary: `Nothing is compared: ${summary}`,
        })
        const terminal = terminalComparison(comparison, [], true)
        expect(terminal).toContain(`Nothing is compared: ${summary}.`)
        expect(terminal).not.toMatch(/WORSE|better/)
        expect(markdownComparison(comparison, [])).not.toMatch(
          /differ significantly|\| worse|\| better/,
        )
        expect(comparison.differences.map(({ verdict }) => verdict)).not.toContain('worse')
      }
    },
  )

  test('that is degraded is compared with a warning', { tags: 'whole' }, async () => {
    const comparison = await compared(1, 5, { verdicts: { b: 'degraded' } })
    expect(judgeGate(comparison, parseGate('errors > +1%')).result).toBe('passed')
    expect(comparison.warnings.join()).toContain('run b is degraded')
  })
})

test('more errors are the headline, whatever the latency of the other requests', {
  tags: 'whole',
}, async () => {
  const comparison = await compared(0.5, 5, { failB: 0.49 })
  const headline = headlineOf(comparison, [])
  expect(headline.tone).toBe('fail')
  expect(headline.summary).toMatch(
    /^b fails more: errors 0\.0 % before, now (4[5-9]|5[0-3])\.\d %$/,
  )
  expect(headline.because).toContain('which requests are left')
  expect(markdownComparison(comparison, [])).toContain('b fails more')
})

test('a run that reports the tokens of half its answers is not called slower in tokens', {
  tags: 'whole',
}, async () => {
  const rateOf = (comparison: Comparison) =>
    comparison.differences.find(({ step, metric }) => step === null && metric === 'tokens')
  const whole = rateOf(await compared(1, 3))
  expect(whole).toMatchObject({ marks: ['exact', 'exact'], verdict: 'unclear' })
  expect(whole!.interval).not.toBeNull()
  const half = await compared(1, 3, { halfReported: 'b' })
  expect(rateOf(half)).toMatchObject({ marks: ['exact', 'at-least'], interval: null })
  expect(rateOf(half)!.verdict).not.toBe('worse')
  expect(judgeGate(half, parseGate('tokens < -20%'))).toMatchObject({
    result: 'inconclusive',
    summary: expect.stringContaining('not every answer reports its tokens'),
  })
})
