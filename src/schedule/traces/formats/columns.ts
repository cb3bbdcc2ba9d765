import { type TraceColumns, type TraceUnit, traceUnits } from '../../../scenario/scenario.ts'
import { numberOf, refuse, type TraceRecord, tokensOf } from '../records.ts'
import { plainRow, type TraceRow, type TraceRows } from '../trace.ts'
import { instantReader } from './azure.ts'

/** Any CSV or JSON Lines whose columns the scenario names. A time is a number, or an instant such as 2024-05-12T00:00:02Z. */
export function columns(
  records: readonly TraceRecord[],
  path: string,
  { time: timeName, input: inputName, output: outputName, session: sessionName }: TraceColumns,
): TraceRows {
  const last = new Map<string, number>()
  const instants = Number.isNaN(numberOf(records[0]?.fields[timeName]))
  const timeOf = instants ? instantReader() : numberOf
  const rows = records.map((record, index): TraceRow => {
    const time = timeOf(record.fields[timeName])
    const input = tokensOf(record.fields[inputName])
    const output = tokensOf(record.fields[outputName])
    if (!Number.isFinite(time) || input === null || output === null)
      refuse(record, path, `a time in ${timeName}, and tokens in ${inputName} and ${outputName}`)
    const id = sessionName === undefined ? undefined : record.fields[sessionName]
    const session = id === undefined || id === null || id === '' ? null : String(id)
    const after = session === null ? null : (last.get(session) ?? null)
    if (session !== null) last.set(session, index)
    return { ...plainRow(time, input, output), session, after }
  })
  return { rows, leftOut: [], unit: instants ? 'us' : unitIn(timeName), blocks: [] }
}

/** Words for a unit at the end of a column's name: `sent_ms`, `arrival (s)`, `startTimeMillis`. */
const unitWords: Readonly<Record<TraceUnit, readonly string[]>> = {
  s: ['s', 'sec', 'secs', 'seconds'],
  ms: ['ms', 'msec', 'msecs', 'millis', 'milliseconds'],
  us: ['us', 'micros', 'microseconds'],
  ns: ['ns', 'nanos', 'nanoseconds'],
}

function unitIn(name: string): TraceUnit | null {
  const words = name
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()
    .split(/[^a-z]+/)
  const last = words.findLast((word) => word !== '') ?? ''
  return traceUnits.find((unit) => unitWords[unit].includes(last)) ?? null
}
