import { tokenColumns } from '../../measure/usage/quantities.ts'
import { literal, textList } from '../literal.ts'
import type { Session } from '../session/session.ts'
import { heldEntries } from './entry-types.ts'
import type { Mapping } from './mapping.ts'
import { storeColumns } from './staged-lines.ts'
import type { StagedLog } from './staged-log.ts'

/**
 * Gives each line its type, and each amount the sign of its type: a refund and an expiry reduce, whatever sign they are
 * written with. Only usage is a request with tokens. A line with another type is an entry of a ledger at its start, also if
 * it has an end; that of a bill replaces the same charge of an earlier export.
 */
export async function settleTypes(
  session: Session,
  { source, mapping, nowUs }: StagedLog,
): Promise<void> {
  const [row] = await session.rows<{ signed: boolean }>(
    `SELECT count(*) > 0 AS signed FROM staging.lines WHERE credits < 0 OR credits_wide < 0 OR type <> 'usage'`,
  )
  if (!row!.signed) return
  await storeColumns(session, [
    'type',
    'end_us',
    'refers_to',
    'credits',
    'credits_wide',
    'requests',
    ...tokenColumns,
    ...(mapping.identified === true ? ['version_us'] : []),
  ])
  const refersTo = refersToSql(mapping)
  const referred = `${refersTo} IN (SELECT id FROM staging.lines)
    OR ${refersTo} IN (SELECT id FROM usage_events WHERE source = ${literal(source)})`
  const negative = '(credits < 0 OR credits_wide < 0)'
  // Bills state negative use: a refund, or an adjustment.
  const untyped = `coalesce(type, 'usage') = 'usage' AND end_us IS NULL AND ${negative}`
  await session.execute(`
    CREATE TABLE staging.unsettled AS
    SELECT rowid AS line_no FROM staging.lines WHERE ${untyped} AND ${refersTo} IS NOT NULL AND NOT (${referred});
    UPDATE staging.stored AS lines SET type = CASE WHEN ${referred} THEN 'refund' ELSE 'adjustment' END
    WHERE ${untyped};
    UPDATE staging.stored AS lines
    SET reason = type || ': expected an amount of 0 or more, got ' || regexp_replace(coalesce(credits, credits_wide)::VARCHAR, '\\.?0+$', '')
    WHERE reason IS NULL AND ${negative} AND type IN (${mapping.identified === true ? `'grant', 'gift'` : `'grant', 'purchase', 'gift'`});
    UPDATE staging.stored AS lines SET reason = type || ': expected an amount, got nothing'
    WHERE reason IS NULL AND ${mapping.identified !== true} AND credits IS NULL AND credits_wide IS NULL AND list_contains(${textList(heldEntries)}, type);
    UPDATE staging.stored AS lines SET credits = -abs(credits), credits_wide = -abs(credits_wide)
    WHERE type IN ('refund', 'expiry');
    UPDATE staging.stored AS lines SET requests = 0, ${tokenColumns.map((name) => `${name} = NULL`).join(', ')}
    WHERE coalesce(type, 'usage') <> 'usage';
    UPDATE staging.stored AS lines SET end_us = NULL${mapping.identified === true ? `, version_us = ${nowUs}` : ''}
    WHERE coalesce(type, 'usage') <> 'usage' AND end_us IS NOT NULL`)
}

/** SQL for the id of the request that a line refunds. `r-7-refund` and `refund-r-7` name r-7. */
export function refersToSql({ fields }: Mapping): string {
  if (fields.refersTo !== undefined) return 'refers_to'
  return fields.id === undefined
    ? 'NULL'
    : `coalesce(nullif(regexp_extract(id, '(?i)^(.+?)[-_:./ ]*refund', 1), ''), nullif(regexp_extract(id, '(?i)refund[-_:./ ]*(.+)$', 1), ''))`
}
