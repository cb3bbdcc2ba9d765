import { expect, test } from 'vitest'
import { readBoard } from '../../../../src/report/usage/board/data.ts'
import { storeEngine } from '../../../../src/report/usage/engine/engine.ts'
import { readUsageIn } from '../../../../src/report/usage/read.ts'
import { inEmptyStore } from '../../../store/opened.ts'
import { usageOptions, utc } from '../../usage-events.ts'

const fromUs = utc(2026, 11, 2)
const hourUs = 3600e6

test.each([
  ['hours are hours', 1, 'hour'],
  ['days are days, and not weeks', 24, 'day'],
] as const)('cells of a log of %s', async (_, hours, finest) => {
  await inEmptyStore(async (store) => {
    await store.execute(
      `INSERT INTO usage_statements BY NAME SELECT 'log' AS source, n::VARCHAR AS id, 1 AS statement, 0 AS ingested_us,
         ${fromUs} + n * ${hours * hourUs} AS start_us, ${fromUs} + (n + 1) * ${hours * hourUs} AS end_us, 'model' AS dimensions,
         'usage' AS measures, 'svc-k2' AS model, 'ok' AS outcome, 2 AS credits, 'credits' AS unit, 1 AS requests
       FROM range(2) AS days(n)`,
    )
    const page = await readUsageIn(store, usageOptions({ nowUs: fromUs + 30 * 24 * hourUs }))
    const board = await readBoard(store, storeEngine, page)
    expect(board).toMatchObject({ finest, cells: { requests: [1, 1], credits: [2, 2] } })
  })
})
