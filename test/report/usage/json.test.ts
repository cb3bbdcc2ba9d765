import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { usageJson, usageJsonText } from '../../../src/report/usage/json/json.ts'
import { usageSchema, usageShape } from '../../../src/report/usage/json/shape.ts'
import { readUsageIn } from '../../../src/report/usage/read.ts'
import { openStore } from '../../store/opened.ts'
import { seededStore, seedUsage } from '../seeded.ts'
import { enterEvents, usageOptions, utc } from '../usage-events.ts'

test('the published schema matches the code, and the usage of a month is valid by it', {
  tags: 'whole',
}, async () => {
  const published = readFileSync(
    new URL('../../../docs/schema/usage.json', import.meta.url),
    'utf8',
  )
  expect(JSON.parse(published)).toEqual(JSON.parse(usageSchema()))
  const store = await seededStore({ attempts: 60 })
  await seedUsage(store)
  const page = await readUsageIn(
    store,
    usageOptions({ timezone: 'America/New_York', sources: ['gateway'], by: 'key' }),
  )
  store.close()
  const printed: unknown = JSON.parse(usageJsonText(page))
  const validator = z.fromJSONSchema(JSON.parse(published))
  expect(validator.safeParse(printed).error).toBeUndefined()
  expect(usageShape.safeParse(printed).error).toBeUndefined()
  const broken = structuredClone(printed) as { totals: { unknownCost: unknown } }
  broken.totals.unknownCost = 'many'
  expect(validator.safeParse(broken).success).toBe(false)
  // Tables have what the page has.
  const { columns, rows } = usageJson(page).days
  const at = columns.indexOf('requests')
  expect(rows.reduce((sum, row) => sum + Number(row[at] ?? 0), 0)).toBe(page.totals.requests.value)
})

test('a month of two keys in every hour is less than 200 kB, and hours without a request are no rows', async () => {
  const store = await openStore(':memory:')
  const hours = Array.from({ length: 30 * 24 }, (_, at) => utc(2026, 11, 1) + at * 3600e6)
  await enterEvents(
    store,
    hours.flatMap((atUs, at) =>
      // The tenth hour of each day has no request.
      at % 24 === 10
        ? []
        : [
            { atUs, keyFp: 'k1' },
            { atUs: atUs + 60e6, keyFp: 'k2' },
          ],
    ),
  )
  const page = await readUsageIn(store, usageOptions({ by: 'key' }))
  store.close()
  const text = usageJsonText(page)
  const bytes = Buffer.byteLength(text)
  expect(bytes).toBeLessThan(200_000)
  // Each row is a line that a person can read.
  expect(text.split('\n').length).toBeGreaterThan(2 * 30 * 23)
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(500)
  // A list of objects, as it was printed before, has several times as many.
  expect(Buffer.byteLength(JSON.stringify(page, null, 2))).toBeGreaterThan(5 * bytes)
  const { hours: points } = usageJson(page)
  expect(points.rows.length).toBe(2 * 30 * 23)
  expect(points.rows.some(([start]) => String(start).includes(' 10:00 '))).toBe(false)
  // That hour is covered: it is 0, and not unknown.
  expect(points.measured).toHaveLength(1)
})
