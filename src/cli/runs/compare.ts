import { loadContract } from '../../contract/load.ts'
import { compareRuns } from '../../public/report.ts'
import { openExistingStore } from '../../public/store.ts'
import { markdownComparison, terminalComparison } from '../../report/compare/formats.ts'
import { type GateResult, judgeGate, parseGate } from '../../report/compare/gate.ts'
import { renderComparison } from '../../report/compare-page.ts'
import { jsonText } from '../../report/summary/printable.ts'
import { writeOutput } from '../../store/files/output.ts'
import { resolveRun } from '../../store/runs/runs.ts'
import type { Store } from '../../store/session/open.ts'
import type { Options } from '../commands/compare.ts'
import { coloured } from '../terminal/colour.ts'
import { exit } from '../terminal/exit.ts'
import { shown } from '../terminal/progress.ts'
import { fitted } from '../terminal/terminal-width.ts'

export async function compareAction(a: string, b: string, options: Options): Promise<void> {
  const gates = options.failOn.map(parseGate)
  const opened: Store[] = []
  try {
    const storeA = await openExistingStore(options.db)
    opened.push(storeA)
    const other = options.dbB !== undefined && options.dbB !== options.db
    const storeB = other ? await openExistingStore(options.dbB!) : storeA
    if (other) opened.push(storeB)
    const [sideA, sideB] = [
      { store: storeA, runId: await resolveRun(storeA, a) },
      { store: storeB, runId: await resolveRun(storeB, b) },
    ]
    const contract = loadContract(options.contract)
    const comparison = await shown(({ onProgress }) =>
      compareRuns(sideA, sideB, { contract, onProgress }),
    )
    const results = gates.map((gate) => judgeGate(comparison, gate))
    if (options.format === 'html') {
      const { html } = await renderComparison(storeA, comparison, results)
      writeOutput(options.out, html)
      process.stdout.write(`${options.out}\n`)
    } else process.stdout.write(formatted(options, comparison, results))
    if (results.some((result) => result.result !== 'passed')) process.exitCode = exit.failed
  } finally {
    for (const store of opened) store.close()
  }
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
