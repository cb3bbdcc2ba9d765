import { knownColumns, shownTokens, tokenKinds } from '../../measure/usage/quantities.ts'
import { literal } from '../../store/literal.ts'
import type { Session } from '../../store/session/session.ts'
import { queryText, type UsageEngine } from './engine/engine.ts'
import { shortSql } from './short-name.ts'

/** The name of a series; the user's name for a key. */
export const shortened = (name: string) =>
  shortSql(
    `coalesce(CASE getvariable('usage_by') WHEN 'key' THEN getvariable('usage_key_names')[${name}] END, ${name})`,
  )

/** Columns of the kinds of tokens that a page shows. */
export const tokenColumns = shownTokens.map((name) => tokenKinds[name].column)

/**
 * The columns of `UsageSums` (in snake case), from sums by end and unit. Two steps are cheaper: a filter on each of
 * ten sums costs more than a few more groups.
 */
const usageSums = (() => {
  const sum = (column: string, when: string, name: string) =>
    `coalesce(sum(${column}) FILTER (WHERE ${when}), 0) AS ${name}`
  const inUnit = (column: string) =>
    `sum(${column}) FILTER (WHERE unit = getvariable('usage_unit')) AS ${column}`
  const all = (column: string) => `sum(${column}) AS ${column}`
  return [
    'sum(n) AS requests',
    sum('n', `ended = 'ok'`, 'ok'),
    sum('n', `ended <> 'ok'`, 'failed'),
    sum('n', `ended = 'limited'`, 'limited'),
    sum('n', `ended = 'unknown'`, 'ambiguous'),
    'coalesce(sum(requests_unknown), 0) AS requests_unknown',
    inUnit('credits'),
    inUnit('possible_credits'),
    'coalesce(sum(credits_known), 0) AS credits_known',
    ...tokenColumns.map(all),
    // Means are over successes.
    `sum(both_tokens) FILTER (WHERE ended = 'ok') AS both_tokens`,
    sum('tokens_known', `ended = 'ok'`, 'tokens_known_ok'),
    ...knownColumns.map((column) => `coalesce(sum(${column}), 0) AS ${column}`),
  ].join(',\n')
})()

/** UTC hours of each key, and all sums of the keys with the most credits. */
export async function prepareKeys(store: Session, engine: UsageEngine): Promise<void> {
  await engine.enterPeriod(store)
  await engine.fill(store, 'usage_top_keys', queryText('top-keys'))
  await store.execute(
    `SET VARIABLE usage_top = (SELECT coalesce(list(coalesce(key_fp, '')), []) FROM usage_top_keys)`,
  )
  await engine.fill(store, 'usage_key_outcomes', queryText('key-outcomes'))
  await store.execute(`
    CREATE OR REPLACE TEMP TABLE usage_key_sums AS
    SELECT key_fp, account, ${usageSums} FROM usage_key_outcomes GROUP BY ALL
  `)
  await engine.fill(store, 'usage_key_models', queryText('key-models'))
}

export async function prepareQuarters(
  store: Session,
  engine: UsageEngine,
  units: readonly string[],
): Promise<void> {
  const amounts = units
    .map((unit, at) => `, sum(credits) FILTER (WHERE unit = ${literal(unit)}) AS amount_${at}`)
    .join('')
  await engine.fill(store, 'usage_series', queryText('series'))
  await store.execute(
    'SET VARIABLE usage_series = (SELECT coalesce(list(name), []) FROM usage_series)',
  )
  await engine.fill(store, 'usage_outcomes', queryText('outcomes'))
  await store.execute(`
    CREATE OR REPLACE TEMP TABLE usage_quarters AS
    SELECT quarter, width_us, bucket_source, ${shortened('series')} AS series, ${usageSums}${amounts} FROM usage_outcomes GROUP BY ALL
  `)
}
