import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { summarySchema } from '../../reference/schemas.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { flatRows } from '../../src/report/summary/figures.ts'
import { markdownSummary } from '../../src/report/summary/markdown.ts'
import { csvCell, markdownCell, printable } from '../../src/report/summary/printable.ts'
import { summaryShape } from '../../src/report/summary/shape.ts'
import { summarise } from '../../src/report/summary/summarise.ts'
import { csvSummary, jsonSummary } from '../../src/report/summary/tables.ts'
import { terminalSummary } from '../../src/report/summary/terminal.ts'
import { vllmBlock, vllmFigures } from '../../src/report/summary/vllm.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { exportRows, exportTable } from '../../src/store/files/export.ts'
import { visible } from '../../src/user/hostile.ts'
import { openStore } from '../store/opened.ts'
import { attempt, enterRun } from './attempts.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-formats-'))
afterAll(() => rmSync(folder, { recursive: true }))

const streamed = (slot: number) => ({
  streamed: 1,
  step: 'stream',
  firstEventUs: slot * 1e6 + 30_020,
  firstContentUs: slot * 1e6 + 50_020,
  lastContentUs: slot * 1e6 + 240_020,
  doneUs: slot * 1e6 + 240_020,
  closedUs: slot * 1e6 + 240_020,
})

async function storeOf(change: object = {}) {
  const store = await openStore(':memory:')
  await enterRun(store, 'a', change)
  await appendAttempts(store, [
    ...Array.from({ length: 700 }, (_, slot) => attempt(slot)),
    ...Array.from({ length: 70 }, (_, slot) => attempt(700 + slot, streamed(700 + slot))),
    attempt(900, { outcome: 'http_error', status: 429, errorCode: 'rate_limit_exceeded' }),
    attempt(901, { outcome: 'timeout', status: null, doneUs: null, closedUs: 906e6 }),
  ])
  return store
}

/** Text that a service, a scenario or an imported file may contain. */
const hostile = [
  '</script><script>alert(1)</script>',
  `=cmd|' /C calc'!A0`,
  '\u001b[31mred\u001b]0;title\u0007\u001b[2J',
  '| pipes | and `ticks` [link](http://x) <img src=x>',
  'new\nline\r\ttab\u0000null\u202eright to left',
  'x'.repeat(1_000_000),
]

describe('a summary in every format', () => {
  test('the terminal fits 80 columns and marks percentiles with too few samples or lower bounds', {
    tags: 'whole',
  }, async () => {
    const store = await storeOf()
    const text = terminalSummary(await summarise(store, 'a', defaultContract))
    store.close()
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
    expect(text).toContain('attempts 772 = sent 772 + not sent 0')
    expect(text).toMatch(/chat {10}service {9}701 +100\.0 +100\.0 +100\.0 +100\.0 +few\n/)
    expect(text).toMatch(/TTFT {13}70 +50\.00 +50\.00 +few +few +few\n/)
    expect(text).toContain('\nfew: p50 needs 11 samples, p90 64, p95 130, p99 662, p99.9 6,636\n')
    expect(text).toContain('http_error 429 rate_limit_exceeded')
  })

  test('rows without any percentile are one line on the terminal, and all are in Markdown', async () => {
    const store = await openStore(':memory:')
    await enterRun(store)
    await appendAttempts(store, [
      ...Array.from({ length: 20 }, (_, slot) => attempt(slot, { step: 'often' })),
      ...Array.from({ length: 3 }, (_, slot) => attempt(20 + slot, { step: 'rare' })),
    ])
    const summary = await summarise(store, 'a', defaultContract)
    store.close()
    const text = terminalSummary(summary)
    expect(text).toMatch(/^often /m)
    expect(text).not.toMatch(/^rare /m)
    expect(text).toContain(
      '\n2 rows have too few samples for any percentile; --format md lists all\n',
    )
    expect(markdownSummary(summary).match(/^\| rare \|/gm)).toHaveLength(2)
  })

  test('unlisted errors are counted, and JSON holds all of them', async () => {
    const store = await openStore(':memory:')
    await enterRun(store)
    const failed = (slot: number, errorCode: string, expects = 'ok') =>
      attempt(slot, { outcome: 'http_error', status: 400, errorCode, expects })
    await appendAttempts(store, [
      ...Array.from({ length: 150 }, (_, at) => failed(at, `code-${at % 25}`)),
      failed(150, 'code-0', 'invalid-parameter'),
    ])
    const summary = await summarise(store, 'a', defaultContract)
    store.close()
    expect(summary.errors).toHaveLength(26)
    const terminal = terminalSummary(summary).split('\n')
    const from = terminal.indexOf('errors')
    expect(terminal.slice(from + 8, from + 10)).toEqual([
      '          6  http_error 400 code-15',
      '        103  of 18 more kinds; --json lists all',
    ])
    const markdown = markdownSummary(summary).trimEnd().split('\n')
    expect(markdown.at(-1)).toBe('| of 6 more kinds; --json lists all | 31 |  |')
    const few = { ...summary, errors: summary.errors.slice(18) }
    expect(terminalSummary(few)).toContain('          1  http_error 400 code-0 (on purpose)\n\n')
  })

  test('the attempt count names retries if there are any', { tags: 'whole' }, async () => {
    const store = await storeOf()
    const told = async () => {
      const summary = await summarise(store, 'a', defaultContract)
      return [terminalSummary(summary).split('\n')[3], markdownSummary(summary).split('\n')[4]]
    }
    expect((await told()).join()).not.toContain('retries')
    await appendAttempts(store, [attempt(0, { retry: 1 }), attempt(0, { retry: 2 })])
    expect(await told()).toEqual([
      'attempts 774 = sent 774 + not sent 0   (2 of them retries)',
      expect.stringMatching(/^774 attempts \(2 of them retries\): 772 ok/),
    ])
    store.close()
  })

  test('a closed load is named, because its response times leave waiting out', {
    tags: 'whole',
  }, async () => {
    const phase = (name: string, kind: string) => ({ name, part: 'steady', load: { kind } })
    const phases = [phase('main', 'concurrency'), phase('never begun', 'saturate')]
    const closed = await storeOf({ scenarioJson: JSON.stringify({ phases }) })
    const summary = await summarise(closed, 'a', defaultContract)
    closed.close()
    expect(summary.closedPhases).toEqual(['main'])
    expect(terminalSummary(summary)).toContain(
      `
Closed load (main): its users wait for answers, so response time leaves out the
  waiting that an open load would show (coordinated omission). No arrival rate
  was planned: rates are those that its users reached.
`,
    )
    expect(markdownSummary(summary)).toContain(
      '\nClosed load (main): its users wait for answers, so response time leaves out the waiting that an open load would show (coordinated omission). No arrival rate was planned: rates are those that its users reached.\n',
    )
    expect(markdownSummary(summary)).toMatch(/ ok\/s, output tokens [\d.,]+\/s\./)
    const open = await storeOf({
      scenarioJson: JSON.stringify({ phases: [phase('main', 'arrivals')] }),
    })
    const other = await summarise(open, 'a', defaultContract)
    open.close()
    expect(terminalSummary(other) + markdownSummary(other)).not.toMatch(/closed load/i)
  })

  test('hostile text in every field changes no line of the terminal, Markdown or CSV', {
    tags: 'whole',
  }, async () => {
    const plain = await storeOf()
    const shape = (text: string) => text.split('\n').length
    const summary = await summarise(plain, 'a', defaultContract)
    plain.close()
    for (const text of hostile) {
      const store = await openStore(':memory:')
      await enterRun(store, 'a', { scenario: text, machineJson: text, assayVersion: text })
      const rows = Array.from({ length: 700 }, (_, slot) => attempt(slot, { step: 'a' }))
      await appendAttempts(store, [
        ...rows,
        ...Array.from({ length: 70 }, (_, slot) =>
          attempt(700 + slot, {
            ...streamed(700 + slot),
            step: text.slice(0, 200),
            model: text.slice(0, 200),
          }),
        ),
        attempt(900, {
          step: 'a',
          outcome: 'http_error',
          status: 429,
          errorCode: text.slice(0, 200),
        }),
        attempt(901, {
          step: 'a',
          outcome: 'timeout',
          status: null,
          doneUs: null,
          closedUs: 906e6,
        }),
      ])
      const attacked = await summarise(store, 'a', defaultContract)
      store.close()
      const terminal = terminalSummary(attacked)
      expect(shape(terminal)).toBe(shape(terminalSummary(summary)))
      expect(Math.max(...terminal.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: none may come through
      expect(terminal).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
      const markdown = markdownSummary(attacked)
      expect(shape(markdown)).toBe(shape(markdownSummary(summary)))
      expect(markdown).not.toMatch(/(?<!\\)<(script|img)|(?<!\\)\]\(http/)
      expect(summaryShape.parse(JSON.parse(jsonSummary(attacked))).run.scenario).toBe(text)
      for (const [cell] of csvSummary(attacked).matchAll(/"(?:[^"]|"")*"|[^,\r\n]+/g)) {
        expect(cell).not.toMatch(/^"?\s*[=@+]/)
      }
    }
  })

  test('the published schema matches the code, and a summary is valid by it', {
    tags: 'whole',
  }, async () => {
    const published = readFileSync(
      new URL('../../docs/schema/run-summary.json', import.meta.url),
      'utf8',
    )
    expect(JSON.parse(published)).toEqual(JSON.parse(JSON.stringify(summarySchema())))
    const store = await storeOf()
    const summary: unknown = JSON.parse(jsonSummary(await summarise(store, 'a', defaultContract)))
    store.close()
    const validator = z.fromJSONSchema(JSON.parse(published))
    expect(validator.safeParse(summary).error).toBeUndefined()
    const broken = structuredClone(summary) as { all: { counts: { ok: unknown } } }
    broken.all.counts.ok = 'many'
    expect(validator.safeParse(broken).success).toBe(false)
  })

  test('the vLLM block has the layout and the definitions of vLLM', { tags: 'whole' }, async () => {
    const store = await storeOf()
    const summary = await summarise(store, 'a', defaultContract)
    const block = vllmBlock(await vllmFigures(store, 'a'), summary)
    store.close()
    const lines = block.trimEnd().split('\n')
    expect(lines[0]).toBe('============ Serving Benchmark Result ============')
    expect(lines[1]).toBe('Successful requests:                     770       ')
    expect(lines[2]).toBe('Failed requests:                         2         ')
    expect(lines).toContain('---------------Time to First Token----------------')
    // First event after 30 ms, not first text after 50 ms; (240 - 30) / 19 per token.
    expect(lines).toContain('Median TTFT (ms):                        30.00     ')
    expect(lines).toContain('Median TPOT (ms):                        11.05     ')
    expect(lines).toContain('Mean ITL (ms):                           nan       ')
    expect(lines.at(-1)).toBe('='.repeat(50))
  })

  test('CSV and Parquet hold a row for each step and metric', { tags: 'whole' }, async () => {
    const store = await storeOf()
    const rows = flatRows(await summarise(store, 'a', defaultContract))
    const file = join(folder, "it's.parquet")
    await exportRows(
      store,
      rows,
      { step: 'VARCHAR', metric: 'VARCHAR', n: 'BIGINT', p50_us: 'DOUBLE' },
      file,
      'parquet',
    )
    const back = await store.rows(
      `SELECT * FROM read_parquet('${file.replaceAll("'", "''")}') WHERE step = 'stream' AND n > 0 AND metric = 'ttft'`,
    )
    store.close()
    expect(back).toEqual([{ step: 'stream', metric: 'ttft', n: 70, p50_us: 50_000 }])
  })
})

test('a CSV cell is never a formula and keeps its text, with control characters made visible', {
  tags: 'whole',
}, () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (text) => {
      const cell = csvCell(text)
      const back = cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell
      expect(back.replace(/^'(?=\s*[=+\-@\t\r])/, '')).toBe(visible(text))
      expect(back).not.toMatch(/^\s*[=+\-@]/)
    }),
  )
  expect(visible('a\tb\u001b[1m\u202e\nc é')).toBe('a\tb\u241b[1m\ufffd\nc é')
  expect(csvCell(-5)).toBe('-5')
})

test('printable text has no control character and keeps its length', { tags: 'whole' }, () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 90 }), (text) => {
      expect(printable(text, 30)).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      expect([...printable(text, 30)].length).toBeLessThanOrEqual(30)
    }),
  )
  expect(printable('\u001b[1;31mred\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007')).toBe(
    'red link',
  )
  expect(markdownCell('a|b<c>`d`')).toBe('a\\|b\\<c\\>\\`d\\`')
})

test('exported rows are read back, and no CSV cell begins a formula', async () => {
  const store = await openStore(':memory:')
  await enterRun(store)
  const models = ['=1+1', '@x', '+1', '-2', '\t=x', 'plain', 'a,"b"\nc']
  await appendAttempts(
    store,
    models.map((model, slot) => attempt(slot, { model })),
  )
  for (const format of ['parquet', 'csv', 'json', 'jsonl'] as const) {
    const file = join(folder, `rows.${format}`)
    expect(await exportTable(store, { what: 'attempts', runIds: ['a'], file, format })).toBe(
      models.length,
    )
    const reader = {
      parquet: 'read_parquet',
      csv: 'read_csv',
      json: 'read_json',
      jsonl: 'read_json',
    }
    const back = await store.rows<{ model: string }>(
      `SELECT model FROM ${reader[format]}('${file}') ORDER BY slot`,
    )
    expect(back.map((row) => row.model)).toEqual(
      format === 'csv'
        ? models.map((model) => (/^\s*[=@+-]/.test(model) ? `'${model}` : model))
        : models,
    )
  }
  expect(
    await exportTable(store, {
      what: 'attempts',
      runIds: ["x' OR 1=1 --"],
      file: join(folder, 'n.csv'),
      format: 'csv',
    }),
  ).toBe(0)
  store.close()
})
