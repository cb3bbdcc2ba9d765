import { knownColumn } from '../../measure/usage/quantities.ts'
import { figuresOfEnded } from '../../measure/usage/sums.ts'
import { literal } from '../../store/literal.ts'
import type { Session } from '../../store/session/session.ts'
import { shownTokens, tokenKinds } from '../../tokens/kinds.ts'
import { lookup } from '../../user/lookup.ts'
import type { UsageEngine } from './engine/engine.ts'
import * as queries from './engine/queries.ts'
import { shortSql } from './short-name.ts'

/** The name of a series; the user's name for a key. */
export const shortened = (name: string) =>
  shortSql(
    `coalesce(CASE getvariable('usage_by') WHEN 'key' THEN getvariable('usage_key_names')[${name}] END, ${name})`,
  )

export const tokenColumns = shownTokens.map((name) => tokenKinds[name].column)

/** What charts call the figures that are neither tokens nor a count by end. */
const named: Readonly<Record<string, string>> = lookup({
  requestsUnknown: 'requests_unknown',
  costKnown: 'credits_known',
  okTokens: 'both_tokens',
  okTokensKnown: 'tokens_known_ok',
  ...Object.fromEntries(
    shownTokens.flatMap((name) => [
      [name, tokenKinds[name].column],
      [`${name}Known`, knownColumn(name)],
    ]),
  ),
})

/** The figures as columns, from sums by end and unit: two steps are cheaper than a filter on each of ten sums. What is no amount is 0 without any. */
const usageSums = (() => {
  const columns = new Map(
    Object.entries(figuresOfEnded).map(([name, sql]) => [named[name] ?? name, sql]),
  )
  const mayBeUnknown = new Set(['requests', 'both_tokens', ...tokenColumns])
  const inUnit = (column: string) =>
    `sum(${column}) FILTER (WHERE unit = getvariable('usage_unit')) AS ${column}`
  return [
    ...[...columns].map(([name, sql]) =>
      mayBeUnknown.has(name) ? `${sql} AS ${name}` : `coalesce(${sql}, 0) AS ${name}`,
    ),
    ...['credits', 'possible_credits'].map(inUnit),
  ].join(',\n')
})()

/** `usage_key_sums`: all sums of the twenty keys with the most credits; `usage_key_models`: the same by model. */
export async function prepareKeys(session: Session, engine: UsageEngine): Promise<void> {
  await engine.fill(session, 'usage_top_keys', queries.topKeys)
  await session.execute(
    `SET VARIABLE usage_top = (SELECT coalesce(list(coalesce(key_fp, '')), []) FROM usage_top_keys)`,
  )
  await nameByLastFours(session, 'usage_top')
  await engine.fill(session, 'usage_key_outcomes', queries.keyOutcomes)
  await session.execute(`
    CREATE OR REPLACE TEMP TABLE usage_key_sums AS
    SELECT key_fp, account, ${usageSums} FROM usage_key_outcomes GROUP BY ALL
  `)
  await engine.fill(session, 'usage_key_models', queries.keyModels)
}

/** Names keys of a list that have no name by their last four letters, and their fingerprint, since two may end with the same. */
function nameByLastFours(session: Session, list: 'usage_top' | 'usage_series'): Promise<void> {
  return session.execute(
    `SET VARIABLE usage_key_names = map_concat(
       (SELECT MAP(coalesce(list(key_fp), []::VARCHAR[]), coalesce(list('…' || four || ' (' || key_fp || ')'), []::VARCHAR[]))
        FROM (SELECT key_fp, min(last_four) AS four FROM usage_last_fours
              WHERE list_contains(getvariable('${list}'), key_fp) GROUP BY key_fp HAVING min(last_four) = max(last_four))),
       getvariable('usage_key_names'))`,
  )
}

export async function prepareQuarters(
  session: Session,
  engine: UsageEngine,
  units: readonly string[],
): Promise<void> {
  const amounts = units
    .map((unit, at) => `, sum(credits) FILTER (WHERE unit = ${literal(unit)}) AS amount_${at}`)
    .join('')
  await engine.fill(session, 'usage_series', queries.series)
  await session.execute(
    'SET VARIABLE usage_series = (SELECT coalesce(list(name), []) FROM usage_series)',
  )
  await nameByLastFours(session, 'usage_series')
  await engine.fill(session, 'usage_outcomes', queries.outcomes)
  await session.execute(`
    CREATE OR REPLACE TEMP TABLE usage_quarters AS
    SELECT quarter, width_us, bucket_source, ${shortened('series')} AS series, ${usageSums}${amounts} FROM usage_outcomes GROUP BY ALL
  `)
}
