import { expect, test } from 'vitest'
import { rowsCutAt, rowsOnce, useNow, within } from '../../src/portal/figures/rows.ts'
import { readFigures, readSums } from '../../src/portal/figures/sums.ts'
import type { Session } from '../../src/store/session/session.ts'
import { utc } from '../report/usage-events.ts'

const of = (timezone: string) => ({ view: { timezone } })
/** The tables that some rows are of, and the times of those that are not sums of days. */
function told(sql: string) {
  const tables = [...sql.matchAll(/\b(my_\w+|mine)\b/g)].map(([name]) => name)
  const [, cut = ''] = /UNION ALL .* WHERE (.*)\)$/.exec(sql) ?? []
  return { tables, cut: [...cut.matchAll(/\d{6,}/g)].map(([us]) => Number(us)) }
}

test('what begins and ends at midnight is read by days, in the zone of the account', () => {
  expect(rowsCutAt(of('UTC'), [utc(2026, 11, 1), utc(2026, 12, 1)])('')).toBe('my_day_sums_total')
  // Berlin is an hour ahead in November, and two before the clock change.
  const october = [utc(2026, 9, 30, 22), utc(2026, 10, 31, 23)]
  expect(rowsCutAt(of('Europe/Berlin'), october)('')).toBe('my_day_sums_total')
  expect(told(rowsCutAt(of('UTC'), october)('')).tables).toEqual(['my_day_sums_total', 'my_hours'])
})

test('a question reads the days with the fewest names that it needs', () => {
  const november = rowsCutAt(of('UTC'), [utc(2026, 11, 1), utc(2026, 12, 1)])
  const tables = {
    'first_us >= 5': 'my_day_sums_total',
    "list_contains(['a'], model) AND unit = 'EUR'": 'my_day_sums_models',
    'endpoint model': 'my_day_sums_models',
    key_fp: 'my_day_sums_keys',
    'model key_fp': 'my_day_sums',
    "json_extract_string(tags, '/team')": 'my_day_sums',
  }
  for (const [reads, table] of Object.entries(tables)) expect(november(reads)).toBe(table)
})

test('of the days that a moment is within, hours are read, and quarters where it is no whole hour', () => {
  const noon = rowsCutAt(of('UTC'), [utc(2026, 11, 1), utc(2026, 11, 28, 12)])('')
  expect(told(noon)).toEqual({
    tables: ['my_day_sums_total', 'my_hours'],
    cut: [utc(2026, 11, 28), utc(2026, 11, 29)],
  })
  const quarter = rowsCutAt(of('UTC'), [utc(2026, 11, 28, 12, 15)], useNow)('')
  expect(told(quarter).tables).toEqual(['my_use_days_total', 'my_use'])
  // A day of Kolkata begins at half past an hour of UTC, so no hour of it is one of these.
  expect(told(rowsCutAt(of('Asia/Kolkata'), [utc(2026, 11, 28, 12)])('')).tables).toEqual([
    'my_day_sums_total',
    'mine',
  ])
})

test('days that follow one another are one span', () => {
  const moments = [1, 2, 3, 7].map((day) => utc(2026, 11, day, 5))
  expect(told(rowsCutAt(of('UTC'), moments)('')).cut).toEqual([
    ...[utc(2026, 11, 1), utc(2026, 11, 4)],
    ...[utc(2026, 11, 7), utc(2026, 11, 8)],
  ])
})

test('a question that failed is asked again', async () => {
  let asked = 0
  const session = {
    rows: async () => {
      if (asked++ === 0) throw new Error('interrupted')
      return [{ n: 1 }]
    },
  } as unknown as Session
  const november = within(of('UTC'), { fromUs: utc(2026, 11, 1), toUs: utc(2026, 12, 1) })
  for (const ask of [
    () => rowsOnce(session, 'SELECT 1 AS n'),
    () => readSums<object>({ session }, november),
  ]) {
    asked = 0
    await expect(ask()).rejects.toThrow('interrupted')
    expect(await ask()).toEqual([{ n: 1 }])
    expect(await ask()).toEqual([{ n: 1 }])
    expect(asked).toBe(2)
  }
})

test('a question is not asked again if one before had its figures', async () => {
  const asked: string[] = []
  const session = {
    rows: async (sql: string) => {
      asked.push(sql)
      return [{ requests: asked.length }]
    },
  } as unknown as Session
  const november = within(of('UTC'), { fromUs: utc(2026, 11, 1), toUs: utc(2026, 12, 1) })
  await readFigures({ session }, ['requests'], november)
  const [all] = await readSums<object>({ session }, november)
  const [few] = await readFigures({ session }, ['requests', 'failed'], november)
  expect([all!.requests, few!.requests, asked.length]).toEqual([2, 2, 2])
  await readFigures({ session }, ['requests'], { ...november, by: { name: 'model' } })
  expect(asked).toHaveLength(3)
})
