import type { LocalLimit } from '../../attempt/outcome.ts'
import type { MemoryFigures } from '../../client/bytes/memory.ts'
import type { Validity } from '../../store/runs/run-end.ts'
import { largest } from '../../user/extremes.ts'
import { type AttemptCounts, countIssues } from '../count/attempt-counts.ts'
import {
  delayTest,
  type GapFigures,
  gapTest,
  type InFlightFigures,
  inFlightTest,
  type LagFigures,
  lagTest,
  type Median,
  memoryTest,
  type ThreadFigures,
  utilisationTest,
} from './client-tests.ts'
import { levelTests } from './level-test.ts'
import { heldIf, notJudged, type RunTest, samplesFor } from './run-test.ts'
import { type StreamFigures, streamTests } from './stream-tests.ts'
import { type WarmUp, warmUpTests } from './warm-up.ts'

// `fleet` imports `run`, and no store.
export { validities } from '../../store/runs/run-end.ts'

/** The judgement of a run on itself, after MLPerf LoadGen's closing line. */
export interface RunVerdict {
  readonly verdict: Validity
  readonly tests: readonly RunTest[]
  /** Whether it is known that no row is missing. */
  readonly rowsHold: boolean
  /** A run that is invalid for latency may still be evidence for billing and rate limits. */
  readonly summary: string
}

/** Facts for the judgement; null if not measured. */
export interface RunFacts {
  readonly counts: AttemptCounts
  /** As the store has them; null if it cannot be read, and then only what threads counted is judged. */
  readonly rows: AttemptCounts | null
  /** Rows that senders sent to the recorder, and those that it appended. */
  readonly handedOver: number
  readonly recorded: number
  readonly lag: LagFigures | null
  /** The tightest time that a threshold or a search judges; null if none does. */
  readonly claimUs: number | null
  /** Median times by step. */
  readonly medians: readonly Median[]
  /** First attempts that steady open phases planned. */
  readonly plannedArrivals: number
  /** Those dispatched within the second in which they were due (`arrivals-in-time.ts`). */
  readonly arrivedInTime: number
  /** Whether the run ended because its budget was spent. */
  readonly budgetSpent: boolean
  readonly threads: readonly ThreadFigures[]
  readonly memory: readonly MemoryFigures[]
  /** Connections on which bytes came that no request had asked for. */
  readonly strays: number
  readonly gaps: GapFigures | null
  readonly pacing: 'timer' | 'precise'
  readonly deepestQueue: number
  /** Why the store could not be written to the end; null if it could. */
  readonly storeFailure: string | null
  /** Captures that were dropped: the recorder fell behind, or the disk was nearly full. */
  readonly bodiesGivenUp: number
  readonly inFlight: InFlightFigures | null
  readonly streams: StreamFigures | null
  /** Where times changed their level, in words; null for one level, or if that cannot be told. */
  readonly unsteady: string | null
  /** Null if that was not looked at. */
  readonly warmUp: WarmUp | null
  /** Load average of the last minute for each core of this machine; null if it is not known. */
  readonly loadPerCore: number | null
  /** Requests for which this machine could open no connection, by the resource that ran out. */
  readonly localLimits: ReadonlyMap<LocalLimit, number>
  /** Samples of the step with the fewest. */
  readonly fewestSamples: number | null
  /** Share of the machine's calibrated ceiling; null if it is not calibrated, `too few` if no phase has a rate. */
  readonly ceilingShare: number | 'too few' | null
}

/** Batches that may wait for the recorder before it counts as behind. */
export const queueLimit = 64

/** Judges a run, after LoadGen: each constraint has its figure and one remedy. */
export function judge(facts: RunFacts): RunVerdict {
  const delay = delayTest(facts.threads, facts.medians)
  const gap = gapTest(facts.gaps, facts.medians, facts.claimUs)
  const ofRows = (tests: readonly RunTest[]) => (facts.rows === null ? [] : tests)
  const tests = [
    countsTest(facts),
    recorderTest(facts),
    ...capturesTests(facts),
    memoryTest(facts.memory),
    ...ofRows([lagTest(facts.lag, facts.medians, facts.claimUs), rateTest(facts)]),
    notSentTest(facts),
    ...localLimitTests(facts),
    ...strayTests(facts),
    delay,
    ...ofRows([gap]),
    utilisationTest(facts.threads, facts.pacing),
    ...ofRows([
      inFlightTest(facts.inFlight, facts.recorded === facts.handedOver),
      ...streamTests(facts.streams, {
        delayP99Us: largest(
          facts.threads.map(({ loopDelayP99Us }) => loopDelayP99Us),
          0,
        ),
        wasLate: [delay, gap].some(({ result }) => result === 'degraded' || result === 'failed'),
        loadPerCore: facts.loadPerCore,
      }),
      ...levelTests(facts.unsteady),
      ...warmUpTests(facts.warmUp),
      samplesTest(facts),
      ceilingTest(facts),
    ]),
    ...(facts.rows === null
      ? [notJudged('times and rates', 'the rows of the run', 'the store cannot be read')]
      : []),
  ]
  const failed = tests.filter((test) => test.result === 'failed').map((test) => test.name)
  const verdict =
    failed.length > 0
      ? 'invalid'
      : tests.some((test) => test.result === 'degraded')
        ? 'degraded'
        : 'valid'
  // A store whose last writes failed may still have every row.
  const rowsHold =
    facts.rows !== null && !failed.includes('counts') && facts.recorded === facts.handedOver
  const summary =
    verdict !== 'invalid'
      ? ''
      : rowsHold
        ? 'Not to be used for latency. Every row is there, so billing and rate limits can be judged.'
        : facts.rows === null
          ? 'The store cannot be read, so nothing can be judged by this run.'
          : 'Rows are missing, so nothing can be judged by this run.'
  return { verdict, tests, rowsHold, summary }
}

function countsTest({ counts, rows, storeFailure, recorded, handedOver }: RunFacts): RunTest {
  const issues = countIssues(counts, rows)
  const { planned, sent, notSent } = counts
  return heldIf(issues.length === 0, 'failed', {
    name: 'counts',
    figure: issues.join('; ') || `planned ${planned} = sent ${sent} + not sent ${notSent}`,
    bound: 'they add up',
    // If rows were lost on their way to the store, the recorder's test has the remedy.
    remedy:
      storeFailure === null && recorded === handedOver
        ? 'A bug in Assay; please report it with the store.'
        : '',
  })
}

function recorderTest({ storeFailure, recorded, handedOver, deepestQueue }: RunFacts): RunTest {
  const name = 'recorder'
  const rows = `${recorded} of ${handedOver} rows`
  if (storeFailure !== null) {
    return { name, result: 'failed', figure: rows, bound: 'every row', remedy: storeFailure }
  }
  const isMissing = recorded !== handedOver
  const isBehind = deepestQueue > queueLimit
  return heldIf(!isMissing && !isBehind, isMissing ? 'failed' : 'degraded', {
    name,
    figure: `${rows}, at most ${deepestQueue} batches waiting`,
    bound: `every row, at most ${queueLimit} batches`,
    remedy: isMissing
      ? 'Look for a full disk; run again with another --db.'
      : 'Put the store on a faster disk, or leave the recorder a core.',
  })
}

/** Shown only if captures were dropped, because most runs keep all of theirs. */
function capturesTests({ bodiesGivenUp }: RunFacts): readonly RunTest[] {
  if (bodiesGivenUp === 0) return []
  return [
    {
      name: 'captures',
      result: 'degraded',
      figure: `${bodiesGivenUp} ${bodiesGivenUp === 1 ? 'body was' : 'bodies were'} given up, no row`,
      bound: 'every body that is asked for',
      remedy:
        'They came faster than they can be written, or the disk is nearly full: use capture: sample, or a larger disk.',
    },
  ]
}

function rateTest({ plannedArrivals, arrivedInTime, budgetSpent }: RunFacts): RunTest {
  const bound = '0.99 to 1.01'
  if (plannedArrivals === 0) return notJudged('achieved / planned rate', bound, 'no open phase')
  const ratio = arrivedInTime / plannedArrivals
  return heldIf(ratio >= 0.99 && ratio <= 1.01, 'failed', {
    name: 'achieved / planned rate',
    figure: `${ratio.toFixed(4)} (${arrivedInTime} of ${plannedArrivals})`,
    bound,
    remedy: budgetSpent ? budgetRemedy : 'Raise max_in_flight, add threads, or lower the rate.',
  })
}

const budgetRemedy =
  'max_credits or max_cost was spent before the plan was sent: raise it, or plan no more than it pays for.'

const localRemedies: Readonly<Record<LocalLimit, string>> = {
  'no-local-port':
    'This machine has no local port left: let connections be used again, widen net.ipv4.ip_local_port_range, or send from several machines.',
  'no-open-file': 'This process may open no more files: raise ulimit -n, or lower max_in_flight.',
  'no-local-memory':
    'The system has no memory left for sockets: lower max_in_flight, or raise net.ipv4.tcp_mem.',
}

/** Shown only if the machine ran out of something: its figures are then its own. */
function localLimitTests({ localLimits }: RunFacts): readonly RunTest[] {
  if (localLimits.size === 0) return []
  const figures = Array.from(
    localLimits,
    ([limit, count]) => `${limit}, ${count} ${count === 1 ? 'request' : 'requests'}`,
  )
  return [
    {
      name: 'this machine',
      result: 'failed',
      figure: figures.join('; '),
      bound: 'a connection for each request',
      remedy: Array.from(localLimits.keys(), (limit) => localRemedies[limit]).join(' '),
    },
  ]
}

/** Shown only if it happened: such an answer may also have been taken for that of the next request. */
function strayTests({ strays }: RunFacts): readonly RunTest[] {
  if (strays === 0) return []
  return [
    {
      name: 'answers without a request',
      result: 'degraded',
      figure: `bytes on ${strays} ${strays === 1 ? 'connection' : 'connections'} that had no request`,
      bound: 'none',
      remedy:
        'The service answered late or twice. From the first one on, each connection carried one request; before it, HTTP/1.1 cannot tell such an answer from that of the next request: compare ids, and mend the service or the proxy before it.',
    },
  ]
}

function notSentTest({ counts, budgetSpent, localLimits }: RunFacts): RunTest {
  const share = counts.planned === 0 ? 0 : counts.notSent / counts.planned
  const own = [...localLimits.values()].reduce((sum, count) => sum + count, 0)
  const seen = own === counts.notSent ? 'See this machine.' : null
  return heldIf(share === 0, share <= 0.01 ? 'degraded' : 'failed', {
    name: 'not sent',
    figure: `${counts.notSent} (${(share * 100).toFixed(2)} %)`,
    bound: '0; up to 1 % is degraded',
    remedy: budgetSpent
      ? budgetRemedy
      : (seen ?? 'Their rows have the reason: raise max_in_flight, max_credits or max_cost.'),
  })
}

/** Percentiles with too few samples are not shown, but do not make the run worse. */
function samplesTest({ fewestSamples }: RunFacts): RunTest {
  const bound = `p99 needs ${samplesFor.p99}, p95 ${samplesFor.p95}`
  if (fewestSamples === null) return notJudged('samples', bound, 'no success')
  return heldIf(fewestSamples >= samplesFor.p99, 'not judged', {
    name: 'samples',
    figure: `${fewestSamples} behind the thinnest percentile`,
    bound,
    remedy: 'Percentiles with fewer print "n too small": run longer.',
  })
}

/** Above this share of its ceiling, a machine measures itself. */
export const mostOfCeiling = 0.7

function ceilingTest({ ceilingShare }: RunFacts): RunTest {
  const name = 'share of calibrated ceiling'
  const bound = `< ${mostOfCeiling * 100} %`
  if (ceilingShare === null) {
    return notJudged(name, bound, 'this machine is not calibrated: assay calibrate')
  }
  if (ceilingShare === 'too few') {
    return notJudged(name, bound, 'no steady phase has enough requests for a rate')
  }
  const figure = `${(ceilingShare * 100).toFixed(1)} %`
  const remedy = 'The client is near its own limit: add threads or machines.'
  return heldIf(ceilingShare < mostOfCeiling, 'degraded', { name, figure, bound, remedy })
}
