import { z } from 'zod'
import { quarterUs } from '../../measure/usage/quantities.ts'
import { absolute, readNumber } from '../../money/rational.ts'
import { heldEntries } from '../../store/import/entry-types.ts'
import { literal } from '../../store/literal.ts'
import type { BurnOrder, Holdings, Lot, Taken } from './ledger.ts'

/** A row of an import that gives or takes credits, or prepaid money. */
export interface HeldRow {
  readonly source: string
  readonly id: string
  /** Unix microseconds. */
  readonly at_us: number
  readonly type: string
  readonly credits: string
  readonly unit: string
  /** As `usage_events` has them. */
  readonly terms: string | null
}

/** SQL for the rows of an import that give or take credits or prepaid money, with their account. Both engines read it. @param from with the columns of `usage_events` */
export const heldRowsSql = (from: string) =>
  `SELECT account, source, id, at_us, type, credits, unit, terms FROM ${from}
   WHERE type IN (${heldEntries.map(literal).join(', ')}) AND credits IS NOT NULL`

const termsShape = z.object({
  name: z.string().nullish(),
  expiresUs: z.number().nullish(),
  priority: z.int().nullish(),
  models: z.string().nullish(),
  refersTo: z.string().nullish(),
})

/**
 * What an account got by its imported rows. A grant, a purchase or a gift is a lot from its time until it expires; an expiry takes its
 * amount from the grant that it names (by its id, or by what both refer to), else from those that state no expiry. Use is summed by
 * quarters of an hour, so a lot begins with its quarter, and what expires or is taken does so at the end of one.
 *
 * Where rows give credits, amounts of money are what was paid for them. Where none does, money is a balance of its own, if it is of one currency.
 *
 * @param rows of one account
 * @returns null without a row that gives something, or if that is money of several currencies
 */
export function holdingsOfRows(rows: readonly HeldRow[], burnOrder: BurnOrder): Holdings | null {
  const read = rows
    .map((row) => ({ ...row, amount: absolute(readNumber(row.credits)!), own: termsOf(row) }))
    .toSorted(
      (a, b) => a.at_us - b.at_us || compareText(a.source, b.source) || compareText(a.id, b.id),
    )
  const units = new Set(read.flatMap(({ type, unit }) => (type === 'expiry' ? [] : [unit])))
  const [unit] = units.has('credits') ? ['credits'] : units
  if (unit === undefined || (unit !== 'credits' && units.size > 1)) return null
  const counted = read.filter((row) => row.unit === unit)
  const giving = counted.filter(({ type }) => type !== 'expiry')
  const places = new Map<string, number>()
  for (const [at, { source, id, own }] of giving.entries())
    for (const name of [own.refersTo, id]) if (name) places.set(keyOf(source, name), at)
  return {
    unit,
    burnOrder,
    asOfUs: null,
    lots: giving.map(({ type, at_us, amount, own }): Lot => {
      const fromUs = Math.floor(at_us / quarterUs) * quarterUs
      return {
        name: own.name ?? type,
        credits: amount,
        fromUs,
        expiresUs: own.expiresUs ? endOfQuarter(own.expiresUs) : null,
        priority: own.priority ?? 0,
        models: modelsOf(own.models ?? ''),
      }
    }),
    taken: counted
      .filter(({ type }) => type === 'expiry')
      .map(
        ({ source, at_us, amount, own }): Taken => ({
          atUs: endOfQuarter(at_us),
          credits: amount,
          lot: places.get(keyOf(source, own.refersTo ?? '')) ?? null,
        }),
      ),
  }
}

const termsOf = ({ terms }: HeldRow) => (terms === null ? {} : termsShape.parse(JSON.parse(terms)))
const keyOf = (source: string, name: string) => JSON.stringify([source, name])
const endOfQuarter = (us: number) => Math.ceil(us / quarterUs) * quarterUs
const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** Names of a JSON list, or between commas; null for none. */
function modelsOf(text: string): readonly string[] | null {
  const listed = text.startsWith('[') ? z.array(z.string()).safeParse(parsed(text)).data : undefined
  const names = (listed ?? text.split(',')).map((name) => name.trim()).filter((name) => name !== '')
  return names.length === 0 ? null : names
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
