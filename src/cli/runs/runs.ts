import { listRuns } from '../../public/store.ts'
import { printable } from '../../report/summary/printable.ts'
import { inStore } from '../../store/session/in-store.ts'
import type { Options } from '../commands/runs.ts'
import { duration } from '../terminal/duration.ts'
import { nextLine, storeWords } from '../terminal/next.ts'
import { table } from '../terminal/table.ts'

export async function runsAction({ db, json }: Options): Promise<void> {
  return inStore(db, async (store) => {
    const runs = await listRuns(store)
    if (json) return void process.stdout.write(`${JSON.stringify(runs, null, 2)}\n`)
    if (runs.length === 0) {
      process.stdout.write(
        `${db} has no runs.\n${nextLine(['init'], 'writes a first scenario; assay run sends it')}`,
      )
      return
    }
    const head = [
      'run',
      'kind',
      'scenario',
      'started (UTC)',
      'took',
      'attempts',
      'verdict',
      'service',
    ]
    const lines = runs.map((run) => [
      printable(run.runId),
      run.kind,
      printable(run.scenario, 40),
      run.startedAt.toISOString().slice(0, 19).replace('T', ' '),
      run.endedUs === null ? 'not ended' : duration(run.endedUs),
      String(run.attempts),
      run.verdict ?? '-',
      printable(run.baseUrl),
    ])
    const next = nextLine(
      ['summary', runs[0]!.runId, ...storeWords(db)],
      'prints the figures of the newest',
    )
    process.stdout.write(`${table([head, ...lines], 'words').join('\n')}\n${next}`)
  })
}
