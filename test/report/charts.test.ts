import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { renderSvg } from '../../src/chart/svg.ts'
import { prepareHeat } from '../../src/report/heat.ts'
import { readParts } from '../../src/report/part.ts'
import { prepareScope } from '../../src/report/scope.ts'
import type { Store } from '../../src/store/open.ts'
import { seededStore } from './seeded.ts'

const folder = (page: string) => fileURLToPath(new URL(`../../reports/${page}`, import.meta.url))
let store: Store

beforeAll(async () => {
  store = await seededStore({ attempts: 600 })
  await prepareScope(store, { runIds: ['run-1'], timeZone: 'Asia/Kolkata' })
  await prepareHeat(store)
})
afterAll(() => store.close())

for (const page of ['run', 'launch']) {
  describe(`the charts of the page ${page}`, () => {
    for (const part of readParts([folder(page)])) {
      const { chart } = part
      if (chart === null) {
        test(`${part.name} is a table with rows`, async () => {
          expect((await store.rows(part.sql)).length).toBeGreaterThan(0)
        })
        continue
      }
      test(`${part.name} draws what it drew, and does not warn`, async () => {
        const rows = await store.rows(part.sql)
        const { svg, warnings } = await renderSvg(chart, rows, { id: part.name, widthPx: 500 })
        expect(warnings).toEqual([])
        expect(rows.length).toBeGreaterThan(0)
        await expect(svg.replaceAll('><', '>\n<')).toMatchFileSnapshot(
          `golden/${page}-${part.name}.svg`,
        )
      })
    }
  })
}
