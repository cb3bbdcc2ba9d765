import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { barsOf } from '../../../src/report/usage/board/sums.js'
import { readUsageIn } from '../../../src/report/usage/read.ts'
import { importFile } from '../../../src/store/import/import-file.ts'
import { openStore } from '../../store/opened.ts'
import { usageOptions } from '../usage-events.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-partial-'))
afterAll(() => rmSync(folder, { recursive: true }))

const events = [3, 4, 5].map(
  (day) => `{"id": "e${day}", "time": "2026-11-0${day}T10:00:00Z", "credits": 2}\n`,
)
const whole = join(folder, 'whole.jsonl')
writeFileSync(whole, events.join(''))
const cut = join(folder, 'cut.jsonl')
writeFileSync(cut, `${events.slice(0, 2).join('')}${events[2]!.slice(0, 20)}`)
const later = join(folder, 'later.jsonl')
writeFileSync(later, events[2]!)

const options = usageOptions({ contract: null, timezone: 'UTC' })

test('the days of a part of a log are open, with a note, until the whole log is imported', {
  tags: 'whole',
}, async () => {
  const store = await openStore(':memory:')
  await importFile(store, { file: cut, source: 'gateway', partial: true })
  await importFile(store, { file: later, source: 'gateway' })
  const page = await readUsageIn(store, options)
  const [at, to] = [Date.UTC(2026, 10, 3, 10), Date.UTC(2026, 10, 4, 10)].map((ms) => ms * 1000)
  expect(page.scope.sources[0]!.partial).toEqual({ fromUs: at, toUs: to! + 1 })
  expect(page.days.map(({ label, open }) => [label, open])).toEqual([
    ['2026-11-03', true],
    ['2026-11-04', true],
    ['2026-11-05', true],
  ])
  expect(page.scope.notes[0]).toBe(
    'Only a part of the log of gateway was imported (--partial): from 2026-11-03 to 2026-11-04, at least so much was used. Import the whole log to complete it.',
  )
  await importFile(store, { file: whole, source: 'gateway' })
  const after = await readUsageIn(store, options)
  expect(after.scope.sources[0]!.partial).toBeNull()
  expect(after.days.map(({ open }) => open)).toEqual([false, false, true])
  expect(after.scope.notes.join()).not.toContain('--partial')
  store.close()
})

test('the bars of a part of a log are open on the interactive page', () => {
  const day = (nth: number) => nth * 24
  const data = { now: day(9), measuredFrom: 0, measuredTo: day(9), finest: 'day' } as const
  const partial = [{ from: day(2) + 1, to: day(3) + 1 }]
  const { bars } = barsOf({ ...data, partial } as never, 0, day(5))
  expect(bars.map(({ open }) => open)).toEqual([false, false, true, true, false])
})

test('a daily sum is a flat bar of its mean in the chart by the hour, and no hour has its sum', {
  tags: 'whole',
}, async () => {
  const store = await openStore(':memory:')
  const file = join(folder, 'daily.csv')
  writeFileSync(file, 'time,end,credits,requests\n2026-11-03,2026-11-04,48,1440\n')
  await importFile(store, { file })
  await readUsageIn(store, options)
  const sql = readFileSync(
    new URL('../../../reports/usage/10-by-hour.sql', import.meta.url),
    'utf8',
  )
  const rows = await store.rows<{ credits: number; state: string | null }>(sql)
  expect(rows.filter(({ credits }) => credits !== null && credits !== 0)).toEqual([
    {
      ...{ at_ms: Date.UTC(2026, 10, 3), to_ms: Date.UTC(2026, 10, 4), hour: null, series: null },
      ...{ credits: 2, requests: 1440, state: 'a sum' },
    },
  ])
  expect(rows.map(({ state }) => state)).not.toContain('not measured')
  store.close()
})
