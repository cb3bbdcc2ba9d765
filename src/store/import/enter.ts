import { basename } from 'node:path'
import { lookup } from '../../user/lookup.ts'
import { hasRows, hasTable } from '../has-rows.ts'
import { insertRow } from '../insert-row.ts'
import { literal } from '../literal.ts'
import type { Session } from '../session/session.ts'
import { content, stagedContent } from './content.ts'
import { hasReferrals } from './known.ts'
import { enterLastFours } from './last-fours.ts'
import { type LinePrices, pricedUnitSql } from './price-lines.ts'
import { hasErrors } from './rejects.ts'
import { refersToSql } from './settle-types.ts'
import { creditsTypes, stagedCredits } from './staged-credits.ts'
import type { StagedLog } from './staged-log.ts'
import { compareStatements, enterStatements } from './statements.ts'
import { refuseHalfLedger } from './whole-ledger.ts'

interface EnteredLog extends StagedLog {
  readonly isPartial: boolean
  readonly check?: boolean
  readonly prices?: LinePrices
}

interface Entered {
  readonly counts: {
    readonly lines: number
    readonly accepted: number
    readonly duplicates: number
    readonly rejected: number
  }
  readonly notes: readonly string[]
}

/** Enters the staged lines that are new, in one transaction. */
export async function enter(session: Session, log: EnteredLog): Promise<Entered> {
  const [number] = await session.rows<{ next: number }>(
    'SELECT coalesce(max(import_no), 0) + 1 AS next FROM usage_imports',
  )
  const importNo = number!.next
  const nowUs = BigInt(Math.round(log.nowUs))
  const staged = await countStaged(session)
  await refuseHalfLedger(session, log.file)
  const notes = [...(await notesOf(session, log.prices))]
  const dimensions = staged.buckets > 0 ? await compareStatements(session, log) : ''
  await session.execute('BEGIN')
  try {
    if (staged.buckets < staged.lines - staged.refused)
      await enterEvents(session, log, importNo, nowUs)
    const stated =
      staged.buckets > 0
        ? await enterStatements(session, log.source, dimensions, importNo, nowUs)
        : { known: 0, notes: [] as readonly string[] }
    for (const each of stated.notes) notes.push(each)
    await enterLastFours(session)
    const duplicates = staged.known + stated.known
    const counts = {
      lines: staged.lines + staged.unreadable,
      accepted: staged.lines - staged.refused - staged.differing - duplicates,
      duplicates,
      rejected: staged.refused + staged.differing + staged.unreadable,
    }
    await recordImport(session, log, importNo, nowUs, counts, staged)
    for (const each of await setsAside(session, log.source)) notes.push(each)
    await session.execute(log.check === true ? 'ROLLBACK' : 'COMMIT')
    return { counts, notes }
  } catch (error) {
    // A transaction that could not be committed has ended.
    await session.execute('ROLLBACK').catch(() => {})
    throw error
  }
}

/** How many staged lines there are of each kind. */
interface StagedCounts {
  /** Lines that could be read. */
  readonly lines: number
  /** Those of them that were refused, with a reason. */
  readonly refused: number
  /** Those that the store has already, and those that contradict what it has. */
  readonly known: number
  readonly differing: number
  /** Lines that could not be read. */
  readonly unreadable: number
  /** Lines that state a sum over an interval. */
  readonly buckets: number
  readonly fromUs: number | null
  readonly toUs: number | null
}

async function countStaged(session: Session): Promise<StagedCounts> {
  const unreadable = (await hasErrors(session))
    ? '(SELECT count(DISTINCT line) FROM import_errors)'
    : '0'
  const [counts] = await session.rows<StagedCounts>(
    `SELECT count(*) AS lines, count(*) FILTER (WHERE reason IS NOT NULL) AS refused,
       (SELECT count(*) FROM staging.known WHERE how IN ('known', 'older')) AS known,
       (SELECT count(*) FROM staging.known WHERE how = 'differs') AS differing,
       ${unreadable} AS unreadable, count(end_us) FILTER (WHERE reason IS NULL) AS buckets,
       min(at_us) FILTER (WHERE reason IS NULL) AS "fromUs",
       max(coalesce(end_us, at_us + 1)) FILTER (WHERE reason IS NULL) AS "toUs"
     FROM staging.lines`,
  )
  return counts!
}

function recordImport(
  session: Session,
  { source, file, format, mapping, isPartial }: EnteredLog,
  importNo: number,
  nowUs: bigint,
  { lines, accepted, duplicates, rejected }: Entered['counts'],
  { fromUs, toUs }: StagedCounts,
): Promise<void> {
  return insertRow(session, 'usage_imports', {
    import_no: importNo,
    source,
    file: basename(file),
    format,
    mapping_json: JSON.stringify(mapping),
    imported_us: nowUs,
    ...{ lines, accepted, duplicates, rejected },
    from_us: fromUs === null ? null : BigInt(fromUs),
    to_us: toUs === null ? null : BigInt(toUs),
    is_partial: isPartial,
  })
}

async function enterEvents(
  session: Session,
  log: EnteredLog,
  importNo: number,
  nowUs: bigint,
): Promise<void> {
  const { source, prices } = log
  const [known] = await session.rows<{ n: number; corrects: number }>(
    `SELECT count(*) AS n, count(*) FILTER (WHERE how = 'corrects') AS corrects FROM staging.known`,
  )
  if (known!.corrects > 0) {
    await session.execute(
      `DELETE FROM usage_events WHERE source = $1 AND id IN (
         SELECT id FROM staging.lines WHERE rowid IN (SELECT line_no FROM staging.known WHERE how = 'corrects'))`,
      [source],
    )
  }
  const credits = await storedCredits(session)
  const unit = pricedUnitSql(prices?.unit)
  const staged = stagedContent(credits, unit)
  const isNew = `reason IS NULL AND end_us IS NULL
    ${known!.n > 0 ? `AND rowid NOT IN (SELECT line_no FROM staging.known WHERE how <> 'corrects')` : ''}`
  await session.execute(
    `INSERT INTO usage_events (source, id, ingested_us, import_no, version_us, priced_by, ${content.join(', ')})
     SELECT $1, id, $2, $3, version_us, priced_by, ${staged.join(', ')} FROM staging.lines WHERE ${isNew}`,
    [source, nowUs, importNo],
  )
  await session.execute(
    `INSERT OR IGNORE INTO usage_event_days
     SELECT DISTINCT $1, at_us // 86400000000 FROM staging.lines WHERE ${isNew} AND coalesce(type, 'usage') = 'usage'`,
    [source],
  )
  if (prices !== undefined && known!.n > 0) await priceKnown(session, source, credits, unit)
  await settleReferrals(session, log, importNo, isNew)
}

/**
 * Keeps which requests the new amounts without a type refund, and makes refunds of those whose request is in this
 * import: so it does not matter in which order the files of a ledger come.
 */
async function settleReferrals(
  session: Session,
  { source, mapping }: StagedLog,
  importNo: number,
  isNew: string,
): Promise<void> {
  if (await hasTable(session, 'unsettled')) {
    await session.execute(
      `INSERT INTO usage_referrals BY NAME SELECT $1 AS source, id, ${refersToSql(mapping)} AS refers_to FROM staging.lines
       WHERE ${isNew} AND rowid IN (FROM staging.unsettled)`,
      [source],
    )
  }
  if (!(await hasReferrals(session, source))) return
  const settled = await session.rows<{ id: string }>(
    `SELECT id FROM usage_referrals WHERE source = $1
       AND refers_to IN (SELECT id FROM usage_events WHERE source = $1 AND import_no = $2)`,
    [source, importNo],
  )
  if (settled.length === 0) return
  const ids = settled.map(({ id }) => literal(id)).join()
  await session.execute(`
    UPDATE usage_events SET type = 'refund' WHERE source = ${literal(source)} AND type = 'adjustment' AND id IN (${ids});
    DELETE FROM usage_referrals WHERE source = ${literal(source)} AND id IN (${ids})`)
}

/** Gives known lines whose cost is not logged the cost by these prices, which may be newer. */
function priceKnown(
  session: Session,
  source: string,
  credits: string,
  unit: string,
): Promise<void> {
  return session.execute(
    `UPDATE usage_events SET credits = priced.credits, unit = priced.unit, priced_by = priced.priced_by
     FROM (SELECT id, ${credits} AS credits, ${unit} AS unit, priced_by FROM staging.lines
           WHERE priced_by IS NOT NULL AND rowid IN (SELECT line_no FROM staging.known WHERE how = 'known')) AS priced
     WHERE usage_events.source = ${literal(source)} AND usage_events.id = priced.id
       AND (usage_events.credits IS NULL OR usage_events.priced_by IS NOT NULL)`,
  )
}

/**
 * The staged credits in the store's type. 64 bits suffice for most logs; they take a third of the space and add up
 * faster. The first log with finer or larger credits widens the column.
 */
async function storedCredits(session: Session): Promise<string> {
  const wide = 'staging.lines WHERE reason IS NULL AND credits_wide IS NOT NULL'
  if (!(await hasRows(session, wide))) return 'credits'
  const [stored] = await session.rows<{ type: string }>(
    `SELECT column_type AS type FROM (DESCRIBE usage_events) WHERE column_name = 'credits'`,
  )
  // Each change of the type rewrites the whole table.
  if (stored!.type !== creditsTypes.any) {
    await session.execute(`ALTER TABLE usage_events ALTER credits TYPE ${creditsTypes.any}`)
  }
  return stagedCredits
}

/** What a log has beside usage: entries of a ledger, and several units. */
async function notesOf(
  session: Session,
  prices: LinePrices | undefined,
): Promise<readonly string[]> {
  const types = await session.rows<{ type: string; unit: string; n: number; sum: string }>(
    `SELECT type, unit, count(*) AS n, trim(sum(${stagedCredits})::VARCHAR, '') AS sum
     FROM staging.lines WHERE reason IS NULL AND type IS NOT NULL AND type NOT IN ('usage', 'refund')
     GROUP BY ALL ORDER BY ALL`,
  )
  const units = await session.rows<{ unit: string }>(
    `SELECT DISTINCT ${pricedUnitSql(prices?.unit)} AS unit FROM staging.lines WHERE reason IS NULL AND ${stagedCredits} IS NOT NULL ORDER BY unit`,
  )
  return [
    ...types.map(
      ({ type, unit, n, sum }) => `${n} ${type}${n === 1 ? '' : 's'}, ${plain(sum)} ${unit}`,
    ),
    ...(units.length > 1
      ? [
          `${units.length} units: ${units.map(({ unit }) => unit).join(', ')}; they are not added up`,
        ]
      : []),
  ]
}

/** A decimal without zeros at its end. */
const plain = (decimal: string) => (decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal)

/** Statements that describe the same requests as others of the source, and so do not count. */
async function setsAside(session: Session, source: string): Promise<readonly string[]> {
  // To plan the view takes ten times as long as to learn that the source has no buckets.
  const [bucket] = await session.rows('FROM usage_statements WHERE source = $1 LIMIT 1', [source])
  if (bucket === undefined) return []
  const sets = await session.rows<{ dimensions: string; n: number; replaced_by: string }>(
    `SELECT dimensions, count(*) AS n, replaced_by FROM usage_buckets
     WHERE source = $1 AND replaced_by IS NOT NULL GROUP BY ALL ORDER BY ALL`,
    [source],
  )
  const words: Readonly<Record<string, string>> = lookup({
    events: 'the requests of the same days count',
    finer: 'finer ones of the same time count',
    wider: 'wider ones count, which cover the time to its end',
  })
  return sets.map(
    ({ dimensions, n, replaced_by }) =>
      `${n.toLocaleString('en-US')} ${n === 1 ? 'bucket' : 'buckets'} of ${source} by ${dimensions.replaceAll(',', ', ') || 'nothing'} ${n === 1 ? 'is' : 'are'} not added: ${words[replaced_by]}`,
  )
}
