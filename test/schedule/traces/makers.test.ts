import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tracePlanOf } from '../../../src/run/plan/trace-plan.ts'
import type { TraceColumns } from '../../../src/scenario/loads.ts'
import { readTrace } from '../../../src/schedule/traces/read.ts'

const read = (name: string, columns: TraceColumns | null = null) =>
  readTrace({
    ...{ path: name, text: readFileSync(join(import.meta.dirname, 'makers', name), 'utf8') },
    ...{ format: null, unit: null, columns, beside: () => null },
  })

/** Of each request: due (ms), prompt, answer, shared prefix, session, turn, index that it waits for, gap (ms). */
type Row = readonly [
  number,
  number,
  number,
  number | null,
  string | null,
  number | null,
  number | null,
  number | null,
]

/** Files in the shapes of other makers, with expectations worked out by hand. */
const cases: readonly (readonly [
  name: string,
  format: string,
  times: string,
  columns: TraceColumns | null,
  rows: readonly Row[],
])[] = [
  [
    'azure-2024-unsorted.csv',
    'azure',
    'instants',
    null,
    [
      [0, 120, 15, null, null, null, null, null],
      [990.07, 76, 0, null, null, null, null, null],
      [2490.07, 2399, 6, null, null, null, null, null],
      [86_400_000, 300, 8, null, null, null, null, null],
    ],
  ],
  [
    'burstgpt-failures.csv',
    'burstgpt',
    's: as its format defines',
    null,
    [
      [0, 1000, 200, null, '7', 1, null, null],
      [30_000, 1250, 0, null, '7', 2, 0, 30_000],
      [30_000, 40, 10, null, null, null, null, null],
      [40_500, 1250, 90, null, '7', 3, 1, 10_500],
    ],
  ],
  [
    'mooncake-toolagent.jsonl',
    'mooncake',
    'ms: whole numbers, 0.983 requests/s as milliseconds',
    null,
    [
      [0, 6955, 52, 0, null, null, null, null],
      [0, 6144, 1, 6144, null, null, null, null],
      [3053, 6472, 26, 6144, null, null, null, null],
    ],
  ],
  [
    'aiperf-sessions.jsonl',
    'mooncake',
    'ms: as its format defines',
    null,
    [
      [0, 512, 40, 0, 'a', 1, null, null],
      [250, 900, 12, 512, 'b', 1, null, null],
      [500, 1100, 30, 512, 'a', 2, 0, 500],
      [2500, 1600, 9, 1536, 'a', 3, 2, 2000],
    ],
  ],
  [
    'gateway-epoch-ms.csv',
    'columns',
    'ms: 1764000000123.5 is milliseconds since 1970',
    { time: 'startTime', input: 'prompt', output: 'completion', session: 'chat' },
    [
      [0, 12, 300, null, 'x', null, null, null],
      [500, 800, 40, null, null, null, null, null],
      [60_000.25, 90, 7, null, 'x', null, 0, 60_000.25],
    ],
  ],
  [
    'sampled.json',
    'columns',
    's: as its format defines',
    { time: 'arrival_s', input: 'in', output: 'out' },
    [
      [0, 10, 4, null, null, null, null, null],
      [2000, 20, 5, null, null, null, null, null],
      [2000, 30, 6, null, null, null, null, null],
    ],
  ],
]

test.each(cases)('%s reads as worked out by hand', (name, format, times, columns, rows) => {
  const trace = read(name, columns)
  expect([trace.format, trace.times]).toEqual([format, times])
  expect(
    tracePlanOf(trace).firstRequests.map(
      (each): Row => [
        ...([each.dueMs, each.promptTokens, each.outputTokens, each.sharedPrefixTokens] as const),
        ...([each.session, each.turn, each.after, each.gapMs] as const),
      ],
    ),
  ).toEqual(rows)
})

test('a failure of BurstGPT is said, and the whole time of its answers ends before a gap', () => {
  const trace = read('burstgpt-failures.csv')
  expect(trace.requests.map(({ recorded }) => [recorded.failed, recorded.serviceUs])).toEqual([
    [false, 12_500_000],
    [true, 400_000],
    [false, 2_000_000],
    [false, 3_000_000],
  ])
  expect(tracePlanOf(trace).recordedFailures).toBe(1)
})

test.each([
  ['vllm-custom.jsonl', 'a list of prompts without times'],
  ['sglang-custom.jsonl', 'a list of conversations without times'],
])('%s, the data set of a benchmark, has no times, so it is prompts', (name, said) => {
  expect(() => read(name)).toThrow(`${name} is ${said}, so it is no trace. Name it as prompts`)
})

test('times from a start that grow beyond a thousand million are no instants', () => {
  const row = (timestamp: number) =>
    JSON.stringify({ timestamp, input_length: 9, output_length: 9 })
  const text = [0, 600_000_000, 1_209_600_000].map(row).join('\n')
  const { requests } = readTrace({
    ...{ path: 'fortnight.jsonl', text, format: null, unit: null, columns: null },
    beside: () => null,
  })
  expect(requests.at(-1)!.atUs).toBe(1_209_600_000_000)
})

test.each([
  ['sent_ms', 1000],
  ['arrival (s)', 1e6],
  ['startTimeMillis', 1000],
  ['at_us', 1],
])('a column named %s tells its unit', (name, us) => {
  const { requests } = readTrace({
    ...{ path: 'a.csv', text: `${name},in,out\n0,1,1\n10,1,1\n`, format: null, unit: null },
    columns: { time: name, input: 'in', output: 'out' },
    beside: () => null,
  })
  expect(requests[1]!.atUs).toBe(10 * us)
})
