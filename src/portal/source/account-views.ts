import { quantities } from '../../measure/usage/quantities.ts'
import { literal } from '../../store/literal.ts'
import { type AccountScope, accountCondition } from '../../store/session/account.ts'
import { dayUs } from '../../user/durations.ts'
import type { ClosedMonth } from '../settings/account-view.ts'
import { columnsOfDays, type DayTable, dayTables, type WideSums } from './wide-sums.ts'

/** The columns of sums that a session sees. */
const shownColumns = Object.keys(quantities)
  .filter((name) => name !== 'account')
  .join(', ')

/** The view of a session that has the rows of a table of days. */
export const dayView = (view: 'my_day_sums' | 'my_use_days', table: DayTable) =>
  table === 'all' ? view : `${view}_${table}`

/** The keys of each account and day in `held`, with their first and last time and the sum of the hashes of their rows. */
export const keyDays = 'held_key_days'

const within = ({ fromUs, toUs }: ClosedMonth) => `first_us >= ${fromUs} AND first_us < ${toUs}`
const isOf = (month: ClosedMonth) => `month = ${literal(month.month)} AND ${within(month)}`

/**
 * SQL for what the sums of closed months are more or less now than they were, by unit, and when the last of it came: as `my_closings` of a
 * session. A difference of requests without an amount is 0 of its unit.
 */
function closingsSql(mine: string, closed: readonly ClosedMonth[]): string {
  const parts = closed.map((month) => {
    const days = `day >= ${Math.floor(month.fromUs / dayUs)} AND day * ${dayUs} < ${month.toUs}`
    return `SELECT ${literal(month.month)} AS month, unit, coalesce(sum(credits), 0)::DECIMAL(38, 18) AS amount, coalesce(sum(requests), 0)::BIGINT AS requests,
        (SELECT max(came_us) FROM held_arrivals WHERE account = getvariable('usage_account') AND ${days}) AS at_us
      FROM (
        SELECT unit, credits, requests FROM held WHERE ${mine} AND ${within(month)}
        UNION ALL
        SELECT unit, -credits, -requests FROM held_closed WHERE ${mine} AND ${isOf(month)})
      GROUP BY unit HAVING coalesce(sum(credits), 0) <> 0 OR coalesce(sum(requests), 0) <> 0`
  })
  const none = `SELECT NULL::VARCHAR AS month, NULL::VARCHAR AS unit, NULL::DECIMAL(38, 18) AS amount, NULL::BIGINT AS requests, NULL::BIGINT AS at_us WHERE false`
  return [none, ...parts].join(' UNION ALL ')
}

/** SQL for the views of a session that is one account: no query reads the sums of others. See `Snapshot` for their names. */
export function accountViewsSql(
  scope: AccountScope,
  wide: ReturnType<WideSums['tablesFor']>,
  closed: readonly ClosedMonth[],
): string {
  const mine = accountCondition(scope)
  const sums = (table: string, columns = shownColumns) =>
    closed.length === 0
      ? `SELECT ${columns} FROM ${table} WHERE ${mine}`
      : `SELECT ${columns} FROM ${table} WHERE ${mine} AND NOT (${closed.map(within).join(' OR ')})
         UNION ALL
         SELECT ${columns} FROM held_closed WHERE ${mine} AND (${closed.map(isOf).join(' OR ')})`
  // Sums of fewer names than keys have no keys to see some of.
  const seesAll = scope.keys === null
  const ofDays = dayTables
    .map((table) => {
      const from = wide.days[seesAll ? table : 'all']
      const columns = columnsOfDays(table)
      return `CREATE TEMP VIEW ${dayView('my_day_sums', table)} AS ${sums(from, columns)};
        CREATE TEMP VIEW ${dayView('my_use_days', table)} AS SELECT ${columns} FROM ${from} WHERE ${mine};`
    })
    .join('\n')
  const whole = seesAll ? mine : 'false'
  return `
    CREATE TEMP VIEW mine AS ${sums('held')};
    CREATE TEMP VIEW my_hours AS ${sums(wide.hours)};
    CREATE TEMP VIEW my_use AS SELECT ${shownColumns} FROM held WHERE ${mine};
    ${ofDays}
    CREATE TEMP VIEW my_closings AS ${closingsSql(mine, closed)};
    CREATE TEMP VIEW my_entries AS SELECT * EXCLUDE (account) FROM held_entries WHERE ${whole};
    CREATE TEMP VIEW my_held AS SELECT * EXCLUDE (account) FROM held_rows WHERE ${whole};
    CREATE TEMP VIEW my_keys AS SELECT * EXCLUDE (account) FROM usage_keys WHERE ${mine};
    CREATE TEMP VIEW my_days AS SELECT * EXCLUDE (account) FROM ${keyDays} WHERE ${mine}`
}
