import { dirname, join, relative, sep } from 'node:path'
import { loadContract } from '../../contract/load.ts'
import { Problem } from '../../portal/api/problem.ts'
import { type AccountState, readAccounts, readStateOf } from '../../portal/figures/accounts.ts'
import { accountsPage, accountsText } from '../../portal/page/accounts-page.ts'
import { offlinePage, offlinePageOf } from '../../portal/page/offline.ts'
import { dayZones } from '../../portal/settings/account-view.ts'
import { closedFiles, type Settings } from '../../portal/settings/settings.ts'
import { clickhouseSource } from '../../portal/source/clickhouse-source.ts'
import { Snapshot } from '../../portal/source/snapshot.ts'
import type { Source } from '../../portal/source/source.ts'
import { storeSource } from '../../portal/source/store-source.ts'
import { defaultContract } from '../../public/contract.ts'
import { openStore } from '../../public/store.ts'
import type { TextFormat } from '../../report/pages.ts'
import { openClickhouse } from '../../store/clickhouse/clickhouse.ts'
import { userError } from '../../user/user-error.ts'
import type { Options } from '../commands/report.ts'
import { accountScopeOf } from './usage-scope.ts'
import { checkedSettings } from './usage-serve.ts'

/** The page that a customer sees, as a file. @throws UserError without an account or settings */
export async function customerPage(options: Options): Promise<string> {
  const { account, key, from, to, by } = options
  if (account === undefined) {
    throw userError.usage('--for customer needs --account: a customer sees one account.')
  }
  const settings = checkedSettings(options.settings)
  const { keys } = accountScopeOf(account, key, Object.fromEntries(settings.keyNames))
  const contract = options.contract === undefined ? null : loadContract(options.contract)
  const search = new URLSearchParams({ by })
  for (const [name, value] of Object.entries({ from, to })) {
    if (value !== undefined) search.set(name, value)
  }
  try {
    return await offlinePage({
      source: await sourceOf(options),
      settings,
      account,
      keys,
      contract,
      search,
      nowMs: Date.now(),
    })
  } catch (error) {
    throw asUserError(error)
  }
}

/** What the operator sees: one row for each customer and unit. */
interface Customers {
  /** The page, or the text of another format. */
  readonly text: string
  /** The page of each customer, by its name in the folder of `--each`. */
  readonly pages: ReadonlyMap<string, string>
}

/**
 * @param out where the page of all will be, from which it links to theirs
 * @throws UserError for wrong settings or a wrong period
 */
export async function customersPage(out: string, options: Options): Promise<Customers> {
  const { from, to, format, each } = options
  if ((from === undefined) !== (to === undefined)) {
    throw userError.usage('--from and --to: expected both, or neither for this month.')
  }
  const settings = checkedSettings(options.settings)
  const contract = options.contract === undefined ? null : loadContract(options.contract)
  const nowMs = Date.now()
  const snapshot = await snapshotOf(options, settings, nowMs)
  try {
    const period = from === undefined ? null : { from, to: to! }
    const accounts = await readAccounts({ snapshot, settings, contract, period, nowMs })
    if (format !== 'html')
      return { text: accountsText(accounts, format as TextFormat), pages: new Map() }
    const pages = new Map<string, string>()
    const addresses = new Map<string, ReadonlyMap<string | null, string>>()
    for (const [at, { account, amounts }] of (each === undefined ? [] : accounts).entries()) {
      const own = new Map<string | null, string>()
      // A file shows one unit, so each row leads to a page in its own.
      const units = amounts.length < 2 ? [] : amounts.map(({ unit }) => unit)
      for (const [nth, unit] of [null, ...units].entries()) {
        const search = new URLSearchParams({ ...period, ...(unit !== null && { unit }) })
        const of = { settings, account, keys: null, contract, search, nowMs }
        const page = await offlinePageOf(snapshot, of).catch(unlessHidden)
        if (page === null) continue
        // A name is data, and no path.
        const name = `customer-${at + 1}${nth === 0 ? '' : `-${nth}`}.html`
        pages.set(name, page)
        own.set(unit, addressFrom(out, join(each!, name)))
      }
      addresses.set(account, own)
    }
    return { text: accountsPage(accounts, addresses), pages }
  } catch (error) {
    throw asUserError(error)
  } finally {
    await snapshot.close()
  }
}

/** The budgets and the closed months of an account of the settings, as its page has them. @throws UserError for wrong settings */
export async function accountState(
  account: string,
  options: UsageSource & Pick<Options, 'settings'>,
): Promise<AccountState> {
  const settings = checkedSettings(options.settings)
  const contract = options.contract === undefined ? null : loadContract(options.contract)
  const nowMs = Date.now()
  const snapshot = await snapshotOf(options, settings, nowMs)
  try {
    return await readStateOf(account, { snapshot, settings, contract, nowMs })
  } finally {
    await snapshot.close()
  }
}

type UsageSource = Pick<Options, 'engine' | 'db' | 'contract'>

async function snapshotOf(
  options: UsageSource,
  settings: Settings,
  nowMs: number,
): Promise<Snapshot> {
  const snapshot = await Snapshot.of(await openStore(':memory:'), await sourceOf(options))
  try {
    snapshot.useZones(dayZones(settings))
    await snapshot.keepClosed(closedFiles(settings))
    await snapshot.refresh(nowMs)
    return snapshot
  } catch (error) {
    await snapshot.close()
    throw error
  }
}

/** Null for a unit that customers do not see. */
function unlessHidden(error: unknown): null {
  if (error instanceof Problem && error.code === 'no-such-unit') return null
  throw error
}

/** The address of a file on the page in another. */
const addressFrom = (page: string, file: string) =>
  relative(dirname(page), file).split(sep).map(encodeURIComponent).join('/')

async function sourceOf({ engine, db, contract }: UsageSource): Promise<Source> {
  return engine === undefined
    ? storeSource(db, contract === undefined ? defaultContract : loadContract(contract))
    : clickhouseSource(await openClickhouse(engine))
}

const asUserError = (error: unknown): unknown =>
  error instanceof Problem
    ? userError.usage([error.message, error.hint].filter(Boolean).join('. '))
    : error
