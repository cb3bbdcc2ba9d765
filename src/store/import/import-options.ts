import type { Work } from '../../user/work.ts'
import type { DateOrder, DecimalMark, partPlaces, RepeatedTime } from './cell-formats.ts'
import type { LogFormat, Mapping } from './mapping.ts'
import type { LinePrices } from './price-lines.ts'
import type { RecordTool } from './records.ts'

export interface FileImport extends Work, Meaning {
  readonly file: string
  /** Files with the other pages of the same list. */
  readonly pages?: readonly string[]
  /** Maps columns to fields; not needed for known logs and records. */
  readonly mapping?: Mapping
  /** By content and name if absent. */
  readonly format?: LogFormat | RecordTool
  /**
   * The namespace of ids: the service that wrote the log. That of the mapping if absent, else `log`. It is never the
   * file's name, which changes when a log is rotated.
   */
  readonly source?: string
  /** For rejected lines; `FILE.rejects.jsonl` if absent. */
  readonly rejectsFile?: string
  /** Model of records that do not name one. */
  readonly model?: string
  /** Takes the whole lines of a file that ends in the middle, and pages without the others. */
  readonly partial?: boolean
  /** Says what would be imported, and enters nothing. */
  readonly check?: boolean
  /** Prices of lines without a cost. */
  readonly prices?: LinePrices
}

/** What a file leaves open. Each of these replaces that of the mapping. */
export interface Meaning {
  /** The width of sums: `1d`. */
  readonly bucket?: string
  readonly decimal?: DecimalMark
  readonly dateOrder?: DateOrder
  /** The zone of times without an offset. */
  readonly timezone?: string
  readonly ambiguous?: RepeatedTime
  /** Whether the tokens of the input contain cached ones. */
  readonly cached?: (typeof partPlaces)[number]
  /** Where a line has own dimensions, by their names. */
  readonly tags?: NonNullable<Mapping['tags']>
}
