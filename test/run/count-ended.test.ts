import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { flags } from '../../src/attempt/flags.ts'
import type { Attempt } from '../../src/client/row/attempt.ts'
import { limitSql } from '../../src/measure/limit.ts'
import { columnOf } from '../../src/measure/measures.ts'
import { goodSql, maybeGoodSql, type ObjectiveName } from '../../src/measure/objectives.ts'
import { countEnded } from '../../src/run/count/count-ended.ts'
import { ItlCells } from '../../src/run/count/itl-cells.ts'
import { cellFor } from '../../src/run/count/time-histogram.ts'
import { SharedNumbers } from '../../src/run/crew/shared.ts'
import { ActivePhase } from '../../src/run/send/active-phase.ts'
import type { Flight } from '../../src/run/send/flight.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import type { Objectives } from '../../src/scenario/scenario.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { randomObjectives, randomRun, steps } from '../measure/random-runs.ts'
import { openStore } from '../store/opened.ts'
import { attempt } from './rows.ts'

const names = Object.keys(steps) as (keyof typeof steps)[]
const scenario = parseScenario(
  `
name: a
question: Do counts and rows agree?
model: svc-k2
steps:
  plain: { endpoint: chat }
  stream: { endpoint: chat, stream: true }
  wrong: { endpoint: chat, wrong: unknown-model }
phases: [{ name: main, load: constant, rate: 1/s, duration: 1s }]
`,
  'a.yaml',
)

/** The counts of the sending thread for these rows, as one phase. */
function counted(rows: readonly AttemptRow[], objectives: Objectives) {
  const phase = new ActivePhase(
    {
      ordinal: 0,
      name: 'main',
      part: 'steady',
      load: scenario.phases[0]!.load as Extract<
        Flight['phase']['run']['load'],
        { kind: 'arrivals' }
      >,
      startUs: 0,
      durationUs: 1e6,
      maxRequests: null,
      steps: [0, 1, 2],
      slotBase: 0,
    },
    scenario,
    1,
  )
  const shared = new SharedNumbers(undefined, true)
  const itl = new ItlCells()
  itl.add(0)
  itl.add(1500)
  for (const row of rows) {
    if (row.outcome === 'not_sent') continue
    const index = names.indexOf(row.step as keyof typeof steps)
    const numbers = Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, value ?? Number.NaN]),
    )
    countEnded(
      {
        phase,
        plan: { index, step: scenario.steps[index]! },
        request: { streamed: row.streamed === 1, endpoint: row.endpoint },
        intendedUs: row.intendedUs,
        credits: 0,
        itl,
      } as unknown as Flight,
      {
        ...numbers,
        outcome: row.outcome,
        reason: row.reason,
        errorCode: row.errorCode,
      } as unknown as Attempt,
      objectives,
      shared,
    )
  }
  const taken = phase.takeCounts()
  const sum = (pick: (counters: (typeof taken)[number]['counters']) => number) =>
    taken.reduce((all, { counters }) => all + pick(counters), 0)
  const cells = (metric: 'service' | 'response' | 'ttft') =>
    taken.flatMap(({ histograms }) => {
      const slice = histograms[metric]
      if (slice === undefined) return []
      return [...slice.cells].flatMap((n, at) => Array<number>(n).fill(slice.from + at))
    })
  return {
    good: sum((each) => each.good),
    maybeGood: sum((each) => each.maybeGood),
    judged: sum((each) => each.judged),
    succeeded: sum((each) => each.succeeded),
    failed: sum((each) => each.failures),
    tokens: sum((each) => each.tokens),
    gaps: taken.reduce((all, { histograms }) => all + (histograms.itl?.samples ?? 0), 0),
    times: (['service', 'response', 'ttft'] as const).map((metric) =>
      cells(metric).sort((a, b) => a - b),
    ),
  }
}

/** Three choices share no token, and how long their text took is not known. */
const moreChoicesThanTokens = attempt({
  ...{ step: 'stream', streamed: 1, outcome: 'ok', status: 200, intendedUs: 0, dispatchedUs: 0 },
  ...{ sentUs: 0, firstEventUs: 0, firstContentUs: 0, lastContentUs: 1, doneUs: 1, closedUs: 1 },
  ...{ events: 5, contentEvents: 4, choices: 3, textUs: null, completionTokens: 0 },
})
const tpotOnly = { ttftUs: null, tpotUs: 0, serviceUs: null, responseUs: null }

test('the counts of a sending thread match SQL over the rows, for any run and objectives', {
  tags: 'whole',
}, async () => {
  const store = await openStore(':memory:')
  let run = 0
  await fc.assert(
    fc.asyncProperty(randomRun(60), randomObjectives, async (rows, objectives) => {
      const runId = `run ${run++}`
      await appendAttempts(
        store,
        rows.map((row) => ({ ...row, runId })),
      )
      const times = (['service', 'response', 'ttft'] as const).map(
        (name) => `list(${columnOf(name)}::DOUBLE) FILTER (${columnOf(name)} IS NOT NULL)`,
      )
      const boundOf = (name: ObjectiveName) => {
        const limit = objectives[name]
        return limit === null ? null : limitSql(limit)
      }
      const [told] = await store.rows<
        Record<string, number> & { times: readonly (readonly number[] | null)[] }
      >(
        `SELECT count(*) FILTER (${goodSql(boundOf)}) AS good, count(*) FILTER (${maybeGoodSql(boundOf)}) AS "maybeGood",
           count(*) FILTER (judged) AS judged, count(*) FILTER (failed) AS failed,
           count(*) FILTER (succeeded) AS succeeded,
           coalesce(sum(output_tokens), 0)::BIGINT AS tokens,
           2 * count(*) FILTER (succeeded AND streamed = 1) AS gaps,
           [${times.join(', ')}] AS times
         FROM attempt_values WHERE run_id = $1`,
        [runId],
      )
      expect(counted(rows, objectives)).toEqual({
        ...told,
        times: told!.times.map((values) =>
          (values ?? []).map((us) => cellFor(us)).sort((a, b) => a - b),
        ),
      })
    }),
    { numRuns: 60, examples: [[[moreChoicesThanTokens], tpotOnly]] },
  )
  store.close()
})

const stream = {
  ...{ step: 'stream', streamed: 1, outcome: 'ok', status: 200, intendedUs: 0, dispatchedUs: 0 },
  ...{ sentUs: 50, firstEventUs: 90, firstContentUs: 100, events: 3, contentEvents: 3 },
  ...{ lastContentUs: 400, completionTokens: 4, doneUs: 500, closedUs: 500 },
} as const

test.each([
  ['serviceUs', 450, stream],
  ['responseUs', 500, stream],
  ['ttftUs', 50, stream],
  ['tpotUs', 100, stream],
  ['tpotUs', 300, { ...stream, completionTokens: 2 }],
  ['tpotUs', 0, { ...stream, completionTokens: 1 }],
  // 30 tokens of hidden reasoning, and 4 that the stream holds.
  ['tpotUs', 100, { ...stream, completionTokens: 34, reasoningTokens: 30 }],
  ['tpotUs', 10, { ...stream, completionTokens: 31, reasoningTokens: 30, flags: flags.reasoning }],
  // Two choices of 3 tokens, one of which was shorter.
  ['tpotUs', 125, { ...stream, completionTokens: 6, choices: 2, textUs: 500 }],
  // Blocks of messages follow each other.
  ['tpotUs', 60, { ...stream, completionTokens: 6, choices: 2, endpoint: 'messages' }],
  ['tpotUs', 0, { ...stream, step: 'plain', streamed: 0 }],
] as const)('a success is good if its %s is at most the bound of %d us', (name, boundUs, row) => {
  const objectives = { serviceUs: null, responseUs: null, ttftUs: null, tpotUs: null }
  const goodWith = (bound: number) => counted([attempt(row)], { ...objectives, [name]: bound }).good
  expect(goodWith(boundUs)).toBe(1)
  if (boundUs > 0) expect(goodWith(boundUs - 0.5)).toBe(0)
})

test.each([
  ['without token counts', { completionTokens: null }],
  ['whose tokens were streamed in part', { flags: flags.textInPart }],
  ['with choices that were not told apart', { choices: 2, textUs: null }],
  ['whose events were not seen', { reasoningTokens: 2, contentEvents: 0 }],
] as const)('a stream %s is neither good nor bad under an objective for TPOT', (_, how) => {
  const none = { serviceUs: null, responseUs: null, ttftUs: null, tpotUs: null }
  const rows = [attempt({ ...stream, ...how })]
  expect(counted(rows, { ...none, tpotUs: 1e9 })).toMatchObject({
    good: 0,
    maybeGood: 1,
    judged: 1,
  })
  expect(counted(rows, { ...none, ttftUs: 1e9 })).toMatchObject({ good: 1, maybeGood: 0 })
  expect(counted(rows, { ...none, tpotUs: 1e9, ttftUs: 1 })).toMatchObject({
    good: 0,
    maybeGood: 0,
  })
})

test('a request has a limit of its own by its tokens, and without them is neither good nor bad', () => {
  const none = { serviceUs: null, responseUs: null, ttftUs: null, tpotUs: null }
  const ttftUs = { us: 30, usPerInputToken: 2, usPerOutputToken: 0 }
  const goodWith = (promptTokens: number | null, objectives: object) => {
    const { good, maybeGood } = counted([attempt({ ...stream, promptTokens })], {
      ...none,
      ...objectives,
    })
    return [good, maybeGood]
  }
  // The first token came after 50 us.
  expect(goodWith(10, { ttftUs })).toEqual([1, 0])
  expect(goodWith(9, { ttftUs })).toEqual([0, 0])
  expect(goodWith(null, { ttftUs })).toEqual([0, 1])
  // A limit that nobody knows saves no request that misses another.
  expect(goodWith(null, { ttftUs, responseUs: 499 })).toEqual([0, 0])
  // 4 tokens of 100 us, and 50 more.
  const serviceUs = { us: 50, usPerInputToken: 0, usPerOutputToken: 100 }
  expect(goodWith(null, { serviceUs })).toEqual([1, 0])
  expect(goodWith(null, { serviceUs: { ...serviceUs, us: 49 } })).toEqual([0, 0])
})
