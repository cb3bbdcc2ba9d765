import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Credits } from '../src/contract/contract.ts'
import type { ProfileAnswers } from '../src/service/profile.ts'
import { findingsOf, playRun } from './played-run.ts'

/** A service whose runs are audited, and the balance that they begin with. */
export interface Trial {
  readonly name: string
  readonly balance: Credits
  readonly faults: readonly string[]
  readonly profile?: ProfileAnswers
}

const bands = [1_000, 10_000, 20_000]
const inEachBand = (name: string, faults: readonly string[]): readonly Trial[] =>
  bands.map((balance) => ({ name, balance, faults }))
const inTheHighest = (fault: string): Trial => ({ name: fault, balance: 20_000, faults: [fault] })

/** Honest services, and such as take or spare a credit now and then. */
export const trials: readonly Trial[] = [
  ...inEachBand('honest', []),
  ...(['models', 'credits', 'both'] as const).map((readsCharged) => ({
    name: `honest, reads cost: ${readsCharged}`,
    balance: 20_000,
    faults: [],
    profile: { readsCharged },
  })),
  ...inEachBand('double-charge', ['double-charge']),
  {
    ...inTheHighest('double-charge'),
    name: 'double-charge, reads cost: both',
    profile: { readsCharged: 'both' },
  },
  ...[
    'streams-free=0.02',
    'messages-double=0.05',
    'charge-on-400=0.3',
    'refund-forgotten=0.02',
  ].map(inTheHighest),
  ...['failed-attempt-charged=0.02', 'charge-on-503=0.02', 'lost-update=0.02'].map(inTheHighest),
  { name: 'charge-on-429=0.02', balance: 1_000, faults: ['charge-on-429=0.02'] },
]

export interface Told {
  /** Credits beyond what the successes cost, by the books of the service. */
  readonly stray: Credits
  readonly verdict: 'fail' | 'inconclusive' | 'pass'
  readonly rules: readonly string[]
}

/** What the rules on billing say of one run: the worst of them. */
export async function toldOf(scenario: string, trial: Trial, seed: number): Promise<Told> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-lone-'))
  try {
    const dbPath = join(folder, 'assay.duckdb')
    const stray = await playRun({ ...trial, scenario, seed, dbPath })
    // What a contract says of its own price list is no matter of a run.
    const findings = await findingsOf(dbPath, ['BILL'])
    const rulesOf = (verdict: string) =>
      findings.filter((finding) => finding.verdict.verdict === verdict).map(({ rule }) => rule)
    const [failed, open] = [rulesOf('fail'), rulesOf('inconclusive')]
    return failed.length > 0
      ? { stray, verdict: 'fail', rules: failed }
      : open.length > 0
        ? { stray, verdict: 'inconclusive', rules: open }
        : { stray, verdict: 'pass', rules: [] }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Plays a scenario with each seed against each service, some at a time, and prints how many of the runs with
 * stray credits, and of those without, were told; to stderr each whose verdict is not what it must be.
 */
export async function printLoneCredits(
  scenarioPath: string,
  seeds: number,
  named: string,
  atOnce: number,
): Promise<void> {
  const scenario = readFileSync(resolve(scenarioPath), 'utf8')
  process.stdout.write(
    '| service | balance | stray credits | runs | fail | inconclusive | pass |\n|---|---|---|---|---|---|---|\n',
  )
  let wrong = 0
  for (const trial of trials.filter(({ name }) => name.includes(named))) {
    const told: Told[] = []
    let next = 1
    const play = async () => {
      while (next <= seeds) {
        const seed = next++
        const one = await toldOf(scenario, trial, seed)
        told.push(one)
        if (one.verdict !== (one.stray === 0 ? 'pass' : 'fail')) {
          wrong++
          process.stderr.write(
            `${trial.name}, balance ${trial.balance}, seed ${seed}: ${one.stray} stray, ${one.verdict} ${one.rules.join(' ')}\n`,
          )
        }
      }
    }
    await Promise.all(Array.from({ length: atOnce }, play))
    for (const isStray of [false, true]) {
      const runs = told.filter(({ stray }) => (stray !== 0) === isStray)
      if (runs.length === 0) continue
      const strays = runs.map(({ stray }) => stray)
      const [least, most] = [Math.min(...strays), Math.max(...strays)]
      const share = (verdict: Told['verdict']) =>
        `${Math.round((100 * runs.filter((each) => each.verdict === verdict).length) / runs.length)} %`
      const cells = [
        trial.name,
        trial.balance,
        least === most ? least : `${least} to ${most}`,
        runs.length,
      ]
      process.stdout.write(
        `| ${[...cells, share('fail'), share('inconclusive'), share('pass')].join(' | ')} |\n`,
      )
    }
  }
  process.stdout.write(
    wrong === 0 ? '\nEvery stray credit failed, and no other run was told.\n' : '',
  )
}
