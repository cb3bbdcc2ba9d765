import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { defaultContract } from '../src/contract/default.ts'
import { writeReport } from '../src/report/page.ts'
import type { PageName } from '../src/report/pages.ts'
import { openStore, type Store } from '../src/store/session/open.ts'
import { openBrowser } from '../test/chromium.ts'
import { seededOptions, seededStore } from '../test/report/seeded.ts'

/**
 * What a reader's browser gets: the bytes and elements of each page, the time to its first picture in headless Chromium, and
 * the numbers on its first screen (1,440 × 900). Limits: 1.5 MB, 5,000 elements, 2 s.
 *
 *     node bench/pages.ts            the launch page of a search, of one load and of a whole run; the audit page;
 *                                    usage pages of 0, 1, 10^4 and 10^6 events over a day, a month and ten years
 *     node bench/pages.ts --quick    without 10^6 events
 *     node bench/pages.ts FILE…      these pages instead
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false } },
})

const limits = { mb: 1.5, elements: 5000, seconds: 2 }
const folder = mkdtempSync(join(tmpdir(), 'assay-bench-pages-'))
const dayUs = 86_400e6
const endUs = Date.UTC(2026, 10, 20) * 1000

/** Events spread evenly over days until `endUs`; every value is a hash of the event's number. */
function enterEvents(store: Store, events: number, days: number): Promise<void> {
  const pick = (salt: number, of: number) => `(hash(i * 16 + ${salt}) % ${of})`
  return store.execute(`
    INSERT INTO usage_events (source, id, at_us, ingested_us, import_no, model, endpoint, key_fp, account, outcome, status,
      credits, prompt_tokens, cached_tokens, completion_tokens, requests)
    SELECT 'gateway', 'e' || i, (${endUs - days * dayUs} + (i + 0.5) * ${(days * dayUs) / events})::BIGINT, 0, 1,
      'model-' || ${pick(2, 6)}, CASE WHEN ${pick(3, 3)} = 0 THEN 'messages' ELSE 'chat' END,
      printf('%012x', ${pick(4, 12)}), 'main', CASE WHEN ${pick(5, 50)} = 0 THEN 'http_error' ELSE 'ok' END,
      CASE WHEN ${pick(5, 50)} = 0 THEN 429 ELSE 200 END, CASE WHEN ${pick(5, 50)} = 0 THEN 0 ELSE 1 + ${pick(6, 7)} END,
      ${pick(7, 4000)}, ${pick(7, 4000)} // 2, ${pick(8, 800)}, 1
    FROM range(${events}) AS t(i)`)
}

async function usagePage(events: number, days: number): Promise<string> {
  const out = join(folder, `usage-${events}-${days}.html`)
  const store = await openStore(':memory:')
  if (events > 0) await enterEvents(store, events, days)
  await writeReport({
    ...{
      store,
      page: 'usage',
      contract: defaultContract,
      runIds: [],
      timeZone: 'Europe/Berlin',
      out,
    },
    nowUs: endUs,
    usage: {
      ...{ contract: null, fromUs: endUs - days * dayUs, toUs: endUs, by: 'model', sources: [] },
      grants: [{ name: 'Large', credits: 1_000_000, expiresUs: null }],
    },
  })
  store.close()
  return out
}

async function seededPages(): Promise<readonly (readonly [string, string])[]> {
  const store = await seededStore({ attempts: 1500 })
  const made: (readonly [string, string])[] = []
  const pages: readonly (readonly [string, PageName, string])[] = [
    ['launch, a search', 'launch', 'run-sweep'],
    ['launch, one load', 'launch', 'run-1'],
    ['run', 'run', 'run-1'],
    ['audit', 'audit', 'run-1'],
  ]
  for (const [name, page, runId] of pages) {
    const out = join(folder, `${name.replace(/\W+/g, '-')}.html`)
    await writeReport({ ...seededOptions(store), page, runIds: [runId], out })
    made.push([name, out])
  }
  store.close()
  return made
}

async function* pagesToMeasure(): AsyncGenerator<readonly [string, string]> {
  if (positionals.length > 0) {
    for (const file of positionals) yield [file, file]
    return
  }
  yield* await seededPages()
  const counts = values.quick ? [0, 1, 10_000] : [0, 1, 10_000, 1_000_000]
  for (const events of counts) {
    for (const [span, days] of [
      ['a day', 1],
      ['a month', 30],
      ['ten years', 3652],
    ] as const) {
      if (events === 0 && days > 1) continue
      yield [
        `usage, ${events.toLocaleString('en-US')} events, ${span}`,
        await usagePage(events, days),
      ]
    }
  }
  yield ['usage, 7,000 events, ten years', await usagePage(7000, 3652)]
}

interface Seen {
  readonly elements: number
  readonly firstPictureMs: number
  readonly numbers: number
  readonly screens: number
}

/** Runs in the page. */
const look = `(() => {
  const numbers = []
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (words.nextNode()) {
    const parent = words.currentNode.parentElement
    if (['SCRIPT', 'STYLE', 'OPTION', 'TITLE'].includes(parent.tagName.toUpperCase()) || !parent.checkVisibility({ visibilityProperty: true })) continue
    const range = document.createRange()
    range.selectNodeContents(words.currentNode)
    const box = range.getBoundingClientRect()
    if (box.top < innerHeight && box.width > 0) numbers.push(...(words.currentNode.textContent.match(/\\d[\\d,.]*/g) ?? []))
  }
  const paint = performance.getEntriesByName('first-contentful-paint')[0]
  return { elements: document.querySelectorAll('*').length, firstPictureMs: paint?.startTime ?? -1,
    numbers: numbers.length, screens: document.documentElement.scrollHeight / innerHeight }
})()`

const browser = await openBrowser()
try {
  process.stdout.write('page | MB | elements | first picture, s | numbers on screen 1 | screens\n')
  for await (const [name, file] of pagesToMeasure()) {
    const tab = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    await tab.goto(pathToFileURL(file).href)
    await tab.waitForTimeout(500)
    const seen = (await tab.evaluate(look)) as Seen
    await tab.close()
    const mb = statSync(file).size / 1e6
    const seconds = seen.firstPictureMs / 1000
    const isOver = mb > limits.mb || seen.elements > limits.elements || seconds > limits.seconds
    process.stdout.write(
      `${name} | ${mb.toFixed(2)} | ${seen.elements} | ${seconds.toFixed(2)} | ${seen.numbers} | ${seen.screens.toFixed(1)}${isOver ? ' | OVER A LIMIT' : ''}\n`,
    )
    if (isOver) process.exitCode = 1
  }
} finally {
  await browser.close()
  rmSync(folder, { recursive: true })
}
