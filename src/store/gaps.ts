import type { JsHistogram } from 'hdr-histogram-js'
import { percentileOf } from '../measure/percentile.ts'
import type { Session } from './session.ts'

/** Gaps between events with text (ITL), in microseconds. */
export interface Gaps {
  /** True if each gap is known. Otherwise values come from histograms and are within 0.1 %. */
  readonly exact: boolean
  readonly n: number
  readonly mean: number
  readonly min: number
  readonly max: number
  /** The quantile: the smallest gap that at least this share of gaps does not exceed. */
  atShare(share: number): number
  /** The share of gaps that are at most `us`. */
  within(us: number): number
}

/**
 * ITL of each step, and of all steps under null. Our runs store histograms, which merge exactly over threads,
 * intervals and runs. If all runs are imported, each gap is known.
 *
 * @param where an SQL condition on `histograms`
 */
export async function readGaps(
  store: Session,
  where: string,
  parameters: readonly string[] = [],
): Promise<ReadonlyMap<string | null, Gaps>> {
  const rows = await store.rows<{ step: string; hdr: string }>(
    `SELECT step, to_base64(hdr) AS hdr FROM histograms WHERE metric = 'itl' AND samples > 0 AND ${where}`,
    [...parameters],
  )
  if (rows.length === 0) return new Map()
  const decode = await histogramDecoder()
  const merged = new Map<string | null, JsHistogram>()
  for (const { step, hdr } of rows) {
    for (const key of [step, null]) {
      const sum = merged.get(key)
      if (sum === undefined) merged.set(key, decode(hdr))
      else sum.add(decode(hdr))
    }
  }
  const found = new Map<string | null, Gaps>()
  for (const [step, histogram] of merged) {
    const [gaps] = await store.doubles(
      `SELECT gap_us FROM imported_gaps WHERE (${where}) ${step === null ? '' : `AND step = $${parameters.length + 1}`}
       ORDER BY gap_us`,
      [...parameters, ...(step === null ? [] : [step])],
    )
    const isWhole = gaps !== undefined && gaps.length === histogram.totalCount
    found.set(step, isWhole ? exactGaps(gaps) : gapsOf(histogram))
  }
  return found
}

function exactGaps(sorted: Float64Array): Gaps {
  return {
    exact: true,
    n: sorted.length,
    mean: sorted.reduce((sum, us) => sum + us, 0) / sorted.length,
    min: sorted[0]!,
    max: sorted.at(-1)!,
    atShare: (share) => percentileOf(sorted, share)!,
    within: (us) => sorted.filter((gap) => gap <= us).length / sorted.length,
  }
}

/**
 * Loads the library only when needed: a run without streams has no gaps.
 *
 * @returns a function that decodes a stored histogram, given in base64
 */
async function histogramDecoder(): Promise<(hdr: string) => JsHistogram> {
  const { decodeFromCompressedBase64, JsHistogram } = await import('hdr-histogram-js')
  return (hdr) => {
    const histogram = decodeFromCompressedBase64(hdr, 64)
    if (!(histogram instanceof JsHistogram)) throw new Error('a histogram of the WASM build')
    histogram.autoResize = true
    return histogram
  }
}

function gapsOf(histogram: JsHistogram): Gaps {
  return {
    exact: false,
    n: histogram.totalCount,
    mean: histogram.mean,
    // Events of one packet arrive together: their gap is 0.
    min: histogram.getCountAtIndex(0) > 0 ? 0 : histogram.minNonZeroValue,
    max: histogram.maxValue,
    atShare: (share) => histogram.getValueAtPercentile(share * 100),
    within: (us) => {
      let below = 0
      for (let at = 0; at < histogram.countsArrayLength; at++) {
        if (histogram.valueFromIndex(at) > us) break
        below += histogram.getCountAtIndex(at)
      }
      return below / histogram.totalCount
    },
  }
}
