import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { renderSvg } from '../../src/chart/svg.ts'
import { type PageName, pageNames, partsOf, prepareTop } from '../../src/report/page.ts'
import type { Part } from '../../src/report/part.ts'
import type { Store } from '../../src/store/open.ts'
import { seededOptions, seededStore, seedUsage } from './seeded.ts'

let store: Store

beforeAll(async () => {
  store = await seededStore({ attempts: 600 })
  await seedUsage(store)
})
afterAll(() => store.close())

/** A chart is shown where it has something to show. */
const runOf = (part: string) => (part === '05-rate-sweep' ? 'run-sweep' : 'run-1')

/** What the tables of the queries were last made ready for. */
let prepared = ''

async function rowsOf(page: PageName, part: Part) {
  const wanted = `${page} ${runOf(part.name)}`
  if (prepared !== wanted) await prepare(page, part)
  prepared = wanted
  return store.rows(part.sql)
}

async function prepare(page: PageName, part: Part): Promise<void> {
  await prepareTop({
    ...seededOptions(store),
    page,
    runIds: page === 'usage' ? [] : [runOf(part.name)],
    timeZone: page === 'usage' ? 'America/New_York' : 'Asia/Kolkata',
    usage: {
      fromUs: null,
      toUs: null,
      by: 'model',
      sources: ['gateway'],
      grants: [
        { name: 'Starter', credits: 500, expiresUs: null },
        { name: 'Standard', credits: 4200, expiresUs: Date.UTC(2026, 3, 1) * 1000 },
      ],
    },
  })
}

for (const page of pageNames) {
  describe(`the charts of the page ${page}`, () => {
    for (const part of partsOf(page)) {
      if (page === 'run' && partsOf('launch').some(({ name }) => name === part.name)) continue
      const { chart } = part
      if (chart === null) {
        test(`${part.name} is a table with rows`, async () => {
          expect((await rowsOf(page, part)).length).toBeGreaterThan(0)
        })
        continue
      }
      test(`${part.name} draws what it drew, and does not warn`, async () => {
        const rows = await rowsOf(page, part)
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
