import { loadContract } from '../../contract/load.ts'
import { parseMoment } from '../../measure/usage/zone.ts'
import { type AccountView, accountView } from '../../portal/settings/account-view.ts'
import { readSettings } from '../../portal/settings/settings.ts'
import { openExistingStore, openStore } from '../../public/store.ts'
import type { UsageScopeOptions } from '../../report/page.ts'
import { clickhouseEngine } from '../../report/usage/engine/clickhouse.ts'
import type { UsageEngine } from '../../report/usage/engine/engine.ts'
import { quartersFile } from '../../report/usage/engine/quarters-file.ts'
import { parseGrants } from '../../report/usage/grants.ts'
import { fingerprintsOf, type KeyNames, parseKeyNames } from '../../report/usage/key-names.ts'
import { openClickhouse } from '../../store/clickhouse/clickhouse.ts'
import type { AccountScope } from '../../store/session/account.ts'
import type { Store } from '../../store/session/open.ts'
import { readTextOr } from '../../user/read-text.ts'
import { userError } from '../../user/user-error.ts'
import type { Options as ReportOptions } from '../commands/report.ts'
import type { Options } from '../commands/usage.ts'
import { positiveOf } from '../terminal/numbers.ts'

export type UsageFlags = Pick<Options, Extract<keyof Options, keyof ReportOptions>>

export interface UsagePlace {
  readonly store: Store
  readonly engine?: UsageEngine
  close(): Promise<void>
}

/**
 * Opens the source of usage. The store is in memory if usage comes from elsewhere.
 *
 * @throws UserError for more than one source, or one that cannot be opened
 */
export async function openUsage(
  db: string,
  { quarters, engine }: Pick<UsageFlags, 'quarters' | 'engine'>,
  runs: readonly string[],
): Promise<UsagePlace> {
  if (quarters === undefined && engine === undefined) {
    const store = await openExistingStore(db)
    return { store, close: async () => store.close() }
  }
  if (runs.length > 0 || (quarters !== undefined && engine !== undefined)) {
    throw userError.usage(
      'Choose one of runs, --engine and --quarters: runs are only in a store. --source selects logs.',
    )
  }
  const clickhouse = engine === undefined ? null : await openClickhouse(engine)
  const store = await openStore(':memory:')
  const close = async () => {
    store.close()
    await clickhouse?.close()
  }
  try {
    const summing =
      clickhouse === null ? await quartersFile(store, quarters!) : clickhouseEngine(clickhouse)
    return { store, engine: summing, close }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * Reads the options.
 *
 * @throws UserError for a file that cannot be read, or an invalid date, grant, name or price
 */
export function usageScopeOf(flags: UsageFlags): UsageScopeOptions {
  const { timezone, from, to, by, source, grants, creditPrice, contract, settings } = flags
  const keyNames = keyNamesOf(flags.keyNames)
  if (grants !== undefined && flags.key.length > 0) {
    throw userError.usage(
      '--grants with --key: grants belong to the whole account, so leave one of them out.',
    )
  }
  if (grants !== undefined && settings !== undefined) {
    throw userError.usage('--grants with --settings: both say what is held. Leave one out.')
  }
  const view = viewOf(flags)
  const moment = (text?: string) => (text === undefined ? null : parseMoment(text, timezone))
  return {
    contract: contract === undefined ? null : loadContract(contract),
    fromUs: moment(from),
    toUs: moment(to),
    by,
    sources: source,
    ...accountScopeOf(flags.account, flags.key, keyNames),
    creditUsd: creditPrice === undefined ? null : positiveOf('--credit-price', creditPrice),
    grants:
      grants === undefined
        ? null
        : parseGrants(textOf('--grants', grants, 'name, credits and expires'), grants, timezone),
    holdings: view?.holdings ?? null,
    ...(view === null ? {} : { burnOrder: view.burnOrder }),
    keyNames,
  }
}

/**
 * The account as the settings show it; null without --settings.
 *
 * @throws UserError without an account, for some of its keys, and for wrong settings
 */
export function viewOf({
  settings,
  account,
  key,
}: Pick<UsageFlags, 'settings' | 'account' | 'key'>): AccountView | null {
  if (settings === undefined) return null
  if (account === undefined) {
    throw userError.usage(
      '--settings needs --account: what one account got. report usage also takes --by account.',
    )
  }
  if (key.length > 0) {
    throw userError.usage('--settings with --key: credits belong to the whole account.')
  }
  return accountView(readSettings(settings), account)
}

/** Reads the file of --key-names. @throws UserError for a file that cannot be read, and as `parseKeyNames` does */
export const keyNamesOf = (file?: string): KeyNames =>
  file === undefined
    ? {}
    : parseKeyNames(textOf('--key-names', file, 'fingerprints and names'), file)

/**
 * The account of --account, and the keys of --key.
 *
 * @throws UserError for an empty name, and for what looks like a key
 */
export function accountScopeOf(
  account: string | undefined,
  keys: readonly string[],
  keyNames: KeyNames,
): AccountScope {
  if (account === '' || keys.includes('')) {
    throw userError.usage('--account and --key need a name: expected one that is not empty.')
  }
  return {
    account: account ?? null,
    keys: keys.length === 0 ? null : fingerprintsOf(keys, Object.entries(keyNames)),
  }
}

function textOf(option: string, path: string, of: string): string {
  const words = `${option}: ${path} cannot be read; expected YAML of ${of}.`
  return readTextOr(path, () => userError.usage(words))
}
