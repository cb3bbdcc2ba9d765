import { loadContract } from '../../contract/load.ts'
import { summarise } from '../../public/report.ts'
import { flatRows } from '../../report/summary/figures.ts'
import { markdownSummary } from '../../report/summary/markdown.ts'
import type { RunSummary } from '../../report/summary/shape.ts'
import { csvSummary, jsonSummary } from '../../report/summary/tables.ts'
import { resultLine, terminalFigures } from '../../report/summary/terminal.ts'
import { readTimeShape, timeShapeText } from '../../report/summary/time-bars.ts'
import { vllmBlock, vllmFigures } from '../../report/summary/vllm.ts'
import { exportRows } from '../../store/files/export.ts'
import { writeOutput } from '../../store/files/output.ts'
import { resolveRun } from '../../store/runs/runs.ts'
import { inStore } from '../../store/session/in-store.ts'
import type { Store } from '../../store/session/open.ts'
import { userError } from '../../user/user-error.ts'
import type { Options } from '../commands/summary.ts'
import { contractWords, nextLine, storeWords } from '../terminal/next.ts'
import { fitted } from '../terminal/terminal-width.ts'

export async function summaryAction(meant: string, options: Options): Promise<void> {
  if (options.json && options.format !== 'json' && options.format !== 'terminal') {
    throw userError.usage(`--json and --format ${options.format}: expected one of them.`)
  }
  return inStore(options.db, async (store) => {
    const format = options.json ? 'json' : options.format
    const runId = await resolveRun(store, meant)
    const summary = await summarise(store, { runId, contract: loadContract(options.contract) })
    if (format === 'parquet') return await writeParquet(store, summary, options.out)
    const text = await formatted(store, summary, format)
    const words = [
      'report',
      'run',
      runId,
      ...storeWords(options.db),
      ...contractWords(options.contract),
    ]
    const next = nextLine(words, 'makes a page with charts')
    if (options.out !== undefined) writeOutput(options.out, text)
    else if (format === 'terminal') process.stdout.write(`${fitted(text, process.stdout)}${next}`)
    else process.stdout.write(text)
  })
}

async function formatted(
  store: Store,
  summary: RunSummary,
  format: Exclude<Options['format'], 'parquet'>,
): Promise<string> {
  switch (format) {
    case 'terminal':
      return `${terminalFigures(summary)}${timeShapeText(await readTimeShape(store, summary.run.runId))}${resultLine(summary)}`
    case 'md':
      return markdownSummary(summary)
    case 'json':
      return jsonSummary(summary)
    case 'csv':
      return csvSummary(summary)
    case 'vllm':
      return vllmBlock(await vllmFigures(store, summary.run.runId), summary)
  }
}

async function writeParquet(
  store: Store,
  summary: RunSummary,
  out: string | undefined,
): Promise<void> {
  if (out === undefined) {
    throw userError.usage('--format parquet needs --out FILE: Parquet is not for a terminal.')
  }
  const rows = flatRows(summary)
  const words = new Set(['run_id', 'scenario', 'verdict', 'step', 'metric'])
  const types = Object.fromEntries(
    Object.keys(rows[0]!).map((name) => [
      name,
      words.has(name) || name.endsWith('_mark') ? ('VARCHAR' as const) : ('DOUBLE' as const),
    ]),
  )
  await exportRows(store, rows, types, out, 'parquet')
}
