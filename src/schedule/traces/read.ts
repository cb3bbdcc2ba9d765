import type { TraceColumns, TraceFormat, TraceUnit } from '../../scenario/loads.ts'
import { withoutMark } from '../../user/byte-order-mark.ts'
import { firstCells } from '../../user/csv.ts'
import { largest } from '../../user/extremes.ts'
import { userError } from '../../user/user-error.ts'
import { formatOf, type RecordFormat } from './detect.ts'
import { assay } from './formats/assay.ts'
import { azure } from './formats/azure.ts'
import { bailian } from './formats/bailian.ts'
import { burstgpt } from './formats/burstgpt.ts'
import { columns } from './formats/columns.ts'
import { mooncake } from './formats/mooncake.ts'
import { servegen, servegenWindows } from './formats/servegen.ts'
import { weka } from './formats/weka.ts'
import { recordsOf, type TraceRecord } from './records.ts'
import { type Trace, type TraceRow, type TraceRows, unitUs } from './trace.ts'
import { unitOf } from './unit.ts'

/** A trace as a scenario names it. */
export interface TraceSource {
  readonly path: string
  readonly text: string
  /** Null to recognise it by its fields. */
  readonly format: TraceFormat | null
  /** Null to read it from the format and the rows. */
  readonly unit: TraceUnit | null
  /** For the format `columns`. */
  readonly columns: TraceColumns | null
  /** The text of a file beside the trace; null if there is none. */
  readonly beside: (name: string) => string | null
}

/**
 * Reads a trace of any format.
 *
 * @throws UserError with the line and what was expected there; or with both readings, if the unit is not clear
 */
export function readTrace(source: TraceSource): Trace {
  const { format, read } = rowsOf(source)
  if (read.rows.length === 0) {
    throw userError.trace(`${source.path} has no requests in the ${format} format.`)
  }
  const { path, unit: named } = source
  const tokensPerBlock = blockOf(read)
  const { unit, reason } = unitOf({ trace: read, path, named, blockTokens: tokensPerBlock })
  const times = read.unit === 'us' && named === null ? 'instants' : `${unit}: ${reason}`
  const requests = inOrder(read.rows, unitUs[unit])
  return { format, times, tokensPerBlock, requests, leftOut: read.leftOut }
}

function rowsOf(source: TraceSource): { format: TraceFormat; read: TraceRows } {
  const { path, text, format } = source
  const trimmed = withoutMark(text).trimStart()
  if (format === 'weka' || (format === null && isOneObject(trimmed))) {
    return { format: 'weka', read: weka(text, path) }
  }
  if (format === 'servegen' || (format === null && isServegen(trimmed))) {
    return { format: 'servegen', read: servegenOf(source) }
  }
  const records = recordsOf(text, path)
  if (source.columns !== null) {
    return { format: 'columns', read: columns(records, path, source.columns, source.unit) }
  }
  if (isPrompts(records[0])) {
    throw userError.trace(
      `${path} is a list of ${isTalk(records[0]) ? 'conversations' : 'prompts'} without times, so it is no trace. Name it as prompts of a step: prompt: { file: ${path} }.`,
    )
  }
  const seen = formatOf(records[0])
  const used = format === null ? seen : agreed(format, seen, path)
  if (used === null || used === 'columns') {
    const names = Object.keys(records[0]?.fields ?? {}).join(', ')
    throw userError.trace(
      `${path} is of no known format; its columns are ${names || 'none'}. Name them: columns: { time: …, input: …, output: … }, and unit: s, ms, us or ns.`,
    )
  }
  return { format: used, read: readers[used](records, path) }
}

type ByRecords = (records: readonly TraceRecord[], path: string) => TraceRows

const readers: Readonly<Record<RecordFormat, ByRecords>> = {
  mooncake,
  bailian,
  azure,
  burstgpt,
  assay,
}

/**
 * The format of a file whose scenario names one. Bailian's files have Mooncake's fields, so reading them as named would
 * be a thousand times too fast. A file that lacks the named format's fields, and has another's, is read as that.
 */
function agreed(named: RecordFormat | 'columns', seen: RecordFormat | null, path: string) {
  if (named === 'mooncake' && seen === 'bailian') {
    throw userError.trace(
      `${path} has chat_id and parent_chat_id: it is Bailian's, in seconds and blocks of 16 tokens, not Mooncake's. Write format: bailian.`,
    )
  }
  return seen ?? named
}

/** The data sets of vLLM's and SGLang's benchmarks, JSON Lines. */
const isPrompts = (record: TraceRecord | undefined) =>
  record !== undefined &&
  ['prompt', 'messages', 'conversations'].some((name) => Object.hasOwn(record.fields, name)) &&
  !Object.keys(record.fields).some((name) => /time|_at$|delay/i.test(name))

const isTalk = (record: TraceRecord | undefined) =>
  Object.hasOwn(record?.fields ?? {}, 'conversations')

const isOneObject = (text: string) => /^\{\s*"/.test(text) && /"requests"\s*:\s*\[/.test(text)

/** A line of six cells without a header, such as `0,1.5,4.0,Gamma,0.0625,10.6667`. */
const isServegen = (text: string) => {
  const cells = firstCells(text, ',').map((cell) => cell.trim())
  return (
    cells.length === 6 && Number.isFinite(Number(cells[0])) && /^(Gamma|Weibull|)$/.test(cells[3]!)
  )
}

function servegenOf({ path, text, beside }: TraceSource): TraceRows {
  const file = path.replace(/^.*[\\/]/, '')
  const name = file.replace(/trace(\.csv)?$/, 'dataset.json')
  const histograms = name === file ? null : beside(name)
  if (histograms === null) {
    throw userError.trace(
      `${path} is ServeGen's. Its lengths stand in a file beside it: X-dataset.json beside X-trace.csv.`,
    )
  }
  return servegen(servegenWindows(text, histograms, path), path)
}

/** @returns the first size of a block that fits the most rows: a prompt of n tokens has n / size blocks, rounded up */
function blockOf({ rows, blocks }: TraceRows): number | null {
  const withIds = rows.filter(({ hashIds }) => hashIds.length > 0)
  if (withIds.length === 0 || blocks.length === 0) return null
  const fits = blocks.map(
    (size) =>
      withIds.filter(({ hashIds, inputTokens }) => Math.ceil(inputTokens / size) === hashIds.length)
        .length,
  )
  return blocks[fits.indexOf(largest(fits))]!
}

/** Puts rows in order of time, the first at 0, each still behind the same request. */
function inOrder(rows: readonly TraceRow[], usPerUnit: number): Trace['requests'] {
  const order = rows.map((_, index) => index).sort((a, b) => rows[a]!.time - rows[b]!.time)
  const placeOf = new Map(order.map((index, place) => [index, place]))
  const first = rows[order[0]!]!.time
  return order.map((index) => {
    const { time, after, ...row } = rows[index]!
    return {
      ...row,
      atUs: toNs(time - first, usPerUnit),
      after: after === null ? null : placeOf.get(after)!,
    }
  })
}

/** Microseconds to the nanosecond, since the difference of two decimals carries noise of its binary form. */
const toNs = (units: number, usPerUnit: number) => Math.round(units * usPerUnit * 1000) / 1000
