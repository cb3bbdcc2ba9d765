import { lookup } from 'node:dns/promises'
import { format, parse } from 'node:path'
import { isLoopback } from '../../contract/base-url.ts'
import type { Contract } from '../../contract/contract.ts'
import { compareRuns } from '../../public/report.ts'
import { runPair } from '../../public/run.ts'
import type { Comparison } from '../../report/compare/compare.ts'
import { terminalComparison } from '../../report/compare/formats.ts'
import { jsonText } from '../../report/summary/printable.ts'
import type { RunResult } from '../../run/run.ts'
import {
  type Scenario,
  type Target,
  type TargetName,
  targetNames,
} from '../../scenario/scenario.ts'
import { inStores } from '../../store/session/in-store.ts'
import { largest } from '../../user/extremes.ts'
import { commandText } from '../../user/shell-word.ts'
import type { Options } from '../commands/run.ts'
import { coloured } from '../terminal/colour.ts'
import { exit } from '../terminal/exit.ts'
import { contractWords, nextLine, optionWords, storeWords } from '../terminal/next.ts'
import { positiveOf } from '../terminal/numbers.ts'
import { onStopSignal } from '../terminal/stop-signals.ts'
import { fitted } from '../terminal/terminal-width.ts'
import { exitOf } from './run.ts'
import { judgementText } from './run-judgement.ts'
import { runIdOf } from './shard.ts'
import { mustMaySpend } from './spending.ts'
import { stampOf } from './stamp.ts'
import { targetContracts } from './target.ts'

type Pair = Readonly<Record<TargetName, RunResult>>
type Contracts = Readonly<Record<TargetName, Contract>>

/** `assay run` of a scenario with two targets: the judgement of each, and their comparison by pairs. */
export async function runPairAction(
  scenario: Scenario & { readonly targets: NonNullable<Scenario['targets']> },
  options: Options,
  seed: number,
): Promise<void> {
  const { targets } = scenario
  const timeScale = positiveOf('--time-scale', options.timeScale)
  const contracts = targetContracts(targets, options.contract)
  // Each request is sent to both: at one service, that is two runs.
  const paid = targetNames.filter((name) => !isLoopback(targets[name].baseUrl))
  for (const names of Map.groupBy(paid, (name) => new URL(targets[name].baseUrl).host).values()) {
    const { baseUrl } = targets[names[0]!]
    const isAgreed = options.yes === true
    const own = names.map((name) => contracts[name])
    await mustMaySpend({ scenario, contracts: own, seed, baseUrl, isAgreed })
  }
  if (await shareAddress(targets.a, targets.b))
    process.stderr.write(
      'Both targets have one address: if they share a machine, each slows the other, and their difference looks smaller.\n',
    )
  const stores = { a: options.db, b: storeOfB(options.db) }
  const pair = runIdOf(options.runId) ?? `pair-${stampOf(new Date())}`
  const drain = new AbortController()
  const stopNow = new AbortController()
  const ignoreSignals = onStopSignal(() => (drain.signal.aborted ? stopNow : drain).abort())
  let results: Pair
  try {
    results = await runPair(stores, {
      ...{ scenario, pair, seed, timeScale, contracts },
      ...{ signal: drain.signal, stopNow: stopNow.signal },
    })
  } finally {
    ignoreSignals()
  }
  const comparison = await compared(stores, results, contracts)
  process.stdout.write(
    options.json === true
      ? `${jsonText({ ...results, comparison })}\n`
      : coloured(
          fitted(
            pairText(scenario, { contract: options.contract, contracts }, results, comparison),
            process.stdout,
          ),
        ),
  )
  process.exitCode = exitOfPair(results)
}

/** An interruption comes first; a target that served nothing is compared with nothing. */
function exitOfPair(results: Pair): number {
  const codes = targetNames.map((name) => exitOf(results[name]))
  if (codes.includes(exit.interrupted)) return exit.interrupted
  return isCompared(results) ? largest(codes) : exit.invalid
}

const isCompared = (results: Pair) => targetNames.every((name) => results[name].counts.ok > 0)

async function compared(
  stores: Readonly<Record<TargetName, string>>,
  results: Pair,
  contracts: Contracts,
): Promise<Comparison> {
  return inStores(stores.a, stores.b, (a, b) =>
    compareRuns(
      { store: a, runId: results.a.runId, contract: contracts.a },
      { store: b, runId: results.b.runId, contract: contracts.b },
    ),
  )
}

function pairText(
  { question, targets }: Parameters<typeof runPairAction>[0],
  { contract, contracts }: { readonly contract: string | undefined; readonly contracts: Contracts },
  results: Pair,
  comparison: Comparison,
): string {
  const { a, b } = results
  const given = (name: TargetName) => targets[name].contract ?? contract
  const isGiven = targetNames.some((name) => given(name) !== undefined)
  // Beside a contract of the other, the usual one is named.
  const contractOf = (name: TargetName) =>
    given(name) ?? (isGiven ? contracts[name].name : undefined)
  return [
    question,
    ...targetNames.map(
      (name) =>
        `\n${name}: ${results[name].baseUrl}\n${servedText(results[name])}${judgementText(results[name])}`,
    ),
    isCompared(results)
      ? terminalComparison(comparison, [])
      : 'A target of which no request succeeded is compared with nothing.\n',
    'To judge each target by every rule:',
    ...targetNames.map((name) => {
      const { runId, dbPath } = results[name]
      const own = contractWords(contractOf(name))
      return `  ${commandText(['audit', runId, ...storeWords(dbPath), ...own])}`
    }),
    nextLine(
      [
        ...['compare', a.runId, b.runId, ...storeWords(a.dbPath), '--db-b', b.dbPath],
        ...contractWords(contractOf('a')),
        ...optionWords('--contract-b', contractOf('b')),
        '--all',
      ],
      'prints every metric of every step',
    ),
  ].join('\n')
}

const servedText = ({ counts }: RunResult) => `${counts.ok} of ${counts.sent} requests succeeded`

/** `assay-b.duckdb` beside `assay.duckdb`. */
function storeOfB(db: string): string {
  const { dir, name, ext } = parse(db)
  return format({ dir, name: `${name}-b`, ext })
}

/** Whether both hosts resolve to the same address; false if that is not known. */
async function shareAddress(a: Target, b: Target): Promise<boolean> {
  try {
    const [one, other] = await Promise.all(
      [a, b].map(async ({ baseUrl }) =>
        lookup(new URL(baseUrl).hostname.replace(/^\[|\]$/g, ''), { all: true }),
      ),
    )
    const known = new Set(one!.map(({ address }) => address))
    return other!.some(({ address }) => known.has(address))
  } catch {
    return false
  }
}
