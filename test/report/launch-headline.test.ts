import { describe, expect, test } from 'vitest'
import { launchHeadline } from '../../src/report/launch-headline.ts'
import { readPageVerdict } from '../../src/report/page-verdict.ts'
import type { SummaryGroup } from '../../src/report/summary/group-shape.ts'
import type { RunRow } from '../../src/store/runs/runs.ts'

const trial = { step: 'hold', result: 'held', ratePerS: 5, sent: 100 }
const held = {
  ...{ kind: 'held', heldPerS: 5, safePerS: 5, failedPerS: null, budget: 'quick' },
}
const searched = (...phases: readonly string[]) =>
  readPageVerdict(
    JSON.stringify({
      verdict: 'valid',
      sweeps: phases.map((phase) => ({ phase, safeRate: held, trials: [trial] })),
    }),
  )
const plain = readPageVerdict(JSON.stringify({ verdict: 'valid' }))
const run = (scenario: object = {}) =>
  ({ run_id: 'r', verdict: 'valid', scenario_json: JSON.stringify(scenario) }) as RunRow
const groupOf = (counts: object) =>
  ({
    counts: {
      ...{ attempts: 200, sent: 200, notSent: 0, retries: 0, ok: 200, failed: 0, timeout: 0 },
      ...{ onPurpose: 0, empty: 0, notClosed: 0, ...counts },
    },
    tokenReports: { answers: 110, reported: 110 },
  }) as unknown as SummaryGroup
const shown = (
  runs: readonly (readonly [RunRow, ReturnType<typeof readPageVerdict>])[],
  counts: object = {},
) =>
  launchHeadline({
    ...{ runs: runs.map(([each]) => each), verdicts: runs.map(([, verdict]) => verdict) },
    ...{ all: groupOf(counts), reached: true, closed: [], balances: [] },
  })

describe('the headline of a launch page', () => {
  const failing = { ok: 110, failed: 90, httpError: 90 }

  test('tells failures of a run that neither a search nor a threshold judges, beside one that has a search', () => {
    const both = shown(
      [
        [run(), searched('s')],
        [run(), plain],
      ],
      failing,
    )
    expect(both).toMatchObject({
      tone: 'warn',
      summary: '45.0 % of the requests failed, and no threshold limits failures',
      because: expect.stringContaining(
        '100 requests of 1 trial were sent, beside those outside the searches. The figures below are of the confirmation at 5.0/s and of the requests outside the searches.',
      ),
    })
    const phases = [
      { name: 'before', load: { kind: 'arrivals' } },
      { name: 's', load: { kind: 'sweep' } },
    ]
    expect(shown([[run({ phases }), searched('s')]], failing).tone).toBe('warn')
    expect(shown([[run({ phases: phases.slice(1) }), searched('s')]], failing)).toMatchObject({
      ...{ tone: 'good', summary: expect.stringContaining('Safe rate') },
      because: expect.stringMatching(/trial were sent\. The figures .* alone\.$/),
    })
  })

  test('tells retries apart from planned requests', () => {
    const { because } = shown([[run(), plain]], { attempts: 120, sent: 120, retries: 20, ok: 100 })
    expect(because).toContain('All 120 attempts of 100 planned requests were sent, 100 succeeded.')
  })

  test('lists each of several searches with its phase, also if their answers are the same', () => {
    const open = readPageVerdict(
      JSON.stringify({
        verdict: 'valid',
        sweeps: ['a', 'b'].map((phase) => ({ phase, safeRate: { kind: 'none' }, trials: [] })),
      }),
    )
    const { summary, checks } = shown([[run(), open]])
    const names = [summary, ...checks.map(({ name }) => name)]
    expect(names).toHaveLength(2)
    expect(names.map((name) => name.slice(0, 3))).toEqual(['a: ', 'b: '])
    expect(
      shown([
        [run(), searched('s')],
        [run(), searched('s')],
      ]).summary,
    ).toMatch(/^(Safe rate.*); \1$/)
  })
})
