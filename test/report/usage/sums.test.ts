import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  exportedSumsSql,
  type SumDimension,
  sumDimensions,
} from '../../../src/store/quarters/sums.ts'
import { assay } from '../../e2e/command.ts'
import { openStore } from '../../store/opened.ts'
import { enterEvents, utc } from '../usage-events.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-sums-'))
const db = join(folder, 'usage.duckdb')
afterAll(() => rmSync(folder, { recursive: true }))

beforeAll(async () => {
  const store = await openStore(db)
  await enterEvents(store, [
    // 23:30 UTC is the next day in Berlin, and the same in New York.
    { atUs: utc(2026, 11, 3, 23, 30), account: 'a', model: 'one', keyFp: 'k1', credits: 1.25 },
    { atUs: utc(2026, 11, 4, 9), account: 'a', model: 'one', keyFp: 'k2', credits: null },
    { atUs: utc(2026, 11, 4, 10), account: 'a', model: '=two', keyFp: 'k2', credits: 3 },
    { atUs: utc(2026, 12, 1, 0), account: 'b', model: 'one', keyFp: 'k3', credits: 5 },
  ])
  store.close()
})

test('sums by any two dimensions add up to the whole, with what is not known counted apart', {
  tags: 'whole',
}, async () => {
  const store = await openStore(db)
  const pairs = sumDimensions.flatMap((a) =>
    sumDimensions.filter((b) => b !== a).map((b): [SumDimension, SumDimension] => [a, b]),
  )
  expect(pairs.length).toBe(90)
  for (const by of pairs) {
    const [whole] = await store.rows(
      `SELECT sum(requests)::INTEGER AS requests, sum(amount)::VARCHAR AS amount, sum(amount_unknown)::INTEGER AS hidden
       FROM (${exportedSumsSql(by, { fromUs: null, toUs: null, timezone: 'Asia/Kathmandu' })})`,
    )
    const expected = { requests: 4, amount: '9.250000000000000000', hidden: 1 }
    expect([by, whole]).toEqual([by, expected])
  }
  store.close()
})

test('days are local, and the end of a period is not in it', { tags: 'whole' }, async () => {
  const out = join(folder, 'days.csv')
  const made = await assay([
    'export',
    'sums',
    '--db',
    db,
    '--by',
    'day,model',
    '--timezone',
    'Europe/Berlin',
    '--out',
    out,
    '--to',
    '2026-12-01',
  ]).ended
  expect(made.stdout).toMatch(
    new RegExp(`^2 sums by day and model in ${out}\nNext: assay report usage .*\n$`),
  )
  const lines = readFileSync(out, 'utf8')
    .split('\n')
    .map((line) => line.split(','))
  expect(lines[0]!.slice(0, 4)).toEqual(['day', 'model', 'type', 'requests'])
  expect(
    lines.slice(1, 3).map((line) => [line[0], line[1], line[3], line.at(-2), line.at(-1)]),
  ).toEqual([
    // No text of a log is a formula.
    ['2026-11-04', `'=two`, '1', '3', '0'],
    ['2026-11-04', 'one', '2', '1.25', '1'],
  ])
})

test('the offset of an hour is that of the zone asked for, wherever the machine stands', {
  tags: 'whole',
}, async () => {
  const out = join(folder, 'hours.csv')
  const words = ['--by', 'hour', '--timezone', 'America/St_Johns', '--out', out]
  await assay(['export', 'sums', '--db', db, ...words], { env: { TZ: 'Asia/Kolkata' } }).ended
  const hours = readFileSync(out, 'utf8').split('\n').slice(1, 5)
  expect(hours.map((line) => line.split(',')[0])).toEqual([
    '2026-11-03 20:00 -03:30',
    '2026-11-04 05:00 -03:30',
    '2026-11-04 06:00 -03:30',
    '2026-11-30 20:00 -03:30',
  ])
})

test.each([
  [['--by', 'day,colour'], '--by day,colour: expected different ones of hour, day, month, model,'],
  [['--by', 'day,day'], '--by day,day: expected different ones of'],
  [['--timezone', 'Mars/Base'], 'Unknown time zone "Mars/Base"'],
  [['--from', '2026-11-01T09:10'], '"2026-11-01T09:10": expected a full quarter of an hour'],
])('%j is refused with what is expected', async (words, summary) => {
  const made = await assay([
    'export',
    'sums',
    '--db',
    db,
    '--out',
    join(folder, 'no.csv'),
    ...words,
  ]).ended
  expect(made.code).toBe(2)
  expect(made.stderr).toContain(summary)
})
