import { loadContract } from '../../contract/load.ts'
import { compareRuns } from '../../public/report.ts'
import { listRuns } from '../../public/store.ts'
import { markdownComparison, terminalComparison } from '../../report/compare/formats.ts'
import {
  type GateResult,
  judgeGate,
  parseFigureName,
  parseGate,
} from '../../report/compare/gate.ts'
import { type FigureHistory, historyText, readHistory } from '../../report/compare/history.ts'
import { jsonText } from '../../report/summary/printable.ts'
import { writeOutput } from '../../store/files/output.ts'
import { resolveRepeated } from '../../store/runs/repeats.ts'
import { inStore, inStores } from '../../store/session/in-store.ts'
import { inSession } from '../../store/session/session.ts'
import { userError } from '../../user/user-error.ts'
import type { Options } from '../commands/compare.ts'
import { coloured } from '../terminal/colour.ts'
import { exit } from '../terminal/exit.ts'
import { contractWords, nextLine, storeWords } from '../terminal/next.ts'
import { shown } from '../terminal/progress.ts'
import { fitted } from '../terminal/terminal-width.ts'
import { givenWords } from './compare-words.ts'

export async function compareAction(
  a: string | undefined,
  b: string | undefined,
  options: Options,
): Promise<void> {
  if (options.rule.length > 0)
    return (await import('./compare-audits.ts')).compareAuditsAction(a, b, options)
  if (a !== undefined && options.history !== undefined)
    return historyAction(a, b, options.history, options)
  if (a === undefined || b === undefined) {
    throw userError.usage(
      `compare: expected two runs, as in assay compare previous latest; got ${a === undefined ? 'none' : 'one'}. Name ${a === undefined ? 'both, or give --rule' : 'the other, or give --history'}.`,
    )
  }
  const gates = options.failOn.map(parseGate)
  return inStores(options.db, options.dbB, async (storeA, storeB) => {
    const [sideA, sideB] = [
      { store: storeA, runId: await resolveRepeated(storeA, a) },
      { store: storeB, runId: await resolveRepeated(storeB, b) },
    ]
    const contract = loadContract(options.contract)
    const other =
      options.contractB === undefined ? {} : { contract: loadContract(options.contractB) }
    const comparison = await shown(({ onProgress }) =>
      compareRuns(sideA, { ...sideB, ...other }, { contract, onProgress }),
    )
    const results = gates.map((gate) => judgeGate(comparison, gate))
    if (options.format === 'html') {
      // A comparison in the terminal loads no charts.
      const { renderComparison } = await import('../../report/compare-page.ts')
      const { html } = await renderComparison(storeA, comparison, results)
      writeOutput(options.out, html)
      process.stdout.write(`${options.out}\n`)
    } else process.stdout.write(formatted(options, comparison, results))
    process.stdout.write(afterCompare(a, b, options))
    if (results.some((result) => result.result !== 'passed')) process.exitCode = exit.failed
  })
}

/** Finds the builds at which a figure changed. */
async function historyAction(
  a: string,
  b: string | undefined,
  figure: string,
  options: Options,
): Promise<void> {
  const name = parseFigureName(figure)
  if (b !== undefined || options.failOn.length > 0 || options.dbB !== undefined) {
    throw userError.usage(
      '--history: expected one run, whose scenario it is of, and no --fail-on or --db-b. Leave out the rest.',
    )
  }
  return inStore(options.db, async (store) => {
    const runId = await resolveRepeated(store, a)
    const { scenario } = (await listRuns(store)).find((run) => run.runId === runId)!
    const contract = loadContract(options.contract)
    const history = await inSession(store, {}, (session) =>
      readHistory(session, scenario, name, contract),
    )
    process.stdout.write(
      options.json
        ? `${jsonText(history)}\n`
        : `${historyText(history)}${afterHistory(history, options)}`,
    )
  })
}

/** The next command: the runs on both sides of the last change, or the runs that there are. */
function afterHistory({ runs, steps }: FigureHistory, { db, contract }: Options): string {
  const last = steps.at(-1)
  if (last === undefined) return nextLine(['runs', ...storeWords(db)], 'lists the runs')
  const words = ['compare', runs[last.at - 1]!.runId, last.runId, ...storeWords(db)]
  return nextLine(
    [...words, ...contractWords(contract)],
    'compares the runs around the last change',
  )
}

/** The next command; nothing after a format for programs. */
function afterCompare(a: string, b: string, options: Options): string {
  const { json, format } = options
  if (json || format === 'json' || format === 'md') return ''
  const given = givenWords(options)
  return format === 'html'
    ? nextLine(['compare', a, b, ...given, '--all'], 'prints every metric of every step')
    : nextLine(['compare', a, b, ...given, '--format', 'html'], 'makes a page with charts')
}

function formatted(
  options: Options,
  comparison: Parameters<typeof terminalComparison>[0],
  gates: readonly GateResult[],
): string {
  switch (options.json ? 'json' : options.format) {
    case 'html':
    case 'terminal':
      return coloured(fitted(terminalComparison(comparison, gates, options.all), process.stdout))
    case 'md':
      return markdownComparison(comparison, gates)
    case 'json':
      return `${jsonText({ ...comparison, gates })}\n`
  }
}
