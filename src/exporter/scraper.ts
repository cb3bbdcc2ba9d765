import { Worker } from 'node:worker_threads'
import type { Source } from './find.ts'
import type { FromScraper, Scraped, ScraperData, ToScraper } from './scrape-log.ts'

/** Scrapes in a thread and on connections of its own, so that the measured ones are not touched. */
export interface Scraper {
  readonly sources: readonly Source[]
  readonly everyUs: number
  /** Looks at once, as exactly as a request can: the border of a phase. */
  border(name: string): void
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
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const worker = new Worker(new URL(`./scrape.worker.${ending}`, import.meta.url), {
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
  const ended = new Promise<Scraped | null>((resolve) => {
    worker.on('message', ({ scraped }: FromScraper) => resolve(scraped))
    worker.on('error', () => resolve(null))
    worker.on('exit', () => resolve(null))
  })
  const tell = (message: ToScraper) => worker.postMessage(message)
  return {
    sources,
    everyUs,
    border: (name) => tell({ type: 'border', name }),
    end: () => {
      tell({ type: 'end' })
      return ended
    },
  }
}
