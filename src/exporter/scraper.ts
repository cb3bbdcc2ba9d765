import { Worker } from 'node:worker_threads'
import { threadFile } from '../user/thread-file.ts'
import type { Source } from './find.ts'
import type { FromScraper, Scraped, ScraperData, ToScraper } from './scrape-log.ts'

/** Scrapes in a thread and on connections of its own, so that the measured ones are not touched. */
export interface Scraper {
  readonly sources: readonly Source[]
  readonly everyUs: number
  /** Looks at once, as exactly as a request can: the border of a phase. Resolves when all sources answered or failed. */
  border(name: string): Promise<void>
  /** The last look, then all that was scraped; null if the thread failed. */
  end(): Promise<Scraped | null>
}

/**
 * @param zeroNs monotonic time of microsecond 0 of the run
 * @param key of the service, for sources that ask for it; null for none
 */
export function startScraper(
  sources: readonly Source[],
  {
    everyUs,
    keepsAll,
    zeroNs,
    key,
  }: Pick<ScraperData, 'keepsAll' | 'zeroNs'> & {
    readonly everyUs: number
    readonly key: string | null
  },
): Scraper {
  const worker = new Worker(threadFile('./scrape', import.meta.url), {
    workerData: {
      sources: sources.map(({ url, kind, needsKey }) => ({
        url,
        kind,
        key: needsKey ? key : null,
      })),
      everyMs: everyUs / 1000,
      keepsAll,
      zeroNs,
    } satisfies ScraperData,
  })
  const awaited: (() => void)[] = []
  let isOver = false
  const ended = new Promise<Scraped | null>((resolve) => {
    const end = (scraped: Scraped | null) => {
      isOver = true
      for (const looked of awaited.splice(0)) looked()
      resolve(scraped)
    }
    worker.on('message', (message: FromScraper) => {
      if (message.type === 'looked') awaited.shift()?.()
      else end(message.scraped)
    })
    worker.on('error', () => end(null))
    worker.on('exit', () => end(null))
  })
  const tell = (message: ToScraper) => worker.postMessage(message)
  return {
    sources,
    everyUs,
    border: (name) =>
      isOver
        ? Promise.resolve()
        : new Promise((looked) => {
            awaited.push(looked)
            tell({ type: 'border', name })
          }),
    end: () => {
      tell({ type: 'end' })
      return ended
    },
  }
}
