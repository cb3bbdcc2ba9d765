import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { violations } from '../../axe.ts'
import { canBrowse, openBrowser } from '../../chromium.ts'
import { assay, type Running, withFolder } from '../../e2e/command.ts'
import { answerChat, key, refuse, startTarget, type Target } from '../../run/target.ts'
import { type Family, readPrometheus } from './prometheus-text.ts'

let target: Target
beforeAll(async () => {
  let asked = 0
  target = await startTarget(({ url, headers }, response) => {
    if (url === '/user/credits') response.end(JSON.stringify({ remaining: 100 - asked++ }))
    // An error code that holds the key, and characters that end a label.
    else if (asked++ % 5 === 4) refuse(response, 500, `a"b\\c ${headers.authorization}`)
    else answerChat(response)
  })
})
afterAll(() => target.close())

/** A command with a live page; it lasts until it is stopped. */
async function withLive(
  command: (folder: string) => readonly string[],
  use: (url: string, running: Running) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const args = [...command(folder), '--base-url', target.baseUrl, '--live']
    const running = assay(args, { env: { ASSAY_API_KEY: key }, cwd: folder })
    try {
      let live: RegExpExecArray | null = null
      for (; live === null; live = /Live: (\S+)/.exec(running.stderr)) {
        await Promise.race([once(running.child.stderr!, 'data'), mustRun(running)])
      }
      await use(live[1]!, running)
    } finally {
      running.child.kill('SIGINT')
      await running.ended
    }
  })
}

async function mustRun({ ended }: Running): Promise<never> {
  throw new Error(JSON.stringify(await ended))
}

function runOf(folder: string): readonly string[] {
  const file = join(folder, 'live.yaml')
  writeFileSync(
    file,
    `name: live
question: Does it hold?
model: svc-k2
steps: { chat: { endpoint: chat } }
phases: [{ name: steady, load: constant, rate: 20/s, duration: 600s }]
`,
  )
  return ['run', file]
}
const watchOf = () => ['usage', 'watch', '--every', '0.2']

const metricsOf = async (url: string) => (await fetch(`${url}metrics`)).text()

/** The metrics, once the condition holds. */
async function metricsWith(
  url: string,
  holds: (families: ReadonlyMap<string, Family>) => boolean,
): Promise<{ readonly text: string; readonly families: ReadonlyMap<string, Family> }> {
  for (;;) {
    const text = await metricsOf(url)
    const families = text === '' ? new Map() : readPrometheus(text)
    if (holds(families)) return { text, families }
    await new Promise((done) => setTimeout(done, 100))
  }
}

const sampleOf = (
  families: ReadonlyMap<string, Family>,
  name: string,
  ...labels: readonly string[]
) =>
  families
    .get(name)
    ?.samples.find((sample) => labels.every((label) => [...sample.labels.values()].includes(label)))
    ?.value ?? 0

/** The status that a request with these headers gets. */
function statusOf(url: string, headers: Record<string, string>, method = 'GET'): Promise<number> {
  return new Promise((done, fail) => {
    request(url, { headers, method }, (response) => {
      response.resume()
      done(response.statusCode!)
    })
      .on('error', fail)
      .end()
  })
}

test(
  'a run exports its counters and times as Prometheus text, never its key',
  { tags: 'whole' },
  () =>
    withLive(runOf, async (url) => {
      const { text, families } = await metricsWith(
        url,
        (now) => sampleOf(now, 'assay_requests_failed_total') >= 2,
      )
      expect(text).not.toContain(key)
      expect(families.get('assay_errors_total')!.samples[0]!.labels.get('code')).toMatch(
        /^500 a"b\\c /,
      )
      const ok = sampleOf(families, 'assay_requests_ended_total', 'ok')
      const failed = sampleOf(families, 'assay_requests_ended_total', 'http_error')
      expect(sampleOf(families, 'assay_requests_sent_total', 'chat')).toBeGreaterThanOrEqual(
        ok + failed,
      )
      const counted = families
        .get('assay_response_seconds')!
        .samples.filter(({ name }) => name.endsWith('_count'))
      expect(counted.map(({ labels, value }) => [labels.get('outcome'), value])).toEqual([
        ['ok', ok],
        ['failed', failed],
      ])
    }),
)

test('only local requests are answered: no other host, origin or method', { tags: 'whole' }, () =>
  withLive(watchOf, async (url) => {
    const port = new URL(url).port
    expect(await statusOf(url, {})).toBe(200)
    expect(
      await statusOf(url, { host: `localhost:${port}`, origin: `http://localhost:${port}` }),
    ).toBe(200)
    for (const path of ['', 'events', 'metrics']) {
      expect(await statusOf(url + path, { host: `evil.example:${port}` })).toBe(403)
      expect(await statusOf(url + path, { origin: 'http://evil.example' })).toBe(403)
      expect(await statusOf(url + path, { origin: 'null' })).toBe(403)
    }
    expect(await statusOf(url, {}, 'POST')).toBe(405)
    expect(await statusOf(`${url}store`, {})).toBe(404)
  }),
)

test('a watch exports its polls and the latest balance as Prometheus text', { tags: 'whole' }, () =>
  withLive(watchOf, async (url) => {
    const { families } = await metricsWith(
      url,
      (now) => sampleOf(now, 'assay_polls_total', '200') >= 2,
    )
    const left = sampleOf(families, 'assay_credits_remaining')
    expect(left).toBeGreaterThan(0)
    await metricsWith(url, (now) => sampleOf(now, 'assay_credits_remaining') < left)
  }),
)

test('an invalid or occupied port is refused with one sentence', async () => {
  const { port } = new URL(target.baseUrl)
  const watch = (live: string) =>
    assay(['usage', 'watch', '--base-url', target.baseUrl, '--live', live], {
      env: { ASSAY_API_KEY: key },
    }).ended
  const [taken, none] = await Promise.all([watch(port), watch('quick.yaml')])
  expect([taken.code, taken.stderr]).toEqual([2, expect.stringContaining(`--live: port ${port}`)])
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('--live: expected')])
})

describe.skipIf(!canBrowse)('a live page (needs chromium: apt-get install chromium)', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  async function openPage(url: string) {
    const tab = await browser.newPage()
    const noticed: string[] = []
    tab.on('console', (message) => noticed.push(message.text()))
    tab.on('pageerror', (error) => noticed.push(error.message))
    await tab.goto(url)
    return { tab, noticed }
  }

  /** Wide, narrow, light and dark: no overflow, and no violation of axe. */
  async function looksRight(tab: Page): Promise<void> {
    for (const width of [1440, 375]) {
      await tab.setViewportSize({ width, height: 900 })
      for (const colorScheme of ['light', 'dark'] as const) {
        await tab.emulateMedia({ colorScheme })
        expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(width)
        expect(await violations(tab)).toEqual([])
      }
    }
  }

  test(
    'shows a run and announces its progress, then shows its launch report',
    { tags: 'whole' },
    () =>
      withLive(runOf, async (url, { child }) => {
        const { tab, noticed } = await openPage(url)
        await tab.getByText('failed unexpectedly').first().waitFor()
        await tab.getByRole('img', { name: 'Requests per second' }).first().waitFor()
        await tab
          .getByRole('img', { name: /Response time, ms, now: p50/ })
          .first()
          .waitFor()
        expect(await tab.title()).toBe('Live run · Assay')
        expect(await tab.locator('.asks').textContent()).toBe('Does it hold?')
        const summary = () => tab.locator('.verdict > p').last().textContent()
        const before = await summary()
        await expect.poll(summary).not.toBe(before)
        // An update closes nothing that a reader opened.
        await tab.getByText('By step, key and thread').click()
        await expect.poll(summary).not.toBe(await summary())
        await tab.getByRole('region', { name: 'This client', exact: true }).waitFor()
        // Each chart is a table too, which the keyboard opens, and which stays open.
        const rates = tab.locator('[data-part=rates]')
        await rates.locator('summary').focus()
        await tab.keyboard.press('Enter')
        await tab.keyboard.press('Tab')
        const rows = rates.getByRole('region', { name: 'Requests per second, as a table' })
        await rows.locator('tbody tr').first().waitFor()
        const names = await rows.locator('thead th').allTextContents()
        expect(names.map((name) => name.trim())).toEqual(['at s', 'planned', 'sent', 'failed'])
        await tab.locator('body').click({ position: { x: 2, y: 2 } })
        const shown = await rows.locator('tbody tr').count()
        await expect.poll(() => rows.locator('tbody tr').count()).toBeGreaterThan(shown)
        await looksRight(tab)
        await expect.poll(() => tab.getByRole('status').textContent()).toContain('Running for')
        child.kill('SIGINT')
        await tab.getByText('Made by Assay from the rows of').waitFor()
        expect(await tab.locator('#aloud').count()).toBe(0)
        expect(noticed).toEqual([])
      }),
  )

  test('shows a watch, and does not update a region that has the focus', { tags: 'whole' }, () =>
    withLive(watchOf, async (url) => {
      const { tab, noticed } = await openPage(url)
      const polls = tab.getByRole('region', { name: 'Last polls' })
      await tab.getByRole('img', { name: 'Credits used since the watch began' }).first().waitFor()
      await looksRight(tab)
      // A phone shows the first columns: the balance is one of them.
      const heads = await polls.locator('thead th').allTextContents()
      expect(heads.map((head) => head.trim())).toEqual([
        'at',
        'left credits',
        'used credits',
        'requests',
        'status',
        'kept',
      ])
      await polls.focus()
      const [rows, summary] = [
        await polls.textContent(),
        await tab.locator('.verdict').textContent(),
      ]
      await expect.poll(() => tab.locator('.verdict').textContent()).not.toBe(summary)
      expect(await polls.textContent()).toBe(rows)
      expect(await polls.evaluate((region) => region === region.ownerDocument.activeElement)).toBe(
        true,
      )
      expect(noticed).toEqual([])
    }),
  )
})
