import { readFileSync } from 'node:fs'
import { loadContract } from '../contract/load.ts'
import type { UsageScopeOptions } from '../report/page.ts'
import type { UsageDimension } from '../report/pages.ts'
import { clickhouseEngine } from '../report/usage/engine/clickhouse.ts'
import type { UsageEngine } from '../report/usage/engine/engine.ts'
import { quartersFile } from '../report/usage/engine/quarters-file.ts'
import { parseGrants } from '../report/usage/grants.ts'
import { parseKeyNames } from '../report/usage/key-names.ts'
import { parseMoment } from '../report/usage/zone.ts'
import { openClickhouse } from '../store/clickhouse/clickhouse.ts'
import { openExistingStore, openStore, type Store } from '../store/open.ts'
import { UserError } from '../user/user-error.ts'
import { positiveOf } from './numbers.ts'

/** The options that say which usage is meant, of `assay usage` and of its page. */
export interface UsageFlags {
  readonly timezone: string
  readonly from?: string
  readonly to?: string
  readonly by: UsageDimension
  readonly source: readonly string[]
  readonly grants?: string
  readonly keyNames?: string
  readonly creditPrice?: string
  readonly contract?: string
  readonly quarters?: string
  readonly engine?: string
}

/** The store of the page, and the engine that sums its usage where that is another. */
export interface UsagePlace {
  readonly store: Store
  readonly engine?: UsageEngine
  close(): Promise<void>
}

/**
 * Opens what the options name. The store is one in memory where the usage is elsewhere.
 *
 * @throws UserError for runs that are named beside sums, and for what cannot be opened
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
    throw new UserError(
      'usage',
      'Runs are in a store, which neither --engine nor --quarters reads: name one of the three. --source chooses logs.',
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
 * What those options mean.
 *
 * @throws UserError for a file that cannot be read, and for a date, a grant or a name that is none
 */
export function usageScopeOf(flags: UsageFlags): UsageScopeOptions {
  const { timezone, from, to, by, source, grants, keyNames, creditPrice, contract } = flags
  const moment = (text?: string) => (text === undefined ? null : parseMoment(text, timezone))
  return {
    contract: contract === undefined ? null : loadContract(contract),
    fromUs: moment(from),
    toUs: moment(to),
    by,
    sources: source,
    creditUsd: creditPrice === undefined ? null : positiveOf('--credit-price', creditPrice),
    grants:
      grants === undefined
        ? null
        : parseGrants(textOf('--grants', grants, 'name, credits and expires'), grants, timezone),
    keyNames:
      keyNames === undefined
        ? {}
        : parseKeyNames(textOf('--key-names', keyNames, 'fingerprints and names'), keyNames),
  }
}

function textOf(option: string, path: string, of: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw new UserError('usage', `${option}: ${path} cannot be read; expected YAML of ${of}.`)
  }
}
