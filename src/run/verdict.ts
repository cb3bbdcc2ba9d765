import { type Ledger, ledgerFaults } from './ledger.ts'

/** One test of a run by itself, with its figure and what to do when it fails. */
export interface RunTest {
  readonly name: string
  readonly result: 'held' | 'degraded' | 'failed' | 'not judged'
  readonly figure: string
  readonly bound: string
  /** Empty where it held. */
  readonly remedy: string
}

/** What a run says of itself, after MLPerf LoadGen's closing line. */
export interface RunVerdict {
  readonly verdict: 'valid' | 'degraded' | 'invalid'
  readonly tests: readonly RunTest[]
  /** A run that is invalid for latency may still be evidence for billing and rate limits. */
  readonly says: string
}

/** What the judgement looks at; null where nothing was measured. */
export interface RunFacts {
  readonly ledger: Ledger
  readonly rows: Ledger
  /** Rows that senders handed over, and those that the recorder appended. */
  readonly handedOver: number
  readonly recorded: number
  /** Percentiles of lag, and how many requests they are of; null where nothing was sent. */
  readonly lag: LagFigures | null
  readonly medianResponseUs: number | null
  /** Of steady open phases. */
  readonly plannedArrivals: number
  /** Of these, dispatched within the second that they were due in (`arrivals-in-time.ts`). */
  readonly arrivedInTime: number
  /** Whether the run ended because its budget was spent. */
  readonly budgetSpent: boolean
  readonly threads: readonly {
    readonly shard: number
    readonly loopDelayP99Us: number
    readonly utilisation: number
  }[]
  readonly pacing: 'timer' | 'precise'
  readonly deepestQueue: number
  /** Mean in flight, counted while sending. */
  readonly meanInFlight: number | null
  /** Arrival rate times mean time in flight, from the rows. */
  readonly lambdaW: number | null
  /** Smallest number of samples behind a p99 that is shown. */
  readonly fewestSamples: number | null
  /** Of what this machine was calibrated to send; null when it was not. */
  readonly ceilingShare: number | null
}

export interface LagFigures {
  readonly p50Us: number
  readonly p90Us: number
  readonly p99Us: number
  readonly samples: number
}

/** Samples for 99 % confidence in a percentile, from MLPerf's early stopping. */
export const samplesFor: Readonly<Record<'p90' | 'p95' | 'p99' | 'p99.9', number>> = {
  p90: 64,
  p95: 130,
  p99: 662,
  'p99.9': 6636,
}

/** Batches that may wait for the recorder before it counts as behind. */
export const queueLimit = 64

/** Judges a run (measurement of loadgen: each constraint with its figure and one remedy). */
export function judge(facts: RunFacts): RunVerdict {
  const tests = [
    ledgerTest(facts),
    recorderTest(facts),
    lagTest(facts),
    rateTest(facts),
    notSentTest(facts),
    ...threadTests(facts),
    littleTest(facts),
    samplesTest(facts),
    ceilingTest(facts),
  ]
  const failed = tests.filter((test) => test.result === 'failed').map((test) => test.name)
  const verdict =
    failed.length > 0
      ? 'invalid'
      : tests.some((test) => test.result === 'degraded')
        ? 'degraded'
        : 'valid'
  const rowsHold = !failed.includes('ledgers') && !failed.includes('recorder')
  const says =
    verdict !== 'invalid'
      ? ''
      : rowsHold
        ? 'Not to be used for latency. Every row is there, so billing and rate limits can be judged.'
        : 'Rows are missing, so nothing can be judged by this run.'
  return { verdict, tests, says }
}

function ledgerTest({ ledger, rows }: RunFacts): RunTest {
  const faults = ledgerFaults(ledger, rows)
  return {
    name: 'ledgers',
    result: faults.length === 0 ? 'held' : 'failed',
    figure:
      faults.length === 0
        ? `planned ${ledger.planned} = sent ${ledger.sent} + not sent ${ledger.notSent}`
        : faults.join('; '),
    bound: 'they add up',
    remedy: faults.length === 0 ? '' : 'A fault of Assay; please report it with the store.',
  }
}

function recorderTest(facts: RunFacts): RunTest {
  const missing = facts.handedOver - facts.recorded
  const behind = facts.deepestQueue > queueLimit
  return {
    name: 'recorder',
    result: missing !== 0 ? 'failed' : behind ? 'degraded' : 'held',
    figure: `${facts.recorded} of ${facts.handedOver} rows, at most ${facts.deepestQueue} batches waiting`,
    bound: `every row, at most ${queueLimit} batches`,
    remedy:
      missing !== 0
        ? 'Look for a full disk; run again with another --db.'
        : behind
          ? 'Put the store on a faster disk, or leave the recorder a core.'
          : '',
  }
}

/**
 * The highest percentile of lag that its samples can carry: a p99 of fifty requests is the lag of
 * one of them, and would make a run invalid for one hiccup of the machine.
 */
function lagTest({ lag, medianResponseUs }: RunFacts): RunTest {
  const boundUs = Math.max(5000, (medianResponseUs ?? 0) / 100)
  const bound = `< ${ms(boundUs)}`
  if (lag === null) return notJudged('lag p99', bound, 'nothing was sent')
  const [name, value] =
    lag.samples >= samplesFor.p99
      ? (['p99', lag.p99Us] as const)
      : lag.samples >= samplesFor.p90
        ? (['p90', lag.p90Us] as const)
        : (['p50', lag.p50Us] as const)
  const held = value < boundUs
  const why = name === 'p99' ? '' : `; ${lag.samples} requests are too few for a p99`
  return {
    name: `lag ${name}`,
    result: held ? 'held' : 'failed',
    figure: `${ms(value)}${why}`,
    bound,
    remedy: held
      ? ''
      : 'Requests left late: give the sender a core of its own, add threads, or ask a lower rate.',
  }
}

function rateTest({ plannedArrivals, arrivedInTime, budgetSpent }: RunFacts): RunTest {
  const bound = '0.99 to 1.01'
  if (plannedArrivals === 0) return notJudged('achieved / planned rate', bound, 'no open phase')
  const ratio = arrivedInTime / plannedArrivals
  const held = ratio >= 0.99 && ratio <= 1.01
  return {
    name: 'achieved / planned rate',
    result: held ? 'held' : 'failed',
    figure: `${ratio.toFixed(4)} (${arrivedInTime} of ${plannedArrivals})`,
    bound,
    remedy: held
      ? ''
      : budgetSpent
        ? budgetRemedy
        : 'Raise max_in_flight, add threads, or ask a lower rate.',
  }
}

const budgetRemedy =
  'max_credits was spent before the plan was sent: raise it, or plan no more than it pays for.'

function notSentTest({ ledger, budgetSpent }: RunFacts): RunTest {
  const share = ledger.planned === 0 ? 0 : ledger.notSent / ledger.planned
  return {
    name: 'not sent',
    result: share === 0 ? 'held' : share <= 0.01 ? 'degraded' : 'failed',
    figure: `${ledger.notSent} (${(share * 100).toFixed(2)} %)`,
    bound: '0; up to 1 % is degraded',
    remedy:
      share === 0
        ? ''
        : budgetSpent
          ? budgetRemedy
          : 'Their rows tell why: raise max_in_flight or max_credits.',
  }
}

function threadTests({ threads, pacing }: RunFacts): readonly RunTest[] {
  const delay = Math.max(0, ...threads.map((thread) => thread.loopDelayP99Us))
  const busy = Math.max(0, ...threads.map((thread) => thread.utilisation))
  const remedy = 'Add threads, or leave cores free for them.'
  const delayHeld = delay < 20_000
  const delayTest: RunTest = {
    name: 'event-loop delay p99',
    result: delayHeld ? 'held' : 'degraded',
    figure: ms(delay),
    bound: '< 20 ms',
    remedy: delayHeld ? '' : remedy,
  }
  if (pacing === 'precise') {
    return [
      delayTest,
      notJudged('event-loop utilisation', '< 0.8', 'precise pacing spins, so it is always 1'),
    ]
  }
  const busyHeld = busy < 0.8
  return [
    delayTest,
    {
      name: 'event-loop utilisation',
      result: busyHeld ? 'held' : 'degraded',
      figure: busy.toFixed(2),
      bound: '< 0.8',
      remedy: busyHeld ? '' : remedy,
    },
  ]
}

/** N = λ·W holds for any stable system; a client that loses or invents requests breaks it. */
function littleTest({ meanInFlight, lambdaW }: RunFacts): RunTest {
  const name = "Little's law"
  const bound = 'within 5 %'
  if (meanInFlight === null || lambdaW === null || meanInFlight === 0) {
    return notJudged(name, bound, 'nothing was in flight')
  }
  const off = Math.abs(meanInFlight - lambdaW) / meanInFlight
  const held = off < 0.05
  return {
    name,
    result: held ? 'held' : 'failed',
    figure: `${meanInFlight.toFixed(3)} in flight, ${lambdaW.toFixed(3)} by rate and time (${(off * 100).toFixed(2)} %)`,
    bound,
    remedy: held ? '' : 'Rows and counters disagree: a fault of Assay, please report it.',
  }
}

/** Too few samples make a percentile no figure; they do not make the run worse. */
function samplesTest({ fewestSamples }: RunFacts): RunTest {
  const bound = `p99 needs ${samplesFor.p99}, p95 ${samplesFor.p95}`
  if (fewestSamples === null) return notJudged('samples', bound, 'no success')
  const enough = fewestSamples >= samplesFor.p99
  return {
    name: 'samples',
    result: enough ? 'held' : 'not judged',
    figure: `${fewestSamples} behind the thinnest percentile`,
    bound,
    remedy: enough ? '' : 'Percentiles with fewer print "n too small": run longer.',
  }
}

function ceilingTest({ ceilingShare }: RunFacts): RunTest {
  const name = 'share of calibrated ceiling'
  const bound = '< 70 %'
  if (ceilingShare === null) {
    return notJudged(name, bound, 'this machine is not calibrated: assay calibrate')
  }
  const held = ceilingShare < 0.7
  return {
    name,
    result: held ? 'held' : 'degraded',
    figure: `${(ceilingShare * 100).toFixed(0)} %`,
    bound,
    remedy: held ? '' : 'The client is near its own limit: add threads or machines.',
  }
}

function notJudged(name: string, bound: string, why: string): RunTest {
  return { name, result: 'not judged', figure: why, bound, remedy: '' }
}

function ms(us: number): string {
  return `${(us / 1000).toFixed(us < 10_000 ? 2 : 0)} ms`
}
