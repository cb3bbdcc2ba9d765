import { parentPort, workerData } from 'node:worker_threads'
import { fetchExposition } from './fetch-exposition.ts'
import { knownFamilies } from './kinds.ts'
import { type FromScraper, ScrapeLog, type ScraperData, type ToScraper } from './scrape-log.ts'

const { sources, everyMs, keepsAll, zeroNs } = workerData as ScraperData
const port = parentPort!
const log = new ScrapeLog(
  sources.map(
    ({ kind }) =>
      (family: string) =>
        keepsAll || kind === null || knownFamilies.has(family),
  ),
)
const nowUs = () => Number((process.hrtime.bigint() - zeroNs) / 1000n)
const tell = (message: FromScraper) => port.postMessage(message)
let pending: Promise<unknown> = Promise.resolve()

/** A look at a border may take longer, because counts are compared there. */
const borderPatienceMs = 5_000

/** One look at each source, at once; a late answer is a gap. */
async function look(border: string | null): Promise<void> {
  await Promise.all(
    sources.map(async ({ url, key }, source) => {
      const beganUs = nowUs()
      try {
        const { samples, bytes } = await fetchExposition(
          url,
          key,
          border === null ? everyMs : borderPatienceMs,
        )
        const endUs = nowUs()
        const atUs = Math.round((beganUs + endUs) / 2)
        log.add({ source, atUs, tookUs: endUs - beganUs, bytes, border }, samples)
      } catch (error) {
        log.addGap({ source, atUs: beganUs, reason: (error as Error).message, border })
      }
    }),
  )
}

/** Looks follow each other, so that the values of a series are in the order of their times. */
const lookAtBorder = (border: string) => {
  pending = pending.then(() => look(border)).then(() => tell({ type: 'looked' }))
}

let isLooking = false
const timer = setInterval(() => {
  if (isLooking) return
  isLooking = true
  pending = pending
    .then(() => look(null))
    .finally(() => {
      isLooking = false
    })
}, everyMs)

port.on('message', (message: ToScraper) => {
  if (message.type === 'border') lookAtBorder(message.name)
  else {
    clearInterval(timer)
    void pending.then(() => {
      tell({ type: 'ended', scraped: log.taken() })
      port.close()
    })
  }
})
