import { existsSync, rmSync } from 'node:fs'
import { loadContract } from '../../contract/load.ts'
import { summarise } from '../../public/report.ts'
import { judgeParts } from '../../public/run.ts'
import { mergeParts, openStore } from '../../public/store.ts'
import { terminalFigures } from '../../report/summary/terminal.ts'
import { readTimeShape, timeShapeText } from '../../report/summary/time-bars.ts'
import { durationUsOf } from '../../scenario/quantity.ts'
import { userError } from '../../user/user-error.ts'
import type { Options } from '../commands/merge.ts'
import { coloured } from '../terminal/colour.ts'
import { exit } from '../terminal/exit.ts'
import { contractWords, nextLine, storeWords } from '../terminal/next.ts'
import { shown } from '../terminal/progress.ts'
import { onStopSignal } from '../terminal/stop-signals.ts'
import { fitted } from '../terminal/terminal-width.ts'
import { exitOf } from './run.ts'
import { judgementText } from './run-judgement.ts'

/** Merges the shards of several machines into one run, judges it, and sets the exit code. */
export async function mergeAction(paths: readonly string[], options: Options): Promise<void> {
  const contract = loadContract(options.contract)
  const clockErrorUs = options.clockError === undefined ? null : durationUsOf(options.clockError)
  if (clockErrorUs === null && options.clockError !== undefined) {
    throw userError.usage(
      `--clock-error: expected a duration, such as 5ms; got ${options.clockError}.`,
    )
  }
  const ignoreSignals = onStopSignal(() => {
    process.stderr.write(
      'Interrupted: shards that were merged are whole. Merge again to add the rest.\n',
    )
    process.exit(exit.interrupted)
  })
  const isNew = !existsSync(options.db)
  const store = await openStore(options.db)
  let isDone = false
  try {
    const allowMissing = options.allowMissing === true
    const runId = await shown((view) => mergeParts(store, { paths, allowMissing, ...view }))
    isDone = true
    const result = await judgeParts(store, { runId, contract, clockErrorUs })
    process.exitCode = exitOf(result)
    const summary = result.counts.planned === 0 ? null : await summarise(store, { runId, contract })
    const times = summary === null || options.json ? null : await readTimeShape(store, runId)
    process.stdout.write(
      options.json
        ? `${JSON.stringify({ ...result, summary }, null, 2)}\n`
        : coloured(
            fitted(
              `${result.question}\n${summary === null ? '' : `${terminalFigures(summary)}${timeShapeText(times)}`}${judgementText(result)}${nextLine(['audit', runId, ...storeWords(options.db), ...contractWords(options.contract)], 'judges it by every rule')}`,
              process.stdout,
            ),
          ),
    )
  } finally {
    store.close()
    ignoreSignals()
    // A refused merge must not leave an empty store behind.
    if (isNew && !isDone)
      for (const end of ['', '.wal', '.bodies']) rmSync(`${options.db}${end}`, { force: true })
  }
}
