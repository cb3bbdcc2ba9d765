import { tagOf } from '../../measure/usage/tags.ts'
import { decimalText, readNumber, subtract } from '../../money/rational.ts'
import { sharesOf } from '../../report/usage/board/sums.js'
import type { NameRow, NamesTable } from '../figures/names.ts'
import type { Speech } from './speech.ts'

/** The amounts of a unit as they are written: of each row, of the refunds, and their sum. */
export interface Column {
  readonly unit: string
  /** Its place in the units of the table. */
  readonly at: number
  readonly written: readonly string[]
  /** Null without refunds. */
  readonly refund: string | null
  readonly sum: string
}

/** The units of a table that something has an amount in. */
export function columnsOf(
  { units, rows, refunds, total }: NamesTable,
  speech: Speech,
): readonly Column[] {
  return units.flatMap((unit, at) => {
    const all = total.amounts[at]!
    if (all === null) return []
    const { column } = speech.amounts(unit)
    const amounts = rows.map((row) => row.amounts[at]!)
    const refund = refunds[at]!
    const isRefunded = refund !== null && Number(refund) !== 0
    const written = column([...amounts, ...(isRefunded ? [refund] : [])], all)
    return [
      {
        unit,
        at,
        written,
        refund: isRefunded ? written.at(-1)! : null,
        sum: column([...amounts, all], null).at(-1)!,
      },
    ]
  })
}

/** One of the names that used most. */
export interface TopName {
  readonly row: NameRow
  /** Its amount in the first unit of the table; its requests if nothing has an amount. */
  readonly written: string
  /** The same with its unit, or that it is requests. */
  readonly said: string
  /** The same as a number. */
  readonly amount: number
  /** Of what was used, without refunds. */
  readonly share: number
}

/** The first names of a table, by an amount. @param by default: the first unit with an amount; requests if there is none */
export function topNames(
  table: NamesTable,
  most: number,
  speech: Speech,
  by: Column | undefined = columnsOf(table, speech)[0],
): readonly TopName[] {
  const { rows, refunds, total } = table
  const size = ({ amounts, requests }: NameRow) =>
    by === undefined ? (requests ?? 0) : Number(amounts[by.at] ?? 0)
  const whole =
    by === undefined
      ? (total.requests ?? 0)
      : Number(withoutRefunds(total.amounts[by.at]!, refunds[by.at]!))
  const shares = sharesOf(rows.map(size), whole)
  // The rows are in the order of the first unit.
  const places = [...rows.keys()]
  if (by !== undefined && by.at > 0) places.sort((a, b) => size(rows[b]!) - size(rows[a]!) || a - b)
  return places.slice(0, most).map((at) => {
    const row = rows[at]!
    return {
      row,
      amount: size(row),
      written: by === undefined ? countOf(row.requests, speech) : by.written[at]!,
      said:
        by !== undefined
          ? speech.amount(by.unit, row.amounts[by.at]!)
          : row.requests === null
            ? '–'
            : speech.say('card.count', { requests: row.requests }),
      share: shares[at]!,
    }
  })
}

export const countOf = (value: number | null, { number }: Speech) =>
  value === null ? '–' : number(value)

export const withoutRefunds = (used: string, refunds: string | null) =>
  refunds === null ? used : decimalText(subtract(readNumber(used)!, readNumber(refunds)!))

/** What the names of a table are: a model, a key, or the name of a tag. */
export function whatOf({ by }: Pick<NamesTable, 'by'>, { say, tag }: Speech): string {
  const name = tagOf(by)
  return name !== null ? tag(name) : say(by === 'model' ? 'board.model' : 'board.key')
}

/** A name, or that there is none. */
export const nameIn = (table: Pick<NamesTable, 'by'>, name: string | null, speech: Speech) =>
  name ?? speech.say('table.unnamed', { what: whatOf(table, speech) })
