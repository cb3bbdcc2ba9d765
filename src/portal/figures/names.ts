import type { Period } from '../../measure/usage/calendar.ts'
import { requestsOf } from '../../measure/usage/sums.ts'
import type { TagDimension } from '../../measure/usage/tags.ts'
import { isZero, readNumber } from '../../money/rational.ts'
import { shortSql } from '../../report/usage/short-name.ts'
import { eachToken, type ShownToken, shownTokens } from '../../tokens/kinds.ts'
import { type Asked, conditionOf, dimensionSql, type Input, nameOf } from '../api/asked.ts'
import { readBefore } from './names-before.ts'
import { type Rows, within } from './rows.ts'
import {
  creditsOf,
  failedOf,
  moneyOf,
  orderSql,
  readFigures,
  readSums,
  withoutRefunds,
} from './sums.ts'

/** A name of a table with its sums. */
export interface NameRow {
  /** Null is without a name. */
  readonly name: string | null
  readonly requests: number | null
  /** Use without refunds in each unit of the table, decimal text; null without an amount in it. */
  readonly amounts: readonly (string | null)[]
  readonly tokens: Readonly<Record<ShownToken, number | null>>
  readonly failed: number | null
  /** Null if the period before is no measure. */
  readonly before: NameBefore | null
}

/** What a name used in the period before. */
export interface NameBefore {
  readonly requests: number | null
  /** As those of the row; 0 without a request. */
  readonly amounts: NameRow['amounts']
  /** Whether it was never used before. */
  readonly isNew: boolean
}

/** All that used something in a period, by model, key or tag: nothing is folded. */
export interface NamesTable {
  readonly by: 'model' | 'key' | TagDimension
  /** The rows are in the order of the first. */
  readonly units: readonly string[]
  readonly rows: readonly NameRow[]
  /** How many more there are: a table has at most a thousand rows. */
  readonly more: number
  /** 0 or less in each unit; null without an amount in it. */
  readonly refunds: readonly (string | null)[]
  readonly total: Omit<NameRow, 'before'>
}

const mostRows = 1000
const figuresOfRow = ['requests', 'requestsUnknown', 'failed', ...shownTokens] as const

export async function readNames(
  asked: Asked,
  by: NamesTable['by'],
  period: Period,
  query: Input<'summary'>,
  units: readonly string[],
): Promise<NamesTable> {
  const condition = await conditionOf(asked, query)
  const { from, where } = within(asked, period, condition)
  const partOf = (
    sums: Parameters<typeof creditsOf>[0],
    unit: string,
    part: 'used' | 'refunds',
  ): string | null =>
    unit === 'credits'
      ? creditsOf(sums, part)
      : (moneyOf(asked, sums, part).find(({ currency }) => currency === unit)?.value ?? null)
  const [unit] = units
  const order =
    unit === undefined ? 'requests' : orderSql(asked, unit === 'credits' ? 'credits' : 'cost', unit)
  const nameSql = by === 'model' ? shortSql('model') : dimensionSql(by)
  const sums = await readFigures<{ readonly name: string | null }, (typeof figuresOfRow)[number]>(
    asked,
    figuresOfRow,
    { from, where, by: { name: nameSql } },
    `ORDER BY ${order} DESC NULLS LAST, requests DESC, name LIMIT ${mostRows + 1}`,
  )
  const [all] = await readSums<object>(asked, { from, where })
  const names = sums.slice(0, mostRows).map(({ name }) => name)
  const beforeOf = await readBefore(asked, nameSql, period, condition, names)
  const namedBefore = (name: string | null): NameBefore | null => {
    if (beforeOf === null) return null
    const { sums: then, isNew } = beforeOf(name)
    const requests = then === null ? 0 : requestsOf(then)
    const own = then === null || requests === 0 ? null : withoutRefunds(then)
    return {
      ...{ requests, isNew },
      amounts: units.map((each) => (own === null ? '0' : partOf(own, each, 'used'))),
    }
  }
  const rowOf = (row: (typeof sums)[number]): Omit<NameRow, 'before'> => {
    return {
      name: row.name === null ? null : nameOf(asked, by, row.name),
      requests: requestsOf(row),
      amounts: units.map((each) => partOf(withoutRefunds(row), each, 'used')),
      tokens: eachToken((kind) => row[kind]),
      failed: failedOf(row),
    }
  }
  const rows = sums.map((row): NameRow => ({ ...rowOf(row), before: namedBefore(row.name) }))
  // A refund has no model and no key of its own: it is a line for itself.
  const shown = rows.filter(
    ({ name, requests, amounts }) =>
      name !== null ||
      (requests ?? 0) > 0 ||
      amounts.some((amount) => amount !== null && !isZero(readNumber(amount)!)),
  )
  const n = sums.length > mostRows ? await countOf(asked, by, from, where) : 0
  return {
    by,
    rows: shown.slice(0, mostRows),
    more: Math.max(0, n - mostRows),
    units,
    refunds: units.map((each) => partOf(all!, each, 'refunds')),
    total: {
      ...rowOf({ ...all!, name: null }),
      amounts: units.map((each) => partOf(all!, each, 'used')),
    },
  }
}

async function countOf(
  { session }: Asked,
  by: NamesTable['by'],
  from: Rows,
  where: string,
): Promise<number> {
  const column = dimensionSql(by)
  const [counted] = await session.rows<{ n: number }>(
    `SELECT count(DISTINCT ${column})::INTEGER AS n FROM ${from(`${column} ${where}`)} WHERE ${where}`,
  )
  return counted!.n
}
