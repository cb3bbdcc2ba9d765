import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { renderSvg } from '../../src/chart/svg.ts'
import { prepareHeat } from '../../src/report/heat.ts'
import { type Part, readParts } from '../../src/report/part.ts'
import { prepareScope } from '../../src/report/scope.ts'
import type { Store } from '../../src/store/open.ts'
import { seededStore } from './seeded.ts'

const folder = (page: string) => fileURLToPath(new URL(`../../reports/${page}`, import.meta.url))
let store: Store

beforeAll(async () => {
  store = await seededStore({ attempts: 600 })
})
afterAll(() => store.close())

/** A chart is shown where it has something to show. */
const runOf = (part: string) => (part === '05-rate-sweep' ? 'run-sweep' : 'run-1')

async function rowsOf(part: Part) {
  await prepareScope(store, { runIds: [runOf(part.name)], timeZone: 'Asia/Kolkata' })
  await prepareHeat(store)
  return store.rows(part.sql)
}

for (const page of ['run', 'launch']) {
  describe(`the charts of the page ${page}`, () => {
    for (const part of readParts([folder(page)])) {
      const { chart } = part
      if (chart === null) {
        test(`${part.name} is a table with rows`, async () => {
          expect((await rowsOf(part)).length).toBeGreaterThan(0)
        })
        continue
      }
      test(`${part.name} draws what it drew, and does not warn`, async () => {
        const rows = await rowsOf(part)
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
