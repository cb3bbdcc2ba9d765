import { spawnSync } from 'node:child_process'
import type { Contract } from '../../contract/contract.ts'
import { endsRepeats, repeatsOf } from '../../run/repeats.ts'
import type { RunResult } from '../../run/run.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import { largest } from '../../user/extremes.ts'
import { userError } from '../../user/user-error.ts'
import type { Options } from '../commands/run.ts'
import { contractWords, nextLine, storeWords } from '../terminal/next.ts'
import { positiveOf } from '../terminal/numbers.ts'
import { refuseOptions } from './refuse-options.ts'
import { exitOf, runAndPrint } from './run.ts'
import { runIdOf } from './shard.ts'
import { mustMaySpend } from './spending.ts'
import { stampOf } from './stamp.ts'
import { baseUrlOf } from './target.ts'

/** Options of a single run. */
const apart = ['shard', 'startAt', 'join', 'junit', 'upload', 'otlp', 'live', 'json'] as const

/** `assay run --repeat`: runs a scenario several times, one after the other, each with a fresh start. */
export async function runRepeatsAction(
  scenario: Scenario,
  options: Options,
  { contract, seed, count }: { contract: Contract; seed: number; count: number },
): Promise<void> {
  refuseOptions(options, apart, '--repeat cannot take it. Leave it out, or make single runs.')
  if (scenario.phases.some(({ load }) => load.kind === 'sweep')) {
    throw userError.usage(
      '--repeat: expected a scenario of a planned load; got one with load: sweep, whose answer is an interval already.',
    )
  }
  const baseUrl = baseUrlOf(options.baseUrl ?? scenario.baseUrl ?? undefined, contract)
  const isAgreed = options.yes === true
  const timeScale = positiveOf('--time-scale', options.timeScale)
  const contracts = Array.from({ length: count }, () => contract)
  await mustMaySpend({ scenario, contracts, seed, baseUrl, isAgreed })
  const name = runIdOf(options.runId) ?? `repeat-${stampOf(new Date())}`
  const results: RunResult[] = []
  for (const { scenario: each, settings } of repeatsOf(scenario, { name, count, seed })) {
    process.stdout.write(`${results.length === 0 ? '' : '\n'}Run ${settings.runId} of ${count}.\n`)
    if (options.beforeEach !== undefined) prepare(options.beforeEach)
    const result = await runAndPrint(
      each,
      {
        ...settings,
        baseUrl,
        dbPath: options.db,
        contract,
        timeScale,
        firstRequests: options.firstRequests,
      },
      false,
    )
    results.push(result)
    if (endsRepeats(result)) break
  }
  process.exitCode = largest(results.map(exitOf))
  const words = [
    'compare',
    name,
    'latest',
    ...storeWords(options.db),
    ...contractWords(options.contract),
  ]
  process.stdout.write(nextLine(words, 'after as many runs of another build; compares both'))
}

/** Runs the user's command, whose output is shown. @throws UserError if it fails */
function prepare(line: string): void {
  const { status, signal } = spawnSync(line, { shell: true, stdio: ['ignore', 2, 2] })
  if (status === 0) return
  throw userError.run(
    `--before-each: expected the command to end with 0; it ended with ${status ?? signal}. No further run was made.`,
  )
}
