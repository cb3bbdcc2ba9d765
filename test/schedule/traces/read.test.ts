import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tracePlanOf } from '../../../src/run/plan/trace-plan.ts'
import type { TraceColumns, TraceFormat, TraceUnit } from '../../../src/scenario/loads.ts'
import { servegenWindows } from '../../../src/schedule/traces/formats/servegen.ts'
import { readTrace } from '../../../src/schedule/traces/read.ts'

const samples = join(import.meta.dirname, 'samples')
const sample = (name: string) => readFileSync(join(samples, name), 'utf8')

interface Given {
  readonly format?: TraceFormat
  readonly unit?: TraceUnit
  readonly columns?: TraceColumns
  readonly beside?: string
}

function read(text: string, { format, unit, columns, beside }: Given = {}, path = 't.jsonl') {
  return readTrace({
    ...{ path, text, format: format ?? null, unit: unit ?? null, columns: columns ?? null },
    beside: () => beside ?? null,
  })
}

test('a trace in which a quote is never closed is refused, with its line', () => {
  expect(() => read('time,input,output,session\n1,10,20,"abc\n2,11,21,s2\n', {}, 't.csv')).toThrow(
    't.csv: the quote in line 2 is never closed, so the lines after it cannot be read.',
  )
  const lengths = '{"0": {"input_tokens": "{1: 1}", "output_tokens": "{1: 1}"}}'
  expect(() => servegenWindows('0,1,1,"Gamma,1,1\n600,1,1,Gamma,1,1\n', lengths, 's.csv')).toThrow(
    's.csv: the quote in line 1 is never closed',
  )
})

interface Expected {
  readonly format: string
  readonly block_tokens: number | null
  readonly requests: readonly {
    readonly due_ms: number
    readonly prompt_tokens: number
    readonly output_tokens: number
    readonly shared_prefix_tokens: number | null
    readonly session: string | number | null
    readonly turn: number | null
    readonly after: number | null
    readonly gap_ms: number | null
    readonly recorded_failure?: boolean
    readonly model?: string
    readonly stream?: boolean
    readonly tool_call?: boolean
    readonly recorded_api_ms?: number
    readonly recorded_ttft_ms?: number | null
  }[]
  readonly windows: readonly {
    readonly from_s: number
    readonly rate_per_s: number
    readonly pattern: string | null
    readonly expected_requests: number
    readonly mean_prompt_tokens: number | null
    readonly mean_output_tokens: number | null
  }[]
}
const expected = JSON.parse(sample('expected.json')) as Record<string, Expected>

const usOf = (ms: number | null) => (ms === null ? null : ms * 1000)

describe('a sample of each format reads as it was written, recognised by itself', () => {
  const files = Object.entries(expected).filter(([, { requests }]) => requests !== undefined)

  test.each(files)('%s', (name, { format, block_tokens: block, requests }) => {
    const trace = read(sample(name), {}, name)
    const plan = tracePlanOf(trace)
    expect([trace.format, trace.tokensPerBlock]).toEqual([format, block])
    expect(
      plan.firstRequests.map((each) => ({
        due_ms: each.dueMs,
        prompt_tokens: each.promptTokens,
        output_tokens: each.outputTokens,
        shared_prefix_tokens: each.sharedPrefixTokens,
        session: each.session,
        turn: each.turn,
        after: each.after,
        gap_ms: each.gapMs,
      })),
    ).toEqual(
      requests.map((each) => ({
        due_ms: each.due_ms,
        prompt_tokens: each.prompt_tokens,
        output_tokens: each.output_tokens,
        shared_prefix_tokens: each.shared_prefix_tokens,
        session: each.session === null ? null : String(each.session),
        turn: each.turn,
        after: each.after,
        gap_ms: each.gap_ms,
      })),
    )
    for (const [at, each] of requests.entries()) {
      const { recorded, stream } = trace.requests[at]!
      if (each.recorded_failure !== undefined) expect(recorded.failed).toBe(each.recorded_failure)
      if (each.model !== undefined) expect(recorded.model).toBe(each.model)
      if (each.stream === undefined) continue
      expect([stream, recorded.toolCall]).toEqual([each.stream, each.tool_call])
      expect([recorded.serviceUs, recorded.ttftUs]).toEqual([
        usOf(each.recorded_api_ms!),
        usOf(each.recorded_ttft_ms!),
      ])
    }
  })

  const clients = Object.entries(expected).filter(([, { windows }]) => windows !== undefined)

  test.each(clients)(
    '%s has its windows, and draws requests of their rates and lengths',
    (name, { windows }) => {
      const [text, beside] = [sample(`${name}-trace.csv`), sample(`${name}-dataset.json`)]
      const path = `${name}-trace.csv`
      const read1 = servegenWindows(text, beside, path)
      expect(read1.map(({ fromS, ratePerS, pattern }) => [fromS, ratePerS, pattern])).toEqual(
        windows.map((each) => [each.from_s, each.rate_per_s, each.pattern]),
      )
      const trace = read(text, { beside }, path)
      expect(trace.format).toBe('servegen')
      const first = windows.find(({ rate_per_s: rate }) => rate > 0)!.from_s
      for (const window of windows) {
        const inside = trace.requests.filter(({ atUs }) => {
          const atS = atUs / 1e6 + first
          return atS >= window.from_s && atS < window.from_s + 600
        })
        // Gaps of a coefficient of variation c give counts whose deviation is c times the root of their mean.
        const spread = 4 * 4 * Math.sqrt(window.expected_requests)
        expect(Math.abs(inside.length - window.expected_requests)).toBeLessThanOrEqual(spread)
        if (window.mean_prompt_tokens === null) continue
        const mean = inside.reduce((sum, { inputTokens }) => sum + inputTokens, 0) / inside.length
        expect(mean / window.mean_prompt_tokens).toBeGreaterThan(0.7)
        expect(mean / window.mean_prompt_tokens).toBeLessThan(1.3)
      }
      expect(read(text, { beside }, path)).toEqual(trace)
    },
  )

  test.each(['sharegpt-a.json', 'sharegpt-b.json'])('%s has no times, so it is prompts', (name) => {
    expect(() => read(sample(name), {}, name)).toThrow('is a list of conversations without times')
  })
})

test.each(['bailian-chain.jsonl', 'bailian-branch.jsonl'])(
  '%s is refused as Mooncake’s',
  (name) => {
    expect(() => read(sample(name), { format: 'mooncake' })).toThrow('Write format: bailian.')
  },
)

test.each(['bailian-chain.jsonl', 'bailian-branch.jsonl'])(
  '%s without its chats is refused for its blocks of 16 tokens, unless the scenario says the unit',
  (name) => {
    const lines = sample(name).replaceAll(/"(parent_)?chat_id": -?\d+, /g, '')
    expect(() => read(lines, { format: 'mooncake' })).toThrow('has blocks of 16 tokens')
    expect(() => read(lines)).toThrow('has blocks of 16 tokens')
    expect(read(lines, { unit: 's' }).requests.at(-1)!.atUs).toBe(
      read(sample(name)).requests.at(-1)!.atUs,
    )
  },
)

const plain = (time: number | string, input = 100) =>
  `{"timestamp": ${time}, "input_length": ${input}, "output_length": 1}`
const lastUs = (text: string, given?: Given) => read(text, given).requests.at(-1)!.atUs

test('a time with a fraction is in seconds', () => {
  expect(lastUs([plain(0.5), plain(2)].join('\n'))).toBe(1_500_000)
})

test.each([
  ['seconds', 1_764_000_000, 1_000_000],
  ['milliseconds', 1_764_000_000_000, 1000],
  ['microseconds', 1_764_000_000_000_000, 1],
])('a time of the size of %s since 1970 is in %s', (_, start, us) => {
  expect(lastUs([plain(start), plain(start + 1)].join('\n'))).toBe(us)
})

test('whole numbers are milliseconds; too many requests or tokens a second are refused', () => {
  const every = (ms: number, rows: number, input: number) =>
    Array.from({ length: rows }, (_, at) => plain(at * ms, input)).join('\n')
  expect(lastUs(every(10, 100, 100))).toBe(990_000)
  for (const fast of [
    every(1, 5000, 10) + every(0, 2000, 10).replace(/^/, '\n'),
    every(100, 50, 2e6),
  ]) {
    expect(() => read(fast)).toThrow('The unit of the times in t.jsonl is not clear')
    expect(read(fast, { unit: 's' }).requests.length).toBeGreaterThan(0)
  }
})

test('columns of any names can be a trace', () => {
  const columns = { time: 'when', input: 'in', output: 'out', session: 'chat' }
  const numbers = 'when,in,out,chat\n10,5,6,a\n12,7,8,\n13,9,1,a\n'
  const trace = read(numbers, { columns, unit: 's' })
  expect(trace.requests.map(({ atUs, session, after }) => [atUs, session, after])).toEqual([
    [0, 'a', null],
    [2e6, null, null],
    [3e6, 'a', 0],
  ])
  const instants = 'when,in,out\n"2024-05-12T00:00:01.5Z","5",6\n2024-05-12 02:00:00+02:00,7,8\n'
  expect(lastUs(instants, { columns: { time: 'when', input: 'in', output: 'out' } })).toBe(
    1_500_000,
  )
  expect(() => read(numbers)).toThrow('its columns are when, in, out, chat. Name them: columns:')
  expect(() => read(numbers, { columns: { ...columns, time: 'at' }, unit: 's' })).toThrow(
    't.jsonl, line 2: expected a time in at, and tokens in in and out',
  )
})

test('an export of Assay gives first attempts of generations, and counts what it leaves out', () => {
  const row = { retry: 0, endpoint: 'chat', streamed: 1, model: 'm', outcome: 'ok' }
  const text = [
    { ...row, intended_us: 500, prompt_tokens: 5, completion_tokens: 6, session: 1, turn: 0 },
    { ...row, intended_us: 600, retry: 1, prompt_tokens: 5, completion_tokens: 6 },
    { ...row, intended_us: 700, endpoint: 'models' },
    { ...row, intended_us: 800, prompt_tokens: 7, completion_tokens: 6, session: 1, turn: 1 },
    { ...row, intended_us: 900, endpoint: 'messages', prompt_tokens: null, content_events: 9 },
  ]
    .map((line) => JSON.stringify(line))
    .join('\n')
  const trace = read(text)
  const shown = trace.requests.map((each) => {
    const { atUs, inputTokens, outputTokens, endpoint, stream, model, session, turn, after } = each
    return [atUs, inputTokens, outputTokens, endpoint, stream, model, session, turn, after]
  })
  expect(shown).toEqual([
    [0, 5, 6, 'chat', true, 'm', '1', 1, null],
    [300, 7, 6, 'chat', true, 'm', '1', 2, 0],
    [400, 1, 9, 'messages', true, 'm', null, null, null],
  ])
  expect(trace.leftOut).toEqual([
    { rows: 1, reason: 'retries, and requests that were not sent' },
    { rows: 1, reason: 'requests of other endpoints' },
  ])
})

test('a file in another known format than the scenario says is read as what it is', () => {
  const trace = read(sample('burstgpt-plain.csv'), { format: 'azure' })
  expect([trace.format, trace.times]).toEqual(['burstgpt', 's: as its format defines'])
})

test('a line that is not a request is refused with its number and the expected form', () => {
  expect(() => read(`${plain(0)}\n{"timestamp": 1}\n`, {}, 'a.jsonl')).toThrow(
    'a.jsonl, line 2: expected timestamp, input_length, output_length',
  )
  expect(() => read('\n{oops', { format: 'assay' }, 'a.jsonl')).toThrow(
    'a.jsonl, line 2: expected a JSON',
  )
  expect(() => read('', { format: 'assay' }, 'a.jsonl')).toThrow('has no requests')
  for (const ids of ['"a"', '["a"]', '[1.5]', '7', '[-1]']) {
    expect(() => read(plain(0).replace('}', `,"hash_ids":${ids}}`))).toThrow(
      't.jsonl, line 1: expected timestamp, input_length, output_length and, optionally, whole-number hash_ids; got',
    )
  }
  expect(() => read('{"requests": [{"t": 1}], "block_size": 64}')).toThrow(
    "expected a session of Weka's form",
  )
  expect(() => read('0,1,1,Gamma,1,1\n', {}, 'c-trace.csv')).toThrow('X-dataset.json beside')
  expect(() => read('0,1,1,Gamma,x,1\n', { beside: '{"0":{}}' }, 'c-trace.csv')).toThrow(
    'expected {tokens: share, …}',
  )
})

test('an Azure file with a byte order mark, or as JSON Lines, reads the same', () => {
  const csv = sample('azure-2023.csv')
  const [, ...rows] = csv.trim().split('\n')
  const lines = rows.map((row) => {
    const [TIMESTAMP, context, generated] = row.split(',')
    return JSON.stringify({
      TIMESTAMP,
      ContextTokens: Number(context),
      GeneratedTokens: Number(generated),
    })
  })
  const { requests } = read(csv)
  expect(read(`\uFEFF${csv}`).requests).toEqual(requests)
  expect(read(`\uFEFF${lines.join('\n')}`).requests).toEqual(requests)
})

describe('a client of ServeGen', () => {
  const histograms = '{"0": {"input_tokens": "{100: 1}", "output_tokens": "{50: 1}"}}'
  const readWindows = (text: string, beside = histograms) =>
    read(text, { format: 'servegen', beside }, 'c-trace.csv')

  test.each(['Gamma,1,1200', 'Weibull,1,1200'])(
    'whose gaps are longer than its windows sends on: %s',
    (pattern) => {
      const windows = Array.from({ length: 400 }, (_, at) => `${at * 600},0.000833,1,${pattern}`)
      const { requests } = readWindows(windows.join('\n'))
      // 200 are expected, with a deviation of 14.
      expect(requests.length).toBeGreaterThan(140)
      expect(requests.length).toBeLessThan(260)
    },
  )

  test('whose windows go back in time is refused with the line', () => {
    expect(() => readWindows('0,1,1,Gamma,1,1\n600,1,1,Gamma,1,1\n600,1,1,Gamma,1,1')).toThrow(
      'c-trace.csv, line 3: expected a window that begins after the one before, at 600 s; got 600 s.',
    )
  })

  test('whose rate is no number is refused with the line', () => {
    expect(() => readWindows('0,fast,1,Gamma,1,1')).toThrow('c-trace.csv, line 1: expected start')
  })

  test.each(['null', '7', '{}', '{', '{"first": {}}'])(
    'with histograms %s gets the expected form',
    (beside) => {
      expect(() => readWindows('0,1,1,Gamma,1,1', beside)).toThrow(
        'The histograms of c-trace.csv are not JSON by the second',
      )
    },
  )

  test('with a start without histograms is refused with the start', () => {
    expect(() => readWindows('0,1,1,Gamma,1,1', '{"0": null}')).toThrow(
      'The histograms of c-trace.csv at 0 s: expected {tokens: share, …}; got null.',
    )
  })
})

describe('CSV', () => {
  const named = { time: 'timestamp', input: 'in', output: 'out', session: 'user' }
  const own = { columns: named, unit: 's' } as const
  const lengthsOf = (text: string, given: Given = own) =>
    read(text, given, 't.csv').requests.map(({ atUs, inputTokens, outputTokens, session }) => [
      ...[atUs, inputTokens, outputTokens, session],
    ])

  test.each([',', ';', '\t'])('an empty first cell stays a cell, between %j', (delimiter) => {
    const text = 'user,timestamp,in,out\n,5.0,100,20\na,6.0,7,8\n'.replaceAll(',', delimiter)
    expect(lengthsOf(text)).toEqual([
      [0, 100, 20, null],
      [1_000_000, 7, 8, 'a'],
    ])
  })

  test('an index without a name, as pandas writes it, is a column', () => {
    const own = { columns: { time: 'timestamp', input: 'in', output: 'out' }, unit: 's' } as const
    expect(lengthsOf(',timestamp,in,out\n0,1,2,3\n1,2,4,5\n', own)).toEqual([
      [0, 2, 3, null],
      [1_000_000, 4, 5, null],
    ])
  })

  test('a cell in quotes may have several lines, and lines are counted as an editor does', () => {
    const text = 'prompt,timestamp,in,out,user\n"a,\n""b""",1,2,3,x\n"c",2,4,5,x\n'
    expect(lengthsOf(text)).toEqual([
      [0, 2, 3, 'x'],
      [1_000_000, 4, 5, 'x'],
    ])
    expect(() => lengthsOf(`${text}d,now,1,1,x\n`)).toThrow('t.csv, line 5: expected a time in')
  })

  test('a row with more cells than the header is refused, since its values would stand under other names', () => {
    expect(() => lengthsOf('user,timestamp,in,out\nx,y,1,2,3\n')).toThrow(
      't.csv, line 2: expected 4 cells, as in the header; got x,y,1,2,3.',
    )
    expect(lengthsOf('user,timestamp,in,out\nx,1,2,3,\n')).toEqual([[0, 2, 3, 'x']])
  })
})

test('a line or an entry that is no object is refused by its place', () => {
  expect(() => read('{"timestamp":1}\n[1,2]\n')).toThrow(
    'line 2: expected a JSON object; got [1,2]',
  )
  const good = { timestamp: 1, input_length: 2, output_length: 3, hash_ids: [] }
  const list = JSON.stringify([good, { ...good, input_length: 'x' }])
  expect(() => read(list)).toThrow('t.jsonl, entry 2: expected')
})
