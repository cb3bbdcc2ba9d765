import { loadContract } from '../../contract/load.ts'
import { exportTable } from '../../public/store.ts'
import { enterPrices } from '../../report/usage/prepare.ts'
import {
  type Exportable,
  type ExportFormat,
  exportFormatOf,
  exportFormats,
} from '../../store/files/export.ts'
import { resolveRuns } from '../../store/runs/runs.ts'
import { inStore } from '../../store/session/in-store.ts'
import type { Session } from '../../store/session/session.ts'
import { counted } from '../../user/grouped.ts'
import { userError } from '../../user/user-error.ts'
import type { Options } from '../commands/export.ts'
import { nextLine, storeWords } from '../terminal/next.ts'
import { shown } from '../terminal/progress.ts'
import { accountScopeOf, keyNamesOf } from '../usage/usage-scope.ts'

export async function exportAction(what: Exportable, options: Options): Promise<void> {
  const format = formatOf(options)
  return inStore(options.db, async (store) => {
    const runs = await resolveRuns(store, options.run)
    const scope = accountScopeOf(options.account, options.key, keyNamesOf(options.keyNames))
    const needsPrices = what === 'usage' || what === 'quarters'
    const prepare = (session: Session) => enterPrices(session, loadContract(options.contract))
    const rows = await shown(({ onProgress }) =>
      exportTable(store, {
        what,
        runIds: runs,
        file: options.out,
        format,
        onProgress,
        scope,
        ...(needsPrices ? { prepare } : {}),
      }),
    )
    process.stdout.write(
      options.json
        ? `${JSON.stringify({ what, rows, out: options.out, format })}\n`
        : `${counted(rows, 'row')} of ${what} in ${options.out}\n${nextLine(['usage', ...storeWords(options.db)], 'prints what the store sums up')}`,
    )
  })
}

/** The format that is asked for, or that of the file's ending. @throws UserError if neither is known */
export function formatOf({ format, out }: Pick<Options, 'format' | 'out'>): ExportFormat {
  const found = format ?? exportFormatOf(out)
  if (found !== null) return found
  throw userError.usage(
    `${out}: expected a name that ends with ${exportFormats.map((each) => `.${each}`).join(', ')}, or --format.`,
  )
}
