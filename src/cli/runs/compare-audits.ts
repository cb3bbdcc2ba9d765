import { loadContract } from '../../contract/load.ts'
import { compareAudits } from '../../report/compare/audits.ts'
import { markdownAudits, terminalAudits } from '../../report/compare/audits-text.ts'
import { jsonText } from '../../report/summary/printable.ts'
import { writeOutput } from '../../store/files/output.ts'
import { resolveRuns } from '../../store/runs/runs.ts'
import { inStores } from '../../store/session/in-store.ts'
import type { Store } from '../../store/session/open.ts'
import { userError } from '../../user/user-error.ts'
import type { Options } from '../commands/compare.ts'
import { coloured } from '../terminal/colour.ts'
import { nextLine, optionWords } from '../terminal/next.ts'
import { shown } from '../terminal/progress.ts'
import { givenWords } from './compare-words.ts'

/** Lays the audits of two services side by side: of two stores, or of two runs of one. */
export async function compareAuditsAction(
  a: string | undefined,
  b: string | undefined,
  options: Options,
): Promise<void> {
  const { db, dbB, rule, contract, contractB, format, out } = options
  if (options.history !== undefined || options.failOn.length > 0)
    throw userError.usage(
      'compare --rule: expected no --history and no --fail-on, which are about times. Leave them out, or leave out --rule.',
    )
  if ((a === undefined) !== (b === undefined) || (a === undefined && dbB === undefined))
    throw userError.usage(
      'compare --rule: expected two runs of one store, or --db-b FILE with the store of the other service.',
    )
  return inStores(db, dbB, async (storeA, storeB) => {
    const own = loadContract(contract)
    const runIds = (store: Store, run: string | undefined) =>
      resolveRuns(store, run === undefined ? [] : [run])
    const [sideA, sideB] = [
      { store: storeA, runIds: await runIds(storeA, a), contract: own },
      {
        ...{ store: storeB, runIds: await runIds(storeB, b) },
        contract: contractB === undefined ? own : loadContract(contractB),
      },
    ]
    const comparison = await shown(({ onProgress }) =>
      compareAudits(sideA, sideB, rule, { onProgress }),
    )
    switch (options.json ? 'json' : format) {
      case 'json':
        return void process.stdout.write(`${jsonText(comparison)}\n`)
      case 'md':
        return void process.stdout.write(markdownAudits(comparison))
      case 'html': {
        // A comparison in the terminal loads no pages.
        const { renderAudits } = await import('../../report/compare-audits-page.ts')
        writeOutput(out, renderAudits(comparison))
        process.stdout.write(`${out}\n`)
        break
      }
      case 'terminal':
        process.stdout.write(coloured(terminalAudits(comparison)))
    }
    process.stdout.write(afterAudits(a, b, options))
  })
}

/** The next command: a page of both, or the audit of one with its evidence. */
function afterAudits(a: string | undefined, b: string | undefined, options: Options): string {
  const runs = [a, b].filter((run) => run !== undefined)
  const given = [...runs, ...optionWords('--rule', options.rule), ...givenWords(options)]
  return options.format === 'html'
    ? nextLine(['compare', ...given], 'prints the same')
    : nextLine(['compare', ...given, '--format', 'html'], 'makes a page of both')
}
