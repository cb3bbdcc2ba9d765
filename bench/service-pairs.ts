/**
 * Two runs of the reference service, one after the other, on this machine: how often is a figure called different, and how often is
 * one found to be worse if the service takes 20 % more time? `npx node bench/service-pairs.ts [--pairs 20] [--requests 2000]
 * [--slower 1.2]`. It takes 40 seconds for each pair. A pair with an INVALID run is not compared, and is counted apart. Run it on a
 * quiet machine: a neighbour of one of two runs is a true difference.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { scenarioFrom } from '../src/public/scenario.ts'
import { compareRuns } from '../src/report/compare/compare.ts'
import { run } from '../src/run/run.ts'
import { startService } from '../src/service/start.ts'
import { openStore } from '../src/store/session/open.ts'
import { openContract as contract } from './open-contract.ts'

const { values } = parseArgs({
  options: {
    pairs: { type: 'string', default: '20' },
    requests: { type: 'string', default: '2000' },
    slower: { type: 'string', default: '1.2' },
  },
})
const [pairs, requests, slower] = [+values.pairs, +values.requests, +values.slower]
const ratePerS = 150
const figures = ['mean', 'p50', 'p90', 'p95'] as const

const scenario = scenarioFrom({
  ...{ name: 'pairs', question: 'Is the second run slower?', model: 'svc-k2' },
  steps: { chat: { endpoint: 'chat' } },
  phases: [{ name: 'steady', load: 'poisson', rate: `${ratePerS}/s`, max_requests: requests }],
})
const folder = mkdtempSync(join(tmpdir(), 'assay-service-pairs-'))
const dbPath = join(folder, 'a.duckdb')

interface MadeRun {
  readonly runId: string
  readonly verdict: string
}

/** One run of a service whose times are `factor` times as long. */
async function runOf(seed: number, factor: number): Promise<MadeRun> {
  const runId = `run-${seed}-${factor}`
  const service = await startService({
    ...{ seed, contract, accounts: [{ name: 'any', balance: 1_000_000 }] },
    shape: {
      timeToFirstUs: { kind: 'lognormal', median: 60_000 * factor, sigma: 0.4 },
      betweenTokensUs: { kind: 'constant', value: 4_000 * factor },
      lengthTokens: { kind: 'uniform', min: 8, max: 32 },
    },
  })
  try {
    const keys = { [scenario.keys[0]!.name]: service.keys[0]!.apiKey }
    const { baseUrl } = service
    const { verdict } = await run(scenario, { baseUrl, dbPath, runId, contract, seed, keys })
    return { runId, verdict: verdict.verdict }
  } finally {
    await service.close()
  }
}

/** What the comparison says of each figure of run b; null if one of both is INVALID. */
async function changesOf(a: MadeRun, b: MadeRun) {
  if (a.verdict === 'invalid' || b.verdict === 'invalid') return null
  const store = await openStore(dbPath)
  const [sideA, sideB] = [a, b].map(({ runId }) => ({ store, runId }))
  const { differences } = await compareRuns(sideA!, sideB!, contract)
  store.close()
  return figures.map((statistic) => {
    const { interval } = differences.find(
      (each) => each.metric === 'response' && each.statistic === statistic,
    )!
    const [low, high] = [interval?.[0] ?? -Infinity, interval?.[1] ?? Infinity]
    return { isWorse: low > 0, isBetter: high < 0 }
  })
}

/** One line of the table: how often each figure is what it is counted for, of the pairs without an INVALID run. */
async function line(
  title: string,
  compared: readonly (readonly [MadeRun, MadeRun])[],
  counts: (change: { readonly isWorse: boolean; readonly isBetter: boolean }) => boolean,
): Promise<string> {
  const changes: NonNullable<Awaited<ReturnType<typeof changesOf>>>[] = []
  for (const [a, b] of compared) {
    const found = await changesOf(a, b)
    if (found !== null) changes.push(found)
  }
  const cells = figures.map((_, at) => changes.filter((each) => counts(each[at]!)).length)
  return `| ${[title, changes.length, ...cells].join(' | ')} |`
}

try {
  const same = [await runOf(0, 1)]
  const longer: MadeRun[] = []
  for (let nth = 1; nth <= pairs; nth++) {
    longer.push(await runOf(nth, slower))
    same.push(await runOf(nth, 1))
    process.stderr.write(`pair ${nth} of ${pairs}\n`)
  }
  const before = same.slice(0, pairs)
  console.log(`| ${pairs} pairs | without an INVALID run | ${figures.join(' | ')} |`)
  console.log(`| --- | --- |${' --- |'.repeat(figures.length)}`)
  console.log(
    await line(
      'one service, called different',
      before.map((a, at) => [a, same[at + 1]!]),
      ({ isWorse, isBetter }) => isWorse || isBetter,
    ),
  )
  console.log(
    await line(
      `${slower} times the service time, found`,
      before.map((a, at) => [a, longer[at]!]),
      ({ isWorse }) => isWorse,
    ),
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
