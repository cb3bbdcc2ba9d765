import { parseArgs } from 'node:util'
import type { Search } from '../src/scenario/loads.ts'
import { judgeTrial } from '../src/schedule/safe-rate/judge.ts'
import { nextTrial } from '../src/schedule/safe-rate/next-trial.ts'
import type { SafeRate } from '../src/schedule/safe-rate/outcome.ts'
import type { TrialPlan } from '../src/schedule/safe-rate/search.ts'
import { partsOfTrial, type Trial, type TrialEvidence } from '../src/schedule/safe-rate/trial.ts'
import { TrialWatch } from '../src/schedule/safe-rate/watch.ts'
import { largest } from '../src/user/extremes.ts'
import {
  type Answer,
  bridge,
  capacityOf,
  type Random,
  randomOf,
  type Server,
  simulatedServers,
} from './simulated-servers.ts'
import { searchBefore } from './state-before.ts'

/**
 * Searches for a safe rate against simulated servers of known capacity, by the code that runs use: 95 % of requests
 * within a second.
 *
 *     node bench/safe-rate.ts [--seeds 100] [--only mm1,batch] [--how before,bench,quick,standard,thorough]
 */

const objective = {
  startPerS: null,
  maxPerS: 1000,
  goodput: 0.95,
  boundUs: 1e6,
  precision: null,
  hold: null,
  headroom: 1,
  trialUs: null,
  coolDownUs: null,
} as const

const searches: Readonly<Record<string, Search | null>> = {
  before: null,
  bench: { ...objective, budget: 'quick', mostUs: 280e6 },
  quick: { ...objective, budget: 'quick', mostUs: null },
  standard: { ...objective, budget: 'standard', mostUs: null },
  thorough: { ...objective, budget: 'thorough', mostUs: null },
}

/** A run reports its counts once a second. */
const glanceS = 1

/** Sends one trial in simulated time. */
function simulated(server: Server, random: Random, plan: TrialPlan, fromS: number): TrialEvidence {
  if (plan.step === 'warm-up') return warmUp(server, plan, fromS)
  const arrivals = bridge(random, plan.requests, plan.ratePerS, fromS)
  const answers = server.serve(arrivals, true)
  const spanS = plan.requests / plan.ratePerS
  const watch = new TrialWatch(plan, spanS * 1e6)
  const ends = answers.map(({ endS }) => endS).sort((a, b) => a - b)
  const misses = answers
    .flatMap((answer, at) => (isMiss(answer) ? [missedAtS(answer, arrivals[at]!)] : []))
    .sort((a, b) => a - b)
  let [sent, ended, missed] = [0, 0, 0]
  for (let atS = fromS + glanceS; atS <= fromS + spanS; atS += glanceS) {
    while (sent < arrivals.length && arrivals[sent]! <= atS) sent++
    while (ended < ends.length && ends[ended]! <= atS) ended++
    while (missed < misses.length && misses[missed]! <= atS) missed++
    // Arrivals after this moment cannot have ended yet, so the count of ends is right.
    const end = watch.see({ atUs: (atS - fromS) * 1e6, sent, missed, inFlight: sent - ended })
    if (end === null) continue
    const drainedS = Math.max(atS, ...answers.slice(0, sent).map(({ endS }) => endS))
    server.windBack(drainedS, arrivals.length - sent)
    return evidence(
      arrivals,
      answers.slice(0, sent),
      plan,
      watch,
      end,
      atS - fromS,
      drainedS - fromS,
      fromS,
    )
  }
  const drainedS = answers.reduce((most, { endS }) => Math.max(most, endS), fromS + spanS)
  return evidence(arrivals, answers, plan, watch, 'plan', spanS, drainedS - fromS, fromS)
}

const isMiss = ({ judgedS }: Answer) => judgedS > 1
const missedAtS = ({ endS, limited }: Answer, arrivalS: number) =>
  limited === true ? endS : arrivalS + 1

function evidence(
  arrivals: readonly number[],
  answers: readonly Answer[],
  plan: TrialPlan,
  watch: TrialWatch,
  end: TrialEvidence['end'],
  lastedS: number,
  tookS: number,
  fromS: number,
): TrialEvidence {
  const zeros = () => new Array<number>(partsOfTrial).fill(0)
  const parts = { judged: zeros(), missed: zeros(), logUs: zeros() }
  for (const [at, answer] of answers.entries()) {
    const part = Math.floor((at * partsOfTrial) / plan.requests)
    parts.judged[part]!++
    if (isMiss(answer)) parts.missed[part]!++
    parts.logUs[part]! += Math.log(Math.min(answer.judgedS, 60) * 1e6)
  }
  return {
    ...{ sent: answers.length, notSent: 0, late: 0, judged: answers.length, unknown: 0 },
    missed: answers.filter(isMiss).length,
    limited: answers.filter(({ limited }) => limited === true).length,
    meanUs: mean(answers.map(({ endS }, at) => (endS - arrivals[at]!) * 1e6)),
    parts,
    inFlight: watch.moments(lastedS * 1e6),
    resetUs: resetUsOf(answers, fromS + tookS),
    ...{ lastedUs: lastedS * 1e6, tookUs: tookS * 1e6, end },
  }
}

/** The last time that a refusal named, after the end of the trial. */
function resetUsOf(answers: readonly Answer[], nowS: number): number | null {
  const resets = answers.flatMap(({ endS, retryS }) =>
    retryS === undefined ? [] : [endS + retryS],
  )
  return resets.length === 0 ? null : Math.max(0, largest(resets) - nowS) * 1e6
}

function warmUp(server: Server, plan: TrialPlan, fromS: number): TrialEvidence {
  const answers: Answer[] = []
  const arrivals: number[] = []
  let nowS = fromS
  while (answers.length < plan.requests && nowS - fromS < (plan.mostUs ?? Infinity) / 1e6) {
    arrivals.push(nowS)
    const [answer] = server.serve([nowS], true)
    answers.push(answer!)
    nowS = answer!.endS
  }
  const seconds = nowS - fromS
  const watch = new TrialWatch(plan, Infinity)
  return evidence(arrivals, answers, plan, watch, 'plan', seconds, seconds, fromS)
}

const mean = (values: readonly number[]) =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length

interface Found {
  readonly safePerS: number | null
  readonly kind: SafeRate['kind']
  readonly trials: readonly Trial[]
  readonly seconds: number
  readonly requests: number
}

export function searchOnce(server: Server, random: Random, search: Search): Found {
  const trials: Trial[] = []
  let nowS = 0
  for (;;) {
    const next = nextTrial(search, trials)
    if (next.kind === 'done') {
      const { safeRate } = next
      return {
        safePerS: safeRate.kind === 'held' ? safeRate.safePerS : null,
        kind: safeRate.kind,
        trials,
        seconds: nowS,
        requests: trials.reduce((sum, { sent }) => sum + sent, 0),
      }
    }
    const startS = nowS + next.pauseUs / 1e6
    const seen = simulated(server, random, next.plan, startS)
    const tookUs = seen.tookUs + next.pauseUs
    trials.push(judgeTrial({ search, plan: next.plan }, { ...seen, tookUs }, { phase: '' }))
    nowS += tookUs / 1e6
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (sorted.length - 1) * share
  const low = Math.floor(at)
  return sorted[low]! + (sorted[Math.min(low + 1, sorted.length - 1)]! - sorted[low]!) * (at - low)
}

function rowOf(name: string, how: string, seeds: number, capacity: number): string {
  const { title, make } = simulatedServers[name]!
  const search = searches[how]!
  const found = Array.from({ length: seeds }, (_, seed) => {
    const random = randomOf(`${name} ${how} ${seed}`)
    const server = make(random)
    const result =
      search === null
        ? { ...searchBefore(server, random), kind: 'held' as const }
        : searchOnce(server, random, search)
    return { ...result, capacity: server.capacityNow?.() ?? capacity }
  })
  const said = found.filter(({ safePerS }) => safePerS !== null)
  const ratios = said.map((each) => each.safePerS! / each.capacity)
  const share = (holds: (ratio: number) => boolean) =>
    `${((100 * ratios.filter(holds).length) / seeds).toFixed(seeds > 100 ? 1 : 0)} %`
  const rate = (value: number) => value.toPrecision(3)
  const rates = said.map(({ safePerS }) => safePerS!)
  const count = (kind: SafeRate['kind']) => found.filter((each) => each.kind === kind).length
  return [
    '',
    title,
    how,
    rate(
      quantile(
        found.map((each) => each.capacity),
        0.5,
      ),
    ),
    rates.length === 0
      ? '–'
      : `${rate(quantile(rates, 0.5))} (${rate(quantile(rates, 0.05))} to ${rate(quantile(rates, 0.95))})`,
    share((ratio) => ratio > 0.95 && ratio < 1.05),
    share((ratio) => ratio > 0.85 && ratio < 1.15),
    share((ratio) => ratio > 1),
    ratios.length === 0 ? '–' : `${((Math.max(...ratios) - 1) * 100).toFixed(0)} %`,
    `${said.length}/${count('bracket')}/${count('none')}`,
    quantile(
      found.map((each) => each.seconds),
      0.5,
    ).toFixed(0),
    Math.max(...found.map((each) => each.seconds)).toFixed(0),
    quantile(
      found.map((each) => each.requests),
      0.5,
    ).toFixed(0),
    '',
  ]
    .join(' | ')
    .trim()
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '100' },
      only: { type: 'string', default: Object.keys(simulatedServers).join(',') },
      how: { type: 'string', default: Object.keys(searches).join(',') },
    },
  })
  console.log(
    '| server | how | true | says: median (5 to 95 %) | within 5 % | within 15 % | over | most | held/bracket/none | seconds | longest | requests |',
  )
  console.log('|---|---|---|---|---|---|---|---|---|---|---|---|')
  for (const name of values.only.split(',')) {
    const server = simulatedServers[name]
    if (server === undefined) throw new Error(`no server ${name}`)
    const capacity = capacityOf(server, name)
    for (const how of values.how.split(','))
      console.log(rowOf(name, how, Number(values.seeds), capacity))
  }
}
