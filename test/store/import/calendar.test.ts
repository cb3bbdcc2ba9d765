import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { importFile } from '../../../src/store/import/import-file.ts'
import type { FileImport } from '../../../src/store/import/import-options.ts'
import { parseMapping } from '../../../src/store/import/mapping.ts'
import { literal } from '../../../src/store/literal.ts'
import { usageOptions } from '../../report/usage-events.ts'
import { emptyStore, type Store } from '../opened.ts'
import { sumsOf } from './samples.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-calendar-'))
afterAll(() => rmSync(folder, { recursive: true }))
let store: Store
beforeEach(async () => {
  store = await emptyStore()
})
afterEach(() => store.close())

let files = 0

/** Imports a table by the fields of its columns. */
async function take(
  fields: string,
  header: string,
  rows: readonly string[],
  { rest = '', ...options }: Partial<FileImport> & { readonly rest?: string } = {},
) {
  const file = join(folder, `${files++}.csv`)
  writeFileSync(file, [header, ...rows, ''].join('\n'))
  const mapping = parseMapping(`${rest}\nfields: { ${fields} }`)
  return importFile(store, { file, mapping, ...options })
}

const berlin = 'time: { column: time, timezone: Europe/Berlin }'

const daysIn = async (timezone: string) => {
  const page = await sumsOf(
    store,
    usageOptions({ contract: null, timezone, fromUs: Date.UTC(2026, 0, 1) * 1000 }),
  )
  const days = page.days.filter(({ requests }) => (requests ?? 0) !== 0)
  return [page.totals.requests.value, ...days.map((day) => `${day.label}: ${day.requests}`)]
}

const hours = () =>
  store
    .rows<{ of: string }>(
      `SELECT strftime(make_timestamp(start_us), '%d %H:%M') || strftime(make_timestamp(end_us), ' to %d %H:%M') AS of
       FROM usage_statements ORDER BY start_us`,
    )
    .then((rows) => rows.map(({ of }) => of))

test('days of a zone are as long as its clock says, also those of a clock change', {
  tags: 'whole',
}, async () => {
  const rows = ['2026-03-28,1', '2026-03-29,2', '2026-03-30,4', '2026-10-24,8', '2026-10-25,16']
  await take(`${berlin}, requests: n`, 'time,n', rows, {
    rest: 'bucket: 1d',
  })
  expect(await hours()).toEqual([
    '27 23:00 to 28 23:00',
    '28 23:00 to 29 22:00',
    '29 22:00 to 30 22:00',
    '23 22:00 to 24 22:00',
    '24 22:00 to 25 23:00',
  ])
  expect(await daysIn('Europe/Berlin')).toEqual([
    31,
    ...['2026-03-28: 1', '2026-03-29: 2', '2026-03-30: 4', '2026-10-24: 8', '2026-10-25: 16'],
  ])
})

test('a day whose midnight does not exist begins after it', { tags: 'whole' }, async () => {
  const rows = ['2026-03-28,1', '2026-03-29,2', '2026-03-30,4']
  const imported = await take(
    'time: { column: time, timezone: Asia/Beirut }, requests: n',
    'time,n',
    rows,
    {
      rest: 'bucket: 1d',
    },
  )
  expect(imported).toMatchObject({ accepted: 3, rejected: 0 })
  expect(await daysIn('Asia/Beirut')).toEqual([
    7,
    ...['2026-03-28: 1', '2026-03-29: 2', '2026-03-30: 4'],
  ])
})

test('an hour that occurs twice is two sums of an hour', async () => {
  const rows = [
    '2026-10-25 01:00,1',
    '2026-10-25 02:00,2',
    '2026-10-25 02:00,4',
    '2026-10-25 03:00,8',
  ]
  await take(`${berlin}, requests: n`, 'time,n', rows, {
    rest: 'bucket: 1h',
  })
  expect(await hours()).toEqual([
    ...['24 23:00 to 25 00:00', '25 00:00 to 25 01:00', '25 01:00 to 25 02:00'],
    '25 02:00 to 25 03:00',
  ])
})

test('months of different lengths are sums of one width, and all count', {
  tags: 'whole',
}, async () => {
  const rows = [
    ...['2026-01-01,2026-02-01,1', '2026-02-01,2026-03-01,2', '2026-03-01,2026-04-01,4'],
    '2026-04-01,2026-05-01,8',
  ]
  await take('time: time, end: end, requests: n', 'time,end,n', rows)
  expect((await daysIn('UTC'))[0]).toBe(15)
  // A month that is exported again, alone, replaces its own sum.
  await take('time: time, end: end, requests: n', 'time,end,n', ['2026-02-01,2026-03-01,16'])
  expect((await daysIn('UTC'))[0]).toBe(29)
})

test('an export with sums of several widths covers those, and not the time between them', {
  tags: 'whole',
}, async () => {
  const rows = ['2026-01-14,2026-02-01,1', '2026-02-01,2026-03-01,2', '2026-03-01,2026-04-01,4']
  await take('time: time, end: end, requests: n', 'time,end,n', rows)
  expect((await daysIn('UTC'))[0]).toBe(7)
})

test('an end is in the zone of the time, unless it names another', { tags: 'whole' }, async () => {
  const days = ['03/11/2026 00:00,04/11/2026 00:00,1', '23/11/2026 00:00,24/11/2026 00:00,2']
  await take('time: time, end: end, requests: n', 'time,end,n', days, { timezone: 'Asia/Kolkata' })
  const fields =
    'time: { column: time, timezone: Asia/Kolkata }, end: { column: end, timezone: UTC }, requests: n'
  await take(fields, 'time,end,n', ['2026-10-03 00:00,2026-10-03 18:30,4'])
  expect(await hours()).toEqual([
    ...['02 18:30 to 03 18:30', '02 18:30 to 03 18:30', '22 18:30 to 23 18:30'],
  ])
  expect(await daysIn('Asia/Kolkata')).toEqual([
    7,
    ...['2026-10-03: 4', '2026-11-03: 1', '2026-11-23: 2'],
  ])
})

test('local times of a Parquet file are placed like those of a text', async () => {
  const file = join(folder, 'local.parquet')
  await store.execute(
    `COPY (SELECT i AS id, t::TIMESTAMP AS t FROM (VALUES (1, '2026-10-25 01:30'), (2, '2026-10-25 02:30'),
       (3, '2026-10-25 02:10'), (4, '2026-10-25 03:30'), (5, '2026-03-29 02:30')) AS v(i, t)) TO ${literal(file)} (FORMAT parquet)`,
  )
  const mapping = parseMapping('fields: { id: id, time: { column: t, timezone: Europe/Berlin } }')
  const imported = await importFile(store, { file, mapping, source: 'log' })
  expect(imported).toMatchObject({ accepted: 4, rejected: 1 })
  expect(imported).toMatchObject({
    notes: [
      expect.stringMatching(/^2 lines are ambiguous: the time occurs twice in Europe\/Berlin/),
    ],
  })
  const rows = await store.rows<{ at: string }>(
    `SELECT strftime(make_timestamp(at_us), '%H:%M') AS at FROM usage_events ORDER BY id`,
  )
  // A step back shows where the second hour begins.
  expect(rows.map(({ at }) => at)).toEqual(['23:30', '00:30', '01:10', '02:30'])
})

test('a time that says its zone is not that of the log', { tags: 'whole' }, async () => {
  const rows = ['1,2026-03-29 02:30:00 UTC', '2,2026-10-25 02:30:00 UTC', '3,2026-10-25T02:30:00Z']
  const imported = await take(`id: id, ${berlin}`, 'id,time', rows)
  expect(imported).toMatchObject({ accepted: 3, rejected: 0, notes: [] })
  const times = await store.rows<{ at: string }>(
    `SELECT strftime(make_timestamp(at_us), '%m-%d %H:%M') AS at FROM usage_events ORDER BY id`,
  )
  expect(times.map(({ at }) => at)).toEqual(['03-29 02:30', '10-25 02:30', '10-25 02:30'])
})

const latencies = () =>
  store
    .rows<{ us: number | null }>('SELECT latency_us AS us FROM usage_events ORDER BY id')
    .then((rows) => rows.map(({ us }) => us))

test('a duration between two local times of a Parquet file is that of the zone, over a clock change too', async () => {
  const file = join(folder, 'durations.parquet')
  await store.execute(
    `COPY (SELECT i AS id, a::TIMESTAMP AS a, b::TIMESTAMP AS b FROM (VALUES
       (1, '2026-03-29 01:59:59', '2026-03-29 03:00:01'), (2, '2026-10-25 01:30:00', '2026-10-25 03:30:00'),
       (3, '2026-07-01 10:00:00', '2026-07-01 10:00:02')) AS v(i, a, b)) TO ${literal(file)} (FORMAT parquet)`,
  )
  const mapping = parseMapping(
    'fields: { id: id, time: { column: a, timezone: Europe/Berlin }, latency: { from: a, to: b } }',
  )
  await importFile(store, { file, mapping, source: 'log' })
  expect(await latencies()).toEqual([2e6, 3 * 3600e6, 2e6])
})

test('the times of a duration are written like the time of their line', async () => {
  const rows = ['1,13/11/2026 10:00:00,13/11/2026 10:00:02', '2,03/11/2026 10:00:00,']
  await take('id: id, time: a, latency: { from: a, to: b }', 'id,a,b', rows)
  expect(await latencies()).toEqual([2e6, null])
})
