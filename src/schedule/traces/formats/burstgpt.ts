import { numberOf, refuse, type TraceRecord, tokensOf } from '../records.ts'
import { plainRow, type TraceRow, type TraceRows } from '../trace.ts'

/**
 * BurstGPT, CSV: `Timestamp` in seconds from midnight of the first day, `Request tokens`, `Response tokens` (0 is a
 * recorded failure) and, in newer files, a `Session ID` that is empty for calls of the API, and the whole `Elapsed time` of
 * the answer in seconds.
 */
export function burstgpt(records: readonly TraceRecord[], path: string): TraceRows {
  const last = new Map<string, { readonly index: number; readonly turn: number }>()
  const rows = records.map((record, index): TraceRow => {
    const { Timestamp, 'Session ID': id, Model: model, 'Elapsed time': elapsed } = record.fields
    const elapsedS = numberOf(elapsed)
    const input = tokensOf(record.fields['Request tokens'])
    const output = tokensOf(record.fields['Response tokens'])
    if (!Number.isFinite(numberOf(Timestamp)) || input === null || output === null)
      refuse(record, path, 'Timestamp (seconds), Request tokens and Response tokens')
    const session = id === undefined || id === '' ? null : String(id)
    const before = session === null ? undefined : last.get(session)
    const turn = session === null ? null : (before?.turn ?? 0) + 1
    if (session !== null) last.set(session, { index, turn: turn! })
    return {
      ...plainRow(numberOf(Timestamp), input, output),
      session,
      turn,
      after: before?.index ?? null,
      recorded: {
        failed: output === 0,
        ...(model === undefined ? {} : { model: String(model) }),
        ...(elapsedS >= 0 ? { serviceUs: elapsedS * 1e6 } : {}),
      },
    }
  })
  return { rows, leftOut: [], unit: 's', blocks: [] }
}
