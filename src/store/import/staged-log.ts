import type { LogFormat, Mapping } from './mapping.ts'

/** A log that is staged before its lines are entered. */
export interface StagedLog {
  readonly file: string
  /** The namespace of ids. */
  readonly source: string
  readonly format: LogFormat
  readonly mapping: Mapping
  readonly nowUs: number
}
