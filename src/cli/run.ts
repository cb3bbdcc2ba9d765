import { Command } from 'commander'
import type { Contract } from '../contract/contract.ts'
import { loadContract } from '../contract/load.ts'
import { terminalFigures } from '../report/summary/formats.ts'
import type { RunSummary } from '../report/summary/shape.ts'
import { summarise } from '../report/summary/summarise.ts'
import { planOf } from '../run/plan.ts'
import { type RunResult, run } from '../run/run.ts'
import { loadScenario } from '../scenario/parse.ts'
import { openStore } from '../store/open.ts'
import { exit } from './exit.ts'
import { LiveView } from './live-view.ts'
import { positiveOf, wholeOf } from './numbers.ts'
import { judgementText } from './run-judgement.ts'
import { overridden, type RunOverrides } from './run-overrides.ts'
import { planText } from './run-plan.ts'

interface Options extends RunOverrides {
  readonly baseUrl?: string
  readonly db: string
  readonly seed?: string
  readonly timeScale?: string
  readonly contract?: string
  readonly json?: boolean
  readonly dryRun?: boolean
}

export function runCommand(): Command {
  return new Command('run')
    .description('Sends the load of a scenario and keeps every attempt in the store.')
    .argument('<scenario>', 'a YAML file, or a .ts or .js module made by defineScenario')
    .option('--base-url <url>', 'the service; base_url of the scenario unless given')
    .option('--db <file>', 'the store', 'assay.duckdb')
    .option('--seed <number>', 'another seed than that of the scenario')
    .option('--rate <rate>', 'the mean rate of every open phase, as 50/s')
    .option('--duration <time>', 'the same duration for every phase that has one, as 30s')
    .option('--max-credits <number>', 'stop before more credits are spent')
    .option('--time-scale <factor>', "seconds of the service's time in one of ours", '1')
    .option('--contract <file>', 'the promises, as YAML; those of the specification unless given')
    .option('--dry-run', 'check the scenario and say what it would send')
    .option('--json', 'the summary as JSON')
    .action(async (path: string, options: Options) => {
      const contract = loadContract(options.contract)
      const scenario = overridden(await loadScenario(path, contract), options)
      if (options.dryRun) {
        const seed = options.seed === undefined ? scenario.seed : wholeOf('--seed', options.seed)
        const plan = planOf(scenario, contract, seed)
        process.stdout.write(
          options.json
            ? `${JSON.stringify({ scenario, seed, plan }, null, 2)}\n`
            : planText(scenario, plan),
        )
        return
      }
      const live = new LiveView()
      const [drain, leave] = [new AbortController(), new AbortController()]
      const onInterrupt = () => {
        if (drain.signal.aborted) leave.abort()
        else {
          drain.abort()
          live.say('Draining; press Ctrl-C again to leave what is in flight.')
        }
      }
      process.on('SIGINT', onInterrupt)
      process.on('SIGTERM', onInterrupt)
      try {
        const result = await run(scenario, {
          ...(options.baseUrl === undefined ? {} : { baseUrl: options.baseUrl }),
          ...(options.seed === undefined ? {} : { seed: wholeOf('--seed', options.seed) }),
          timeScale: positiveOf('--time-scale', options.timeScale ?? '1'),
          dbPath: options.db,
          contract,
          onProgress: (progress) => live.show(progress),
          signal: drain.signal,
          stopNow: leave.signal,
        })
        live.clear()
        const summary = await summaryOf(result, contract)
        process.stdout.write(
          options.json
            ? `${JSON.stringify({ ...result, summary }, null, 2)}\n`
            : `${scenario.question}\n${summary === null ? nothingPlanned : terminalFigures(summary)}${judgementText(result)}`,
        )
        process.exitCode = exitOf(result)
      } finally {
        process.off('SIGINT', onInterrupt)
        process.off('SIGTERM', onInterrupt)
      }
    })
}

const nothingPlanned = 'No request was planned: ask for a longer phase or a higher rate.\n'

/** Null when nothing was even planned: there are no figures then. */
async function summaryOf(result: RunResult, contract: Contract): Promise<RunSummary | null> {
  if (result.ledger.planned === 0) return null
  const store = await openStore(result.dbPath)
  try {
    return await summarise(store, result.runId, contract)
  } finally {
    store.close()
  }
}

/** An interrupted run is that first; numbers of an invalid one are not held against thresholds. */
export function exitOf(result: RunResult): number {
  if (result.stopped === 'interrupted') return exit.interrupted
  if (result.stopped === 'unreachable' || result.verdict.verdict === 'invalid') return exit.invalid
  if (result.stopped === 'threshold' || result.stopped === 'errors') return exit.failed
  return result.thresholds.every((threshold) => threshold.result === 'held') ? exit.ok : exit.failed
}
