import { literal } from '../literal.ts'
import { type CellFormats, type DecimalMark, numberSql } from './cell-formats.ts'
import { exactJsonSql } from './exact-json.ts'
import type { FieldName, Mapping } from './mapping.ts'
import { type Column, type ColumnReader, exactColumn, placeSql } from './places.ts'
import { absentField, type StagedField, uncheckedField } from './staged-field.ts'

/** Names and ids are whole or refused: two that differ later would become one. */
export const longestName = 200
/** Words that explain an error are cut. */
const longestWords = 200

/** Words for a value that is not known, as databases and data frames write it. An empty cell is another. */
const unknownWords = ['null', 'n/a', 'na', 'nan', 'none', '-', '–', '—', '\\n', '(null)', '<na>']

/**
 * SQL: whether a text is one of these words. DuckDB turns an `IN` of more than five words into a join, which costs a
 * quarter of an import.
 */
export const isOneOf = (text: string, words: readonly string[]) =>
  `list_contains([${words.map(literal).join()}], ${text})`

/** SQL: whether a text says anything. */
export const isGivenSql = (text: string) =>
  `CASE WHEN ${text} IS NULL THEN false ELSE NOT ${isOneOf(`lower(${text})`, unknownWords)} END`

/** Fields with a cell of one text; the others are times, durations, or ids of several columns. */
export type CellField = Exclude<
  FieldName,
  'id' | 'time' | 'end' | 'version' | 'expires' | 'ttft' | 'latency'
>

/** What the values of a column of numbers must be. */
interface Numbers {
  readonly column: string
  readonly field: CellField
  /** DuckDB's type of the column. */
  readonly type: string
  readonly expected: string
  /** SQL: whether a number is none of the expected. */
  isOutside(sql: string): string
}

/** Writes the SQL of single fields of a mapping. */
export class FieldSql {
  readonly #fields: Mapping['fields']
  readonly #reader: ColumnReader
  readonly #formats: CellFormats

  constructor({ fields }: Mapping, reader: ColumnReader, formats: CellFormats) {
    this.#fields = fields
    this.#reader = reader
    this.#formats = formats
  }

  isMapped(field: CellField): boolean {
    return this.#fields[field] !== undefined
  }

  /** The text of a cell, also an empty one. `NULL` for a field without a place. */
  text(field: CellField): string {
    const place = this.#fields[field]
    return place === undefined ? 'NULL' : placeSql(place, this.#reader)
  }

  /** The text of a cell; null for an empty one. */
  cell(field: CellField): string {
    return this.isMapped(field) ? `nullif(${this.text(field)}, '')` : 'NULL'
  }

  /** Whether a cell says anything. */
  isGiven(field: CellField): string {
    return isGivenSql(this.cell(field))
  }

  /** A column of names or ids, each whole or refused. */
  name(column: string, field: CellField, longest = longestName): StagedField {
    if (!this.isMapped(field)) return absentField(column, 'VARCHAR')
    return {
      name: column,
      sql: this.cell(field),
      observed: this.cell(field),
      // `length` counts characters, which is slow; most names have fewer bytes than they may have characters.
      wrong: `CASE WHEN strlen(${column}) > ${longest} THEN length(${column}) > ${longest} ELSE false END`,
      expected: `at most ${longest} characters`,
    }
  }

  /** A column of words that explain something, which may be cut. */
  words(column: string, field: CellField): StagedField {
    const place = this.#fields[field]
    if (place === undefined) return absentField(column, 'VARCHAR')
    const cut = `left(${this.cell(field)}, ${longestWords})`
    // `left` counts characters, which is slow; most texts have fewer bytes than that.
    const sql =
      typeof place === 'string'
        ? `CASE WHEN strlen(${this.text(field)}) > ${longestWords} THEN ${cut} ELSE ${this.cell(field)} END`
        : cut
    return { ...uncheckedField(column, sql), isSame: false }
  }

  /** Whether the log has numbers of a type that loses nothing. */
  isExact(field: CellField): boolean {
    return exactColumn(this.#fields[field], this.#reader) !== null
  }

  /** A number: the column itself if its numbers are exact, else its plain text. Only cells have another decimal mark than a point. */
  number(field: CellField): string {
    const place = this.#fields[field]
    const reader = this.#reader
    const exact = exactColumn(place, reader)
    if (exact !== null || place === undefined) return exact?.sql ?? 'NULL'
    const { decimal } = this.#formats
    const marked = (column: Column, mark: DecimalMark) => {
      const text = reader.text(column)
      const plain = numberSql(text, mark)
      return reader.isNumber === undefined
        ? plain
        : `CASE WHEN ${reader.isNumber(column)} THEN ${text} ELSE ${plain} END`
    }
    const value = placeSql(place, reader, {
      ...(decimal === null ? {} : { cell: (column) => marked(column, decimal) }),
      // Counts are shorter.
      ...(field === 'credits' ? { json: exactJsonSql } : {}),
    })
    return `nullif(${value}, '')`
  }

  numbers({ column, field, type, expected, isOutside }: Numbers): StagedField {
    if (!this.isMapped(field)) return absentField(column, type)
    const number = this.number(field)
    const exact = exactColumn(this.#fields[field], this.#reader)
    // A cast rounds. CASE, because OR computes both of its sides for all rows, and a decimal of 38 digits is slow.
    const isRounded = exact
      ? exact.isWhole
        ? 'false'
        : `${number} <> trunc(${number})`
      : `CASE WHEN contains(${number}, '.') OR contains(${number}, '-') THEN TRY_CAST(${number} AS DECIMAL(38, 18)) <> ${column} ELSE false END`
    return {
      name: column,
      sql: `TRY_CAST(${number} AS ${type})`,
      wrong: `CASE WHEN ${column} IS NULL THEN ${this.isGiven(field)} ELSE ${isOutside(column)} OR ${isRounded} END`,
      expected,
      observed: this.cell(field),
    }
  }

  counts(column: string, field: CellField): StagedField {
    return this.numbers({
      ...{ column, field, type: 'BIGINT', expected: 'a whole number, 0 or more' },
      isOutside: (sql) => `${sql} < 0`,
    })
  }
}
