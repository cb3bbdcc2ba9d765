import { loadContract } from '../../contract/load.ts'
import { Problem } from '../../portal/api/problem.ts'
import { offlinePage } from '../../portal/page/offline.ts'
import { clickhouseSource } from '../../portal/source/clickhouse-source.ts'
import { storeSource } from '../../portal/source/store-source.ts'
import { defaultContract } from '../../public/contract.ts'
import { openClickhouse } from '../../store/clickhouse/clickhouse.ts'
import { UserError } from '../../user/user-error.ts'
import type { Options } from '../commands/report.ts'
import { accountScopeOf } from './usage-scope.ts'
import { checkedSettings } from './usage-serve.ts'

/** The page that a customer sees, as a file. @throws UserError without an account or settings */
export async function customerPage(options: Options): Promise<string> {
  const { account, key, from, to, engine, db, by } = options
  if (account === undefined) {
    throw new UserError('usage', '--for customer needs --account: a customer sees one account.')
  }
  const settings = checkedSettings(options.settings)
  const { keys } = accountScopeOf(account, key, Object.fromEntries(settings.keyNames))
  const contract = options.contract === undefined ? null : loadContract(options.contract)
  const search = new URLSearchParams({ by })
  for (const [name, value] of Object.entries({ from, to })) {
    if (value !== undefined) search.set(name, value)
  }
  const source =
    engine === undefined
      ? storeSource(db, contract ?? defaultContract)
      : clickhouseSource(await openClickhouse(engine))
  try {
    return await offlinePage({
      source,
      settings,
      account,
      keys,
      contract,
      search,
      nowMs: Date.now(),
    })
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw new UserError('usage', [error.message, error.hint].filter(Boolean).join('. '))
  }
}
