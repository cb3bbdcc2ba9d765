import { userError } from '../../user/user-error.ts'
import { identifier, literal, textList } from '../literal.ts'
import type { Session } from './session.ts'
import { sessionVariable, type Variable } from './variable.ts'

/** Whose usage an operation sees. */
export interface AccountScope {
  /** Null for all accounts. */
  readonly account: string | null
  /** Only these keys, by fingerprint. Null for all of the account; an empty list is none. */
  readonly keys: readonly string[] | null
}

export const allAccounts: AccountScope = { account: null, keys: null }

export const isWhole = ({ account, keys }: AccountScope): boolean =>
  account === null && keys === null

/**
 * The condition on rows with the columns `account` and `key_fp`, for both engines. Its values are the variables
 * `usage_account` and `usage_only_keys` (`setAccount`), never part of the SQL.
 */
export function accountCondition(
  { account, keys }: AccountScope,
  variable: Variable = sessionVariable,
): string {
  const conditions = [
    // Only the plain column lets an engine skip the rows of other accounts unread.
    account !== null &&
      `${account === '' ? "coalesce(account, '')" : 'account'} = ${variable('usage_account')}`,
    keys !== null && `has(${variable('usage_only_keys')}, coalesce(key_fp, ''))`,
  ].filter(Boolean)
  return conditions.length === 0 ? 'true' : conditions.join(' AND ')
}

/**
 * SQL for the keys whose polls the account may see: its own, and of no other account. The balance of a key that two
 * accounts use would tell one about the other. Requests without an account count for neither: a log that names none
 * does not say that its keys are another's. So requests without an account have no polls.
 */
export const pollKeysSql = (
  tables: readonly string[],
  variable: Variable = sessionVariable,
): string =>
  `SELECT key_fp FROM (${tables
    .map((table) => `SELECT DISTINCT key_fp, account FROM ${table}`)
    .join(' UNION ALL ')}) AS used
   WHERE key_fp IS NOT NULL AND account IS NOT NULL GROUP BY key_fp
   HAVING min(account) = ${variable('usage_account')} AND max(account) = ${variable('usage_account')}`

/**
 * Sets the variables that `accountCondition` and `pollKeysSql` read.
 *
 * @throws UserError for a name with a zero byte, without which it would be another account's
 */
export async function setAccount(session: Session, { account, keys }: AccountScope): Promise<void> {
  if (account?.includes('\0')) {
    throw userError.usage('account: expected a name without a zero byte.')
  }
  // See docs/decisions/0707.
  await session.execute(`
    CREATE TEMP MACRO IF NOT EXISTS has(names, name) AS list_contains(names, name);
    CREATE TEMP MACRO IF NOT EXISTS JSONExtractString(json, name) AS
      json_extract_string(json, '/' || replace(replace(name, '~', '~0'), '/', '~1'));
    SET VARIABLE usage_account = ${account === null ? 'NULL::VARCHAR' : literal(account)};
    SET VARIABLE usage_only_keys = ${textList(keys ?? [])};
  `)
}

/** SQL for the schema of the store's own tables, which temporary ones may hide. */
export async function mainOf(session: Session): Promise<string> {
  const [own] = await session.rows<{ name: string }>('SELECT current_database() AS name')
  return `${identifier(own!.name)}.main`
}

/**
 * Puts one account in front of every query of a session. Temporary views hide the tables of usage, so that the store's
 * own views, the clocks of runs, and charts of the user read only its rows too. Nothing depends on other accounts:
 * neither which sums count, nor what an import covers, nor the time of a poll. Tables of usage that do not say whose
 * a row is are empty. What is kept of runs beside their usage (bodies, findings, health) stays that of all accounts.
 *
 * @param keyTables tables with `key_fp` and `account` that say whose polls are whose; default: those of the store
 */
export async function limitTo(
  session: Session,
  scope: AccountScope,
  keyTables?: readonly string[],
): Promise<void> {
  await setAccount(session, scope)
  if (isWhole(scope)) return
  const main = await mainOf(session)
  const mine = accountCondition(scope)
  const shared =
    keyTables ??
    ['usage_events', 'usage_statements', 'request_kinds'].map((each) => `${main}.${each}`)
  // A balance belongs to the whole account.
  const polls =
    scope.account === null || scope.keys !== null ? 'false' : `key_fp IN (${pollKeysSql(shared)})`
  await session.execute(`
    CREATE OR REPLACE TEMP VIEW usage_events AS FROM ${main}.usage_events WHERE ${mine};
    CREATE OR REPLACE TEMP VIEW usage_statements AS FROM ${main}.usage_statements WHERE ${mine};
    CREATE OR REPLACE TEMP VIEW usage_keys AS FROM ${main}.usage_keys WHERE ${mine};
    CREATE OR REPLACE TEMP VIEW request_kinds AS FROM ${main}.request_kinds WHERE ${mine};
    CREATE OR REPLACE TEMP VIEW runs AS FROM ${main}.runs
    WHERE run_id IN (SELECT run_id FROM ${main}.request_kinds WHERE ${mine});
    CREATE OR REPLACE TEMP VIEW usage_changes AS FROM ${main}.usage_changes WHERE false;
    CREATE OR REPLACE TEMP VIEW usage_referrals AS FROM ${main}.usage_referrals WHERE false;
    CREATE OR REPLACE TEMP VIEW usage_event_days AS
    SELECT DISTINCT source, at_us // 86400000000 AS day FROM ${main}.usage_events WHERE ${mine} AND type = 'usage';
    CREATE OR REPLACE TEMP VIEW usage_imports AS
    SELECT imports.* REPLACE (stated.from_us AS from_us, stated.to_us AS to_us) FROM ${main}.usage_imports AS imports
    JOIN (SELECT statement, min(start_us) AS from_us, max(end_us) AS to_us
          FROM ${main}.usage_statements WHERE ${mine} GROUP BY statement) AS stated ON statement = import_no;
    CREATE OR REPLACE TEMP TABLE usage_polls AS FROM ${main}.usage_polls WHERE ${polls};
  `)
}
