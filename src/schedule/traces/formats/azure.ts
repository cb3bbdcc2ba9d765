import { refuse, type TraceRecord, tokensOf } from '../records.ts'
import { plainRow, type TraceRows } from '../trace.ts'

/**
 * Azure's traces of 2023 and 2024, as CSV with a header or JSON Lines: `TIMESTAMP` in UTC, `ContextTokens`,
 * `GeneratedTokens`. 0 generated tokens is a row.
 */
export function azure(records: readonly TraceRecord[], path: string): TraceRows {
  const instantUs = instantReader()
  const rows = records.map((record) => {
    const { TIMESTAMP, ContextTokens, GeneratedTokens } = record.fields
    const [time, input, output] = [
      instantUs(TIMESTAMP),
      tokensOf(ContextTokens),
      tokensOf(GeneratedTokens),
    ]
    if (!Number.isFinite(time) || input === null || output === null)
      refuse(record, path, 'TIMESTAMP, ContextTokens and GeneratedTokens')
    return plainRow(time, input, output)
  })
  return { rows, leftOut: [], unit: 'us', blocks: [] }
}

/**
 * Reads instants such as `2023-11-16 18:15:46.6805900`, in UTC unless they name an offset. Date cannot hold seven decimals,
 * and a double cannot hold them since 1970, so the times count from the first instant's second.
 *
 * @returns microseconds; NaN for other text
 */
export function instantReader(): (value: unknown) => number {
  let base: number | null = null
  return (value) => {
    const stamp = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:?\d\d)?$/.exec(
      String(value ?? '').trim(),
    )
    if (!stamp) return Number.NaN
    const [, day, time, fraction = '0', zone = 'Z'] = stamp
    const second = Date.parse(`${day}T${time}${zone}`)
    base ??= second
    return (second - base) * 1000 + Number(`0.${fraction}`) * 1e6
  }
}
