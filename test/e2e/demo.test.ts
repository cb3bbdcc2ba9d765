import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../src/store/session/open.ts'
import { canBrowse, openBrowser } from '../chromium.ts'
import { assay, withFolder } from './command.ts'

test.skipIf(!canBrowse)(
  'the demo sends all kinds of traffic, audits it without a failure, and writes a page that opens from disk (needs chromium: apt-get install chromium)',
  { tags: 'whole', timeout: 180_000 },
  () =>
    withFolder(async (folder) => {
      const demo = await assay(['demo'], { cwd: folder }).ended
      expect(demo).toMatchObject({ code: 0 })
      expect(demo.stdout.split('\n').length).toBeLessThan(40)

      const store = await openStore(join(folder, 'assay.duckdb'))
      const kinds = await store.rows(
        `SELECT endpoint, streamed, count(*) > 0 AS seen FROM attempts
         WHERE status = 200 GROUP BY ALL ORDER BY ALL`,
      )
      const statuses = await store.rows<{ status: number }>(
        'SELECT DISTINCT status FROM attempts ORDER BY status',
      )
      const [total] = await store.rows<{ n: number }>('SELECT count(*) AS n FROM attempts')
      store.close()
      expect(kinds).toEqual([
        { endpoint: 'chat', streamed: 0, seen: true },
        { endpoint: 'chat', streamed: 1, seen: true },
        { endpoint: 'credits', streamed: 0, seen: true },
        { endpoint: 'messages', streamed: 0, seen: true },
        { endpoint: 'messages', streamed: 1, seen: true },
        { endpoint: 'models', streamed: 0, seen: true },
      ])
      expect(statuses.map(({ status }) => status)).toEqual(
        expect.arrayContaining([200, 400, 401, 403, 429]),
      )
      expect(total!.n).toBeGreaterThan(1000)

      const month = readFileSync(join(folder, 'assay-report-usage.html'), 'utf8')
      expect(month).toMatch(/last until|run out/)
      expect(month).not.toContain('it is not known when')

      const page = join(folder, 'assay-report.html')
      expect(existsSync(page)).toBe(true)
      expect(readFileSync(page, 'latin1')).not.toMatch(/sk-svc-/)
      const browser = await openBrowser()
      try {
        const tab = await browser.newPage()
        const said: string[] = []
        const asked: string[] = []
        tab.on('console', (message) => said.push(message.text()))
        tab.on('pageerror', (error) => said.push(String(error)))
        tab.on('request', (request) => asked.push(request.url()))
        await tab.goto(`file://${page}`)
        const charts = await tab.locator('figure svg, .chart svg').count()
        expect(charts).toBeGreaterThan(8)
        expect(said).toEqual([])
        expect(asked).toEqual([`file://${page}`])
      } finally {
        await browser.close()
      }
    }),
)
