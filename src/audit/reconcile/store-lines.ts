import { type Rational, readNumber } from '../../money/rational.ts'
import type { Reader } from '../../store/session/session.ts'
import { eachKind, type KindCounts, tokenKinds, tokenNames } from '../../tokens/kinds.ts'
import { UserError } from '../../user/user-error.ts'
import { amountOf } from '../evidence/prices/answer-json.ts'
import type { BillLine, LogLine } from './lines.ts'

/** A bill or a log that was imported. */
export interface StoreSource {
  readonly store: Reader
  readonly source: string
}

interface Row extends KindCounts {
  readonly id: string | null
  readonly at_us: number
  readonly end_us: number | null
  readonly model: string | null
  readonly account: string | null
  readonly type: string
  readonly outcome: string
  /** An exact decimal; null if the source did not state it. */
  readonly stated: string | null
  readonly unit: string
  readonly requests: number | null
}

/** Amounts that prices gave are none that a bill or a log states. */
const columnsSql = `model, account, outcome,
  CASE WHEN priced_by IS NULL THEN trim(rtrim(credits::DECIMAL(38, 18)::VARCHAR, '0'), '.') END AS stated, unit, requests,
  ${tokenNames.map((name) => `${tokenKinds[name].column} AS "${name}"`).join(', ')}`

const pageRows = 50_000

/** The lines of a source that count: sums first, then single lines, some at a time. */
async function* pagesOf({ store, source }: StoreSource): AsyncGenerator<readonly Row[]> {
  // The identity of a sum is made by the store: nobody else names it.
  const sums = await store.rows<Row>(
    `SELECT NULL AS id, start_us AS at_us, end_us, 'usage' AS type, ${columnsSql}
     FROM usage_buckets WHERE source = $1 AND replaced_by IS NULL`,
    [source],
  )
  if (sums.length > 0) yield sums
  for (let after = -1; ; ) {
    const lines = await store.rows<Row & { readonly place: number }>(
      `SELECT rowid AS place, id, at_us, NULL AS end_us, type::VARCHAR AS type, ${columnsSql}
       FROM usage_events WHERE source = $1 AND rowid > $2 ORDER BY rowid LIMIT ${pageRows}`,
      [source, BigInt(after)],
    )
    if (lines.length === 0) return
    yield lines
    after = lines.at(-1)!.place
  }
}

const placeOf = ({ id, at_us, model, account }: Row) => ({
  id,
  account,
  model: model ?? '',
  day: new Date(Math.floor(at_us / 1000)).toISOString().slice(0, 10),
})

function countsOf(row: Row): KindCounts | null {
  const counts = eachKind((name) => row[name])
  return Object.values(counts).some((count) => count !== null) ? counts : null
}

/** The lines of an imported bill. */
export async function* storedBill(bill: StoreSource) {
  for await (const rows of pagesOf(bill)) {
    yield rows.map((row) => {
      const amount = amountOf(row.stated ?? undefined)
      if (amount === null) return 'no amount' as const
      const { type, requests, unit } = row
      const line: BillLine = {
        ...placeOf(row),
        type,
        amount: amount.value,
        requests,
        counts: countsOf(row),
      }
      return { line, unit, decimals: amount.decimals }
    })
  }
}

/** A line of an imported log, as prices need it. */
export interface StoredUse {
  readonly model: string
  readonly atUs: number
  readonly endUs: number | null
  readonly outcome: string
  readonly requests: number | null
  readonly counts: KindCounts | null
}

/** The requests of an imported log. An amount in another unit than that of the contract is none. */
export async function* storedLog(
  log: StoreSource,
  unit: string,
  costOf: (use: StoredUse) => Rational | null,
): AsyncGenerator<readonly LogLine[]> {
  for await (const rows of pagesOf(log)) {
    yield rows
      .filter(({ type }) => type === 'usage')
      .map((row): LogLine => {
        const { at_us: atUs, end_us: endUs, outcome, requests, stated } = row
        const [place, counts] = [placeOf(row), countsOf(row)]
        return {
          ...place,
          counts,
          logged: row.unit === unit && stated !== null ? readNumber(stated) : null,
          expected: costOf({ model: place.model, atUs, endUs, outcome, requests, counts }),
        }
      })
  }
}

/** How many lines a source has, to know what fits in memory. */
export async function storedLines({ store, source }: StoreSource): Promise<number> {
  const [counted] = await store.rows<{ n: number }>(
    `SELECT (SELECT count(*) FROM usage_events WHERE source = $1)
       + (SELECT count(*) FROM usage_buckets WHERE source = $1 AND replaced_by IS NULL) AS n`,
    [source],
  )
  return counted!.n
}

/** What a reader must know of an imported bill: the store has each id once. */
export async function notesOfStored({ store, source }: StoreSource): Promise<readonly string[]> {
  const [found] = await store.rows<{ n: number }>(
    'SELECT coalesce(sum(duplicates), 0)::BIGINT AS n FROM usage_imports WHERE source = $1',
    [source],
  )
  if (found!.n === 0) return []
  const lines = found!.n === 1 ? '1 line' : `${found!.n} lines`
  return [
    `The bill: ${lines} of its imports repeated what the store had, and count once. To see a request that is charged twice, name the file in place of the source.`,
  ]
}

/**
 * An imported source by its name.
 *
 * @param option that named it, for the error
 * @throws UserError if the store has no such source
 */
export async function sourceNamed(
  store: Reader,
  source: string,
  option: string,
): Promise<StoreSource> {
  const sources = await store.rows<{ source: string }>(
    'SELECT DISTINCT source FROM usage_imports ORDER BY source',
  )
  if (sources.some((each) => each.source === source)) return { store, source }
  const known = sources.map((each) => each.source).join(', ')
  throw new UserError(
    'usage',
    `${option} ${source}: no such file, and no source of the store. ${known === '' ? 'The store has no imported log: assay import FILE enters one.' : `Its sources are ${known}.`}`,
  )
}
