import type { MetricSample, MetricType } from './exposition.ts'

/** What the scraping thread gets at its start. */
export interface ScraperData {
  readonly sources: readonly {
    readonly url: string
    readonly kind: string | null
    readonly key: string | null
  }[]
  readonly everyMs: number
  /** Keeps families that answer no question of a client too. */
  readonly keepsAll: boolean
  readonly zeroNs: bigint
}

export type ToScraper =
  | { readonly type: 'border'; readonly name: string }
  | { readonly type: 'end' }

export type FromScraper =
  /** The borders are looked at in the order in which they were asked for. */
  { readonly type: 'looked' } | { readonly type: 'ended'; readonly scraped: Scraped }

/** One look at a source: when, how long it took, and the border that asked for it. */
export interface Scrape {
  readonly source: number
  readonly atUs: number
  readonly tookUs: number | null
  readonly bytes: number | null
  readonly border: string | null
  /** Null if it was answered. */
  readonly reason: string | null
}

export interface Series {
  readonly source: number
  readonly name: string
  readonly family: string
  readonly type: MetricType
  /** JSON with sorted names. */
  readonly labels: string
}

/** All that was scraped: numbers of series and sources are positions in their lists. */
export interface Scraped {
  readonly scrapes: readonly Scrape[]
  readonly series: readonly Series[]
  /** Values that differ from the one before, with their times in microseconds of the run. */
  readonly points: readonly (readonly [series: number, atUs: number, value: number])[]
}

/** Buckets of histograms are kept at borders and so often. */
const bucketEveryUs = 10e6

/** At most so many values: an hour of 1,000 series that change each second. */
const mostPoints = 3_600_000

/** Keeps each value that differs from the last of its series. */
export class ScrapeLog {
  private readonly keeps: readonly ((family: string) => boolean)[]
  private readonly scrapes: Scrape[] = []
  private readonly series: Series[] = []
  private readonly points: (readonly [number, number, number])[] = []
  private readonly numbers = new Map<string, number>()
  private readonly last: number[] = []
  private readonly bucketsUs: number[]
  private readonly firstUs: (number | undefined)[]

  /** @param keeps whether a family is kept, for each source */
  constructor(keeps: readonly ((family: string) => boolean)[]) {
    this.keeps = keeps
    this.bucketsUs = keeps.map(() => -Infinity)
    this.firstUs = keeps.map(() => undefined)
  }

  add(scrape: Omit<Scrape, 'reason'>, samples: readonly MetricSample[]): void {
    const { source, atUs, border } = scrape
    const takesBuckets = border !== null || atUs - this.bucketsUs[source]! >= bucketEveryUs
    if (takesBuckets) this.bucketsUs[source] = atUs
    for (const sample of samples) {
      if (!this.keeps[source]!(sample.family)) continue
      if (sample.type === 'histogram' && 'le' in sample.labels && !takesBuckets) continue
      this.note(source, atUs, sample)
    }
    this.firstUs[source] ??= atUs
    this.scrapes.push({ ...scrape, reason: null })
  }

  addGap({
    source,
    atUs,
    reason,
    border,
  }: Pick<Scrape, 'source' | 'atUs' | 'border'> & { reason: string }): void {
    this.scrapes.push({ source, atUs, tookUs: null, bytes: null, border, reason })
  }

  taken(): Scraped {
    return { scrapes: this.scrapes, series: this.series, points: this.points }
  }

  private note(source: number, atUs: number, { name, family, type, labels, value }: MetricSample) {
    const words = JSON.stringify(labels)
    const id = `${source} ${name} ${words}`
    let number = this.numbers.get(id)
    if (number === undefined) {
      number = this.series.length
      this.numbers.set(id, number)
      this.series.push({ source, name, family, type, labels: words })
      // A labelled counter is absent until its first event: it was 0 when the source was first seen without it.
      const firstUs = this.firstUs[source]
      if (firstUs !== undefined && type !== 'gauge' && type !== 'untyped') {
        this.points.push([number, firstUs, 0])
      }
    }
    if (Object.is(this.last[number], value) || this.points.length >= mostPoints) return
    this.last[number] = value
    this.points.push([number, atUs, value])
  }
}
