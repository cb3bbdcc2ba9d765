import { textList } from '../../store/literal.ts'
import type { Session } from '../../store/session/session.ts'
import { userError } from '../../user/user-error.ts'
import type { UsageEngine } from './engine/engine.ts'
import * as queries from './engine/queries.ts'
import type { UsageOptions, UsageScope } from './shape.ts'

type Source = UsageScope['sources'][number]

/**
 * Looks for imported sources that state the same use: a bill beside a log with amounts in one unit at the same time, and logs that
 * have ids of requests in common. Nobody's use is added twice without a word.
 *
 * @returns sentences, if whoever asks has named the sources
 * @throws UserError `report` that names the sources, if he has not
 */
export async function sameUse(
  session: Session,
  engine: UsageEngine,
  options: UsageOptions,
  sources: readonly Source[],
): Promise<readonly string[]> {
  const imports = sources.filter(({ origin }) => origin === 'import')
  const pairs = imports.flatMap((a, at) =>
    imports.slice(at + 1).flatMap((b) => {
      const [fromUs, toUs] = [Math.max(a.firstUs, b.firstUs), Math.min(a.lastUs, b.lastUs)]
      return fromUs > toUs ? [] : [{ a, b, fromUs, toUs }]
    }),
  )
  if (pairs.length === 0) return []
  await engine.fill(session, 'usage_billing_sources', queries.billingSources)
  const bills = await session.rows<{ source: string }>('FROM usage_billing_sources')
  const isBill = ({ source }: Source) => bills.some((bill) => bill.source === source)
  const found: string[] = []
  for (const { a, b, fromUs, toUs } of pairs) {
    const [bill, log] = isBill(a) ? [a, b] : [b, a]
    if (isBill(bill) && !isBill(log)) {
      const [unit] = await unitsInCommon(session, a.source, b.source)
      if (unit === undefined) continue
      found.push(
        `The bill "${bill.source}" and the log "${log.source}" both have amounts in ${unit} of the same days: requests in both count twice.`,
      )
      continue
    }
    if (isBill(bill) || !engine.holdsRequests) continue
    const example = await sameId(session, engine, [a.source, b.source], [fromUs, toUs])
    if (example === null) continue
    const names = [a.source, b.source].toSorted().map((name) => `"${name}"`)
    found.push(
      `The logs ${names.join(' and ')} name the same requests, such as ${example}: requests in both count twice.`,
    )
  }
  const [first] = found
  if (first === undefined || options.sources.length > 1) return found
  throw userError.report(
    `${first} Show one of them with --source, lay them side by side with assay usage reconcile, or name both with --source to add them.`,
  )
}

/** Units in which both have amounts at a time that both cover. Read from the table of what is covered. */
async function unitsInCommon(session: Session, a: string, b: string): Promise<readonly string[]> {
  const rows = await session.rows<{ unit: string }>(
    `WITH amounts AS (
       SELECT source, unit, min(first_us) AS first_us, max(last_us) AS last_us
       FROM usage_coverage WHERE origin = 'import' AND amounts > 0 GROUP BY source, unit)
     SELECT one.unit FROM amounts AS one JOIN amounts AS other USING (unit)
     WHERE one.source = $1 AND other.source = $2
       AND one.first_us <= other.last_us AND other.first_us <= one.last_us
     ORDER BY one.unit`,
    [a, b],
  )
  return rows.map(({ unit }) => unit)
}

/** An id that both logs have, or null. */
async function sameId(
  session: Session,
  engine: UsageEngine,
  logs: readonly [string, string],
  [fromUs, toUs]: readonly [number, number],
): Promise<string | null> {
  await session.execute(`
    SET VARIABLE usage_two_logs = ${textList(logs)};
    SET VARIABLE usage_both_from = ${fromUs}::BIGINT;
    SET VARIABLE usage_both_to = ${toUs}::BIGINT;
  `)
  await engine.fill(session, 'usage_same_ids', queries.sameIds)
  const [row] = await session.rows<{ same: number; example: string }>('FROM usage_same_ids')
  return row === undefined || row.same === 0 ? null : row.example
}
