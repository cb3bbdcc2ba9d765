import { type TraceColumns, type TraceUnit, traceUnits } from '../../../scenario/loads.ts'
import { userError } from '../../../user/user-error.ts'
import { numberOf, refuse, type TraceRecord, tokensOf } from '../records.ts'
import { plainRow, type TraceRow, type TraceRows } from '../trace.ts'
import { instantReader } from './azure.ts'

/**
 * Any CSV or JSON Lines whose columns the scenario names. A time is a number, or an instant such as 2024-05-12T00:00:02Z.
 *
 * @param written the unit that the scenario names
 */
export function columns(
  records: readonly TraceRecord[],
  path: string,
  { time: timeName, input: inputName, output: outputName, session: sessionName }: TraceColumns,
  written: TraceUnit | null,
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
  const unit = instants ? 'us' : (written ?? unitIn(timeName, path))
  return { rows, leftOut: [], unit, blocks: [] }
}

/** Words for a unit at the end of a column's name: `sent_ms`, `arrival (s)`, `startTimeMillis`. */
const unitWords: Readonly<Record<TraceUnit, readonly string[]>> = {
  s: ['s', 'sec', 'secs', 'seconds'],
  ms: ['ms', 'msec', 'msecs', 'millis', 'milliseconds'],
  us: ['us', 'micros', 'microseconds'],
  ns: ['ns', 'nanos', 'nanoseconds'],
}

/** Units that no time of a trace may have. */
const otherUnits = ['m', 'min', 'mins', 'minutes', 'h', 'hr', 'hrs', 'hours', 'd', 'days']

/** @throws UserError for another unit */
function unitIn(name: string, path: string): TraceUnit | null {
  const words = name
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()
    .split(/[^a-z]+/)
  const last = words.findLast((word) => word !== '') ?? ''
  if (otherUnits.includes(last)) {
    throw userError.trace(
      `${path}: ${name} looks like a time in ${last}; a replay takes times in ${traceUnits.join(', ')}. Convert the column, or write unit: if its name is misleading.`,
    )
  }
  return traceUnits.find((unit) => unitWords[unit].includes(last)) ?? null
}
