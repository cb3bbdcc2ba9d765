import { type CsvRecord, csvRecords, unclosedText } from '../../../user/csv.ts'
import { jsonOf, objectOf } from '../../../user/json.ts'
import { userError } from '../../../user/user-error.ts'
import { WeightedChoice } from '../../draw.ts'
import { RandomStream } from '../../random.ts'
import { numberOf } from '../records.ts'
import { plainRow, type TraceRow, type TraceRows } from '../trace.ts'

/** A client's load in a window: a renewal process, and two distributions of lengths. */
export interface ServegenWindow {
  readonly fromS: number
  readonly ratePerS: number
  /** Null if the window sends nothing. */
  readonly pattern: 'Gamma' | 'Weibull' | null
  readonly shape: number
  readonly scaleS: number
  readonly input: Histogram | null
  readonly output: Histogram | null
}

type Histogram = readonly (readonly [tokens: number, weight: number])[]

/**
 * A client of ServeGen: windows of `start, rate, cv, pattern, shape, scale` without a header, and a JSON file of
 * histograms by start, which hold until the next ones.
 *
 * @throws UserError with the line and what was expected there
 */
export function servegenWindows(
  windows: string,
  histograms: string,
  path: string,
): readonly ServegenWindow[] {
  const lengths = lengthsOf(histograms, path)
  const read: ServegenWindow[] = []
  for (const record of csvRecords([windows], ',')) {
    if (record.text.trim() === '') continue
    if (record.openQuoteLine !== null)
      throw userError.trace(`${path}: ${unclosedText(record.openQuoteLine)}`)
    const window = windowOf(record, path, lengths)
    const before = read.at(-1)
    if (before !== undefined && window.fromS <= before.fromS) {
      throw userError.trace(
        `${path}, line ${record.line}: expected a window that begins after the one before, at ${before.fromS} s; got ${window.fromS} s.`,
      )
    }
    read.push(window)
  }
  return read
}

/**
 * The requests that such a client sends. They are drawn from the path alone, so that each thread, machine and run of
 * this file has the same ones.
 */
export function servegen(windows: readonly ServegenWindow[], path: string): TraceRows {
  const name = path.replace(/^.*[\\/]/, '')
  const [gaps, inputs, outputs] = ['gaps', 'input', 'output'].map(
    (what) => new RandomStream(0, `${what} of ${name}`),
  ) as [RandomStream, RandomStream, RandomStream]
  const rows: TraceRow[] = []
  let draw = 0
  for (const [at, window] of windows.entries()) {
    if (window.pattern === null) continue
    const { input, output } = window
    if (input === null || output === null) {
      throw userError.trace(`${path}: its histograms do not cover ${window.fromS} s.`)
    }
    const untilS = windows[at + 1]?.fromS ?? window.fromS + widthOf(windows, at)
    const [inputLength, outputLength] = [lengthOf(input), lengthOf(output)]
    for (let timeS = window.fromS; ; ) {
      // The gap that ends after the window is used up, too: as the first of the next window it would be too long.
      const nth = draw++
      timeS += gapOf(window, gaps, nth)
      if (timeS >= untilS) break
      rows.push(plainRow(timeS, inputLength(inputs.at(nth)), outputLength(outputs.at(nth))))
    }
  }
  return { rows, leftOut: [], unit: 's', blocks: [] }
}

/** The last window is as long as the one before it; a lone one has ten minutes. */
const widthOf = (windows: readonly ServegenWindow[], at: number) =>
  at === 0 ? 600 : windows[at]!.fromS - windows[at - 1]!.fromS

/** The n-th gap, in seconds. */
function gapOf({ pattern, shape, scaleS }: ServegenWindow, random: RandomStream, nth: number) {
  return pattern === 'Gamma'
    ? random.gamma(nth, shape) * shape * scaleS
    : scaleS * random.exponential(nth) ** (1 / shape)
}

function lengthOf(histogram: Histogram): (uniform: number) => number {
  const choice = new WeightedChoice(histogram.map(([, weight]) => weight))
  return (uniform) => histogram[choice.pick(uniform)]![0]
}

interface Lengths {
  readonly fromS: number
  readonly input: Histogram
  readonly output: Histogram
}

function windowOf(
  { cells, text, line }: CsvRecord,
  path: string,
  lengths: readonly Lengths[],
): ServegenWindow {
  const [fromS, ratePerS] = cells.slice(0, 2).map(numberOf) as [number, number]
  const [shape, scaleS] = cells.slice(4, 6).map(numberOf) as [number, number]
  const named = cells[3]?.trim()
  const silent = ratePerS === 0
  const pattern = silent ? null : named === 'Gamma' || named === 'Weibull' ? named : undefined
  const areNumbers = Number.isFinite(fromS) && Number.isFinite(ratePerS)
  if (pattern === undefined || !areNumbers || (!silent && !(shape > 0 && scaleS > 0))) {
    throw userError.trace(
      `${path}, line ${line}: expected start (seconds), rate, cv, Gamma or Weibull, shape and scale; got ${text.slice(0, 80)}.`,
    )
  }
  const own = lengths.findLast((each) => each.fromS <= fromS)
  return {
    fromS,
    ratePerS,
    pattern,
    shape,
    scaleS,
    input: own?.input ?? null,
    output: own?.output ?? null,
  }
}

/** Histograms are text inside JSON in Python's notation: `{100: 0.5, 200: 0.5}`. They are read, never evaluated. */
function lengthsOf(text: string, path: string): readonly Lengths[] {
  const written = Object.entries(objectOf(jsonOf(text)))
  if (written.length === 0 || written.some(([start]) => !Number.isFinite(Number(start)))) {
    throw userError.trace(
      `The histograms of ${path} are not JSON by the second at which they begin, such as {"0": {"input_tokens": "{100: 1}", "output_tokens": "{50: 1}"}}.`,
    )
  }
  return written
    .map(([start, lengths]) => ({
      fromS: Number(start),
      input: histogramOf(objectOf(lengths).input_tokens, path, start),
      output: histogramOf(objectOf(lengths).output_tokens, path, start),
    }))
    .sort((a, b) => a.fromS - b.fromS)
}

function histogramOf(written: unknown, path: string, start: string): Histogram {
  const text = typeof written === 'string' ? written : JSON.stringify(written ?? null)
  const pairs = Array.from(
    text.matchAll(/"?(\d+(?:\.\d+)?)"?\s*:\s*(\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)/g),
    ([, tokens, weight]) => [Math.round(Number(tokens)), Number(weight)] as const,
  )
  if (!pairs.some(([, weight]) => weight > 0)) {
    throw userError.trace(
      `The histograms of ${path} at ${start} s: expected {tokens: share, …}; got ${text.slice(0, 80)}.`,
    )
  }
  return pairs
}
