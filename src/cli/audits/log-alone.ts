import { existsSync } from 'node:fs'
import { isBaseUrl } from '../../contract/base-url.ts'
import { hasRows } from '../../store/has-rows.ts'
import { inStore } from '../../store/session/in-store.ts'
import type { Options } from '../commands/audit.ts'

/** Whether a log is judged by itself: where no run is named, and the store has none. */
export async function isLogAlone(
  named: readonly string[],
  options: Pick<Options, 'log' | 'db' | 'alone'>,
): Promise<boolean> {
  if (options.log === undefined || isBaseUrl(options.log) || named.length > 0) return false
  if (options.alone === true || !existsSync(options.db)) return true
  return inStore(
    options.db,
    async (store) => !(await hasRows(store, `runs WHERE kind <> 'calibrate'`)),
  )
}
