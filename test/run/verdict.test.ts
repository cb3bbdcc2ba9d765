import { expect, test } from 'vitest'
import { noCounts } from '../../src/run/count/attempt-counts.ts'
import { gapLimitUs } from '../../src/run/judge/client-tests.ts'
import { judge, type RunFacts } from '../../src/run/judge/verdict.ts'

const counts = { ...noCounts, planned: 1000, sent: 1000, ok: 1000 }
const sound: RunFacts = {
  streams: null,
  unsteady: null,
  warmUp: null,
  loadPerCore: null,
  counts,
  rows: counts,
  handedOver: 1000,
  recorded: 1000,
  lag: { p50Us: 500, p90Us: 900, p99Us: 1200, samples: 1000 },
  medians: [{ of: 'response', step: 'chat', us: 80_000 }],
  claimUs: null,
  gaps: { greatestUs: 1500, limitUs: 20_000, requests: 1000, tainted: 0 },
  plannedArrivals: 1000,
  arrivedInTime: 1000,
  budgetSpent: false,
  threads: [{ shard: 0, loopDelayP99Us: 1000, utilisation: 0.2 }],
  pacing: 'timer',
  deepestQueue: 1,
  inFlight: { instants: 20, counted: 200, byRows: 201 },
  storeFailure: null,
  bodiesGivenUp: 0,
  strays: 0,
  memory: [{ maxBytes: 512 * 2 ** 20, peakBytes: 2 ** 20, givenUp: 0 }],
  localLimits: new Map(),
  fewestSamples: 1000,
  ceilingShare: 0.1,
}

const testOf = (facts: RunFacts, name: string) =>
  judge(facts).tests.find((each) => each.name === name)!

test('a sound run is valid, holds every test and needs no remedy', () => {
  const { verdict, tests, summary } = judge(sound)
  expect(verdict).toBe('valid')
  expect(summary).toBe('')
  expect(tests.filter((each) => each.result !== 'held' || each.remedy !== '')).toEqual([])
})

test.each([
  [
    'lag p99',
    { lag: { p50Us: 1, p90Us: 1, p99Us: 5000, samples: 662 } },
    'failed',
    'give the sender its own core',
  ],
  ['achieved / planned rate', { arrivedInTime: 980 }, 'failed', 'Raise max_in_flight'],
  [
    'event-loop delay p99',
    { threads: [{ shard: 0, loopDelayP99Us: 20_000, utilisation: 0.1 }] },
    'degraded',
    'Add threads, or leave cores free',
  ],
  [
    'event-loop utilisation',
    { threads: [{ shard: 0, loopDelayP99Us: 1, utilisation: 0.8 }] },
    'degraded',
    'Add threads, or leave cores free',
  ],
  [
    'in flight',
    { inFlight: { instants: 20, counted: 200, byRows: 189 } },
    'failed',
    'Rows and counters disagree',
  ],
  ['share of calibrated ceiling', { ceilingShare: 0.7 }, 'degraded', 'add threads or machines'],
  ['recorder', { recorded: 999 }, 'failed', 'Look for a full disk'],
  ['recorder', { deepestQueue: 65 }, 'degraded', 'Put the store on a faster disk'],
  ['recorder', { storeFailure: 'its disk is full.' }, 'failed', 'its disk is full.'],
  ['captures', { bodiesGivenUp: 3 }, 'degraded', 'use capture: sample, or a larger disk'],
  ['answers without a request', { strays: 3 }, 'degraded', 'compare ids'],
  [
    'memory of answers',
    { memory: [{ maxBytes: 2 ** 20, peakBytes: 2 ** 20, givenUp: 1 }] },
    'failed',
    'Raise max_memory_mb',
  ],
  [
    'this machine',
    { localLimits: new Map([['no-local-port', 4674]] as const) },
    'failed',
    'no local port left',
  ],
  ['counts', { rows: { ...counts, ok: 999, sent: 999 } }, 'failed', 'A bug in Assay'],
] as const)('%s is judged by its bound, with a remedy', (name, change, result, remedy) => {
  const found = testOf({ ...sound, ...change }, name)
  expect(found.result).toBe(result)
  expect(found.remedy).toContain(remedy)
  expect(judge({ ...sound, ...change }).verdict).toBe(result === 'failed' ? 'invalid' : 'degraded')
})

test('up to one in a hundred unsent degrades a run, more makes it invalid', () => {
  const missing = (notSent: number) => {
    const short = {
      ...noCounts,
      planned: 1000,
      sent: 1000 - notSent,
      ok: 1000 - notSent,
      notSent,
    }
    return judge({ ...sound, counts: short, rows: short }).verdict
  }
  expect([0, 10, 11].map(missing)).toEqual(['valid', 'degraded', 'invalid'])
})

const responseOf = (us: number) => [{ of: 'response', step: 'chat', us } as const]

test('slow answers allow more lag: one percent of their median', () => {
  const lag = { p50Us: 1, p90Us: 1, p99Us: 9000, samples: 1000 }
  const judged = (us: number) => testOf({ ...sound, medians: responseOf(us), lag }, 'lag p99')
  expect(judged(1e6)).toMatchObject({
    result: 'held',
    bound: '< 10 ms (1 % of the response time of chat)',
  })
  expect(judged(5e5)).toMatchObject({ result: 'failed', bound: '< 5.00 ms' })
})

test('the lag bound comes from the shortest reported time: the gaps of streams, not their length', () => {
  const lag = { p50Us: 2000, p90Us: 6000, p99Us: 13_000, samples: 1000 }
  const medians = [
    { of: 'response', step: 'chat', us: 4.2e6 },
    { of: 'ttft', step: 'chat', us: 200_000 },
    { of: 'itl', step: 'chat', us: 20_000 },
  ] as const
  expect(testOf({ ...sound, lag, medians }, 'lag p99').result).toBe('failed')
  expect(judge({ ...sound, lag, medians }).verdict).toBe('invalid')
  const long = medians.map((median) => ({ ...median, us: median.us * 100 }))
  expect(testOf({ ...sound, lag, medians: long }, 'lag p99')).toMatchObject({
    result: 'held',
    bound: '< 20 ms (1 % of the ITL of chat)',
  })
})

test('a loop delay above the time between tokens degrades the run', () => {
  const threads = [{ shard: 0, loopDelayP99Us: 9000, utilisation: 0.2 }]
  const itl = (us: number) => [...sound.medians, { of: 'itl', step: 'chat', us } as const]
  const judged = (us: number) =>
    testOf({ ...sound, threads, medians: itl(us) }, 'event-loop delay p99')
  expect(judged(8000)).toMatchObject({ result: 'degraded', bound: '< 8.00 ms' })
  expect(judged(12_000)).toMatchObject({ result: 'held', bound: '< 12 ms' })
  expect(judged(30_000)).toMatchObject({ result: 'held', bound: '< 20 ms' })
})

test('a gap of the event loop is judged by the share of tainted requests and by its length', () => {
  const judged = (tainted: number, greatestUs: number, requests = 1000) =>
    testOf({ ...sound, gaps: { greatestUs, limitUs: 20_000, requests, tainted } }, 'event-loop gap')
  expect(judged(4, 1e6)).toMatchObject({
    result: 'held',
    figure: '1000 ms; 4 of 1000 requests (0.40 %) in gaps over 20 ms',
    bound: 'under 0.5 % of the requests in gaps',
  })
  expect(judged(5, 79_000).result).toBe('degraded')
  expect(judged(5, 80_000)).toMatchObject({ result: 'failed' })
  expect(judged(5, 80_000).remedy).not.toBe('')
  expect(judged(4, 1e6, 100)).toMatchObject({
    result: 'held',
    bound: 'under 5 % of the requests in gaps',
  })
  expect(judged(5, 1e6, 100).result).toBe('failed')
  expect(judged(4, 1e6, 20)).toMatchObject({
    result: 'held',
    bound: 'under 25 % of the requests in gaps',
  })
})

test('gaps without a request are not judged', () => {
  const gaps = { greatestUs: 1e6, limitUs: 20_000, requests: 0, tainted: 0 }
  expect(rowOf({ ...sound, gaps }, 'event-loop gap')).toEqual([
    'not judged',
    'nothing was sent',
    'under 0.5 % of the requests in gaps',
    '',
  ])
})

test('a share of gaps that is held moves a p99 to no more than the p99.5', () => {
  // A tenth of the requests takes 1 to 2 s, and what is in a gap a minute longer.
  const times = Array.from({ length: 10_000 }, (_, nth) => (nth < 9000 ? 100 : 1000 + (nth - 9000)))
  const percentile = (of: readonly number[], share: number) =>
    of.toSorted((a, b) => a - b)[Math.ceil(share * of.length) - 1]!
  const gaps = { greatestUs: 60e6, limitUs: 20_000, requests: times.length, tainted: 49 }
  expect(testOf({ ...sound, gaps }, 'event-loop gap').result).toBe('held')
  const spoilt = times.map((us, nth) => (nth % 204 === 0 && nth < 9996 ? us + 60_000 : us))
  expect(spoilt.filter((us) => us > 60_000)).toHaveLength(49)
  expect(percentile(spoilt, 0.99)).toBeLessThanOrEqual(percentile(times, 0.995))
})

test('a gap counts from 20 ms on, or from a tenth of the shortest time that a request waits', () => {
  expect(gapLimitUs([])).toBe(20_000)
  expect(gapLimitUs(responseOf(80_000))).toBe(20_000)
  expect(gapLimitUs(responseOf(4e6))).toBe(400_000)
  const ttft = { of: 'ttft', step: 'chat', us: 500_000 } as const
  const itl = { of: 'itl', step: 'chat', us: 20_000 } as const
  expect(gapLimitUs([...responseOf(4e6), ttft, itl])).toBe(50_000)
})

test("the senders' in-flight count is compared with the rows at the same instants", () => {
  const judged = (counted: number, byRows: number) =>
    testOf({ ...sound, inFlight: { instants: 20, counted, byRows } }, 'in flight')
  expect(judged(200, 209)).toMatchObject({
    result: 'held',
    figure: '200 counted at 20 instants, 209 by the rows (4.31 %)',
  })
  expect(judged(200, 100).result).toBe('failed')
  expect(judged(0, 5).result).toBe('failed')
  expect(judged(0, 0).result).toBe('not judged')
  const lost = { ...sound, recorded: sound.handedOver - 5, storeFailure: 'its disk is full.' }
  const inFlight = { instants: 20, counted: 200, byRows: 100 }
  expect(testOf({ ...lost, inFlight }, 'in flight')).toMatchObject({
    result: 'not judged',
    figure: 'rows are missing',
  })
})

test('two requests that begin or end while they are counted are no fault, three are', () => {
  const judged = (counted: number, byRows: number) =>
    testOf({ ...sound, inFlight: { instants: 10, counted, byRows } }, 'in flight').result
  expect([judged(12, 11), judged(12, 10), judged(12, 9), judged(0, 3)]).toEqual([
    'held',
    'held',
    'failed',
    'failed',
  ])
})

test('streams blame a proxy only if no thread was late', () => {
  const streams = {
    ...{ streams: 40, events: 100, reads: 4, tookUs: 1_000_000 },
    ...{ unknownAnswers: 0, unknownEvents: 0, unknownMember: null },
  }
  const isBlamed = (change: Partial<RunFacts>) =>
    testOf({ ...sound, streams, ...change }, 'streams') !== undefined
  const late = (...delaysUs: readonly number[]) => ({
    threads: delaysUs.map((loopDelayP99Us) => ({ shard: 0, loopDelayP99Us, utilisation: 0.2 })),
  })
  const tainted = { gaps: { greatestUs: 90_000, limitUs: 20_000, requests: 1000, tainted: 500 } }
  expect(testOf({ ...sound, ...late(20_000) }, 'event-loop delay p99').result).toBe('degraded')
  expect(testOf({ ...sound, ...tainted }, 'event-loop gap').result).not.toBe('held')
  expect(isBlamed({})).toBe(true)
  expect(isBlamed(late(20_000))).toBe(false)
  expect(isBlamed(tainted)).toBe(false)
  // The delays hold, and are as long as half of a read, or shorter; or no thread told its own.
  const quick = { streams: { ...streams, events: 125, reads: 25, tookUs: 50_000 } }
  expect(isBlamed({ ...quick, ...late(1, 1000) })).toBe(false)
  expect(isBlamed({ ...quick, ...late(1, 999) })).toBe(true)
  expect(isBlamed({ ...quick, ...late() })).toBe(true)
})

test('without a thread that ended, its delay, utilisation and memory are not judged', () => {
  const lost = { ...sound, threads: [], memory: [] }
  for (const name of ['event-loop delay p99', 'event-loop utilisation', 'memory of answers']) {
    expect([name, testOf(lost, name).result]).toEqual([name, 'not judged'])
  }
  const none = { ...sound, memory: [{ maxBytes: 0, peakBytes: 0, givenUp: 0 }] }
  expect(testOf(none, 'memory of answers').figure).toBe('at most 0.0 of 0.0 MB')
})

test('lag is judged by the highest percentile with enough samples, which is named', () => {
  const lag = { p50Us: 600, p90Us: 6000, p99Us: 90_000 }
  const judged = (samples: number) =>
    judge({ ...sound, lag: { ...lag, samples } }).tests.find((each) => each.name.startsWith('lag'))!
  expect(judged(662)).toMatchObject({ name: 'lag p99', result: 'failed' })
  expect(judged(661)).toMatchObject({ name: 'lag p90', result: 'failed' })
  expect(judged(63)).toMatchObject({ name: 'lag p50', result: 'held' })
  expect(judged(63).figure).toBe('0.60 ms; 63 requests are too few for a p99')
})

test('a run that is invalid for latency still says that its rows can be judged', () => {
  expect(
    judge({ ...sound, lag: { p50Us: 1e6, p90Us: 1e6, p99Us: 1e6, samples: 1000 } }).summary,
  ).toContain('billing and rate limits can be judged')
  expect(judge({ ...sound, recorded: 1 }).summary).toContain('nothing can be judged')
  expect(judge({ ...sound, storeFailure: 'disk full' }).summary).toContain('can be judged')
  expect(judge({ ...sound, storeFailure: 'disk full', rows: null }).summary).toBe(
    'The store cannot be read, so nothing can be judged by this run.',
  )
})

test('without a store that can be read, what threads counted is judged, and no reason is made up', () => {
  const facts = {
    ...{ ...sound, storeFailure: 'its disk is full', rows: null, lag: null, gaps: null },
    ...{ inFlight: null, fewestSamples: null, ceilingShare: null, medians: [], plannedArrivals: 0 },
  }
  const { rowsHold, tests } = judge(facts)
  expect(rowsHold).toBe(false)
  expect(tests.map(({ name, result, figure }) => [name, result, figure])).toEqual([
    ['counts', 'held', 'planned 1000 = sent 1000 + not sent 0'],
    ['recorder', 'failed', '1000 of 1000 rows'],
    ['memory of answers', 'held', 'at most 1.0 of 512 MB (0 %)'],
    ['not sent', 'held', '0 (0.00 %)'],
    ['event-loop delay p99', 'held', '1.00 ms'],
    ['event-loop utilisation', 'held', '0.20'],
    ['times and rates', 'not judged', 'the store cannot be read'],
  ])
})

test('rows that the recorder lost have one remedy, and several limits of the machine are one test', () => {
  const lost = { ...sound, recorded: 999, rows: { ...counts, ok: 999, sent: 999 } }
  const remedies = judge(lost).tests.flatMap(({ result, remedy }) =>
    result === 'failed' ? [remedy] : [],
  )
  expect(remedies).toEqual(['', 'Look for a full disk; run again with another --db.'])
  const limits = new Map([['no-local-port', 1] as const, ['no-open-file', 3] as const])
  const machine = judge({ ...sound, localLimits: limits }).tests.filter(
    ({ name }) => name === 'this machine',
  )
  expect(machine.map(({ figure }) => figure)).toEqual([
    'no-local-port, 1 request; no-open-file, 3 requests',
  ])
  expect(rowOf({ ...sound, bodiesGivenUp: 1 }, 'captures')[1]).toBe('1 body was given up, no row')
})

test('unmeasured tests are not judged, and do not affect the verdict', () => {
  const blind = {
    ...sound,
    lag: null,
    plannedArrivals: 0,
    inFlight: null,
    gaps: null,
    fewestSamples: null,
    ceilingShare: null,
  }
  const { verdict, tests } = judge(blind)
  expect(verdict).toBe('valid')
  expect(tests.filter((each) => each.result === 'not judged').length).toBe(6)
})

test('counts that do not add up are shown with their numbers', () => {
  const odd = { ...counts, ok: 900 }
  expect(rowOf({ ...sound, counts: odd, rows: odd }, 'counts')).toEqual([
    'failed',
    'sent 1000 is not ok 900 + http_error 0 + broken 0 + timeout 0 + aborted 0',
    'they add up',
    'A bug in Assay; please report it with the store.',
  ])
})

test('if a budget prevented requests, the remedy is a larger budget', () => {
  const spent = {
    ...sound,
    counts: { ...counts, sent: 400, ok: 400, notSent: 600 },
    rows: { ...counts, sent: 400, ok: 400, notSent: 600 },
    arrivedInTime: 400,
    budgetSpent: true,
  }
  for (const name of ['achieved / planned rate', 'not sent']) {
    expect(testOf(spent, name)).toMatchObject({
      result: 'failed',
      remedy:
        'max_credits or max_cost was spent before the plan was sent: raise it, or plan no more than it pays for.',
    })
  }
})

const rowOf = (facts: RunFacts, name: string) => {
  const { result, figure, bound, remedy } = testOf(facts, name)
  return [result, figure, bound, remedy]
}

test('answers without a request are counted by their connections', () => {
  const figure = (strays: number) =>
    testOf({ ...sound, strays }, 'answers without a request').figure
  expect(figure(1)).toBe('bytes on 1 connection that had no request')
  expect(figure(2)).toBe('bytes on 2 connections that had no request')
})

test('a sound run shows the figure and the bound of each test', () => {
  expect(judge(sound).tests.map(({ name, figure, bound }) => [name, figure, bound])).toEqual([
    ['counts', 'planned 1000 = sent 1000 + not sent 0', 'they add up'],
    ['recorder', '1000 of 1000 rows, at most 1 batches waiting', 'every row, at most 64 batches'],
    ['memory of answers', 'at most 1.0 of 512 MB (0 %)', 'none given up'],
    ['lag p99', '1.20 ms', '< 5.00 ms'],
    ['achieved / planned rate', '1.0000 (1000 of 1000)', '0.99 to 1.01'],
    ['not sent', '0 (0.00 %)', '0; up to 1 % is degraded'],
    ['event-loop delay p99', '1.00 ms', '< 20 ms'],
    [
      'event-loop gap',
      '1.50 ms; 0 of 1000 requests (0.00 %) in gaps over 20 ms',
      'under 0.5 % of the requests in gaps',
    ],
    ['event-loop utilisation', '0.20', '< 0.8'],
    [
      'in flight',
      '200 counted at 20 instants, 201 by the rows (0.50 %)',
      'within 5 %, or 2 requests',
    ],
    ['samples', '1000 behind the thinnest percentile', 'p99 needs 662, p95 130'],
    ['share of calibrated ceiling', '10.0 %', '< 70 %'],
  ])
})

test('unsent requests have a remedy by their cause', () => {
  const short = { ...noCounts, planned: 1000, sent: 995, ok: 995, notSent: 5 }
  const remedyOf = (change: Partial<RunFacts>) =>
    rowOf({ ...sound, counts: short, rows: short, ...change }, 'not sent')
  const told = (remedy: string) => ['degraded', '5 (0.50 %)', '0; up to 1 % is degraded', remedy]
  expect(remedyOf({})).toEqual(
    told('Their rows have the reason: raise max_in_flight, max_credits or max_cost.'),
  )
  expect(remedyOf({ budgetSpent: true })).toEqual(
    told(
      'max_credits or max_cost was spent before the plan was sent: raise it, or plan no more than it pays for.',
    ),
  )
  const portsOf = (n: number) => ({ localLimits: new Map([['no-local-port', n]] as const) })
  expect(remedyOf(portsOf(5))).toEqual(told('See this machine.'))
  expect(remedyOf(portsOf(4))).toEqual(
    told('Their rows have the reason: raise max_in_flight, max_credits or max_cost.'),
  )
  expect(rowOf({ ...sound, ...portsOf(4) }, 'this machine').slice(0, 3)).toEqual([
    'failed',
    'no-local-port, 4 requests',
    'a connection for each request',
  ])
  // A run that planned nothing lost nothing.
  expect(rowOf({ ...sound, counts: noCounts, rows: noCounts }, 'not sent')).toEqual([
    ...['held', '0 (0.00 %)', '0; up to 1 % is degraded', ''],
  ])
})

test('counts that do not add up are a fault of Assay, unless the store could not be written', () => {
  const lost = { ...sound, rows: { ...counts, ok: 999, sent: 999 } }
  const figure =
    'sent: 1000 counted while sending, 999 rows in the store; ok: 1000 counted while sending, 999 rows in the store'
  expect(rowOf(lost, 'counts')).toEqual([
    ...['failed', figure, 'they add up', 'A bug in Assay; please report it with the store.'],
  ])
  const full = { ...lost, storeFailure: 'its disk is full' }
  expect(rowOf(full, 'counts')).toEqual(['failed', figure, 'they add up', ''])
  expect(rowOf(full, 'recorder')).toEqual([
    ...['failed', '1000 of 1000 rows', 'every row', 'its disk is full'],
  ])
})

test('few samples and a missing calibration are not judged, and a client near its ceiling degrades', () => {
  const samples = (fewestSamples: number | null) => rowOf({ ...sound, fewestSamples }, 'samples')
  const needs = 'p99 needs 662, p95 130'
  expect([662, 661, null].map(samples)).toEqual([
    ['held', '662 behind the thinnest percentile', needs, ''],
    [
      ...['not judged', '661 behind the thinnest percentile', needs],
      'Percentiles with fewer print "n too small": run longer.',
    ],
    ['not judged', 'no success', needs, ''],
  ])
  const ceiling = (ceilingShare: RunFacts['ceilingShare']) =>
    rowOf({ ...sound, ceilingShare }, 'share of calibrated ceiling')
  expect(([0.699, 0.7, null, 'too few'] as const).map(ceiling)).toEqual([
    ['held', '69.9 %', '< 70 %', ''],
    ['degraded', '70.0 %', '< 70 %', 'The client is near its own limit: add threads or machines.'],
    ['not judged', 'this machine is not calibrated: assay calibrate', '< 70 %', ''],
    ['not judged', 'no steady phase has enough requests for a rate', '< 70 %', ''],
  ])
})

test('a value at its bound is held, and a value beyond it is not', () => {
  const results = (name: string, changes: readonly Partial<RunFacts>[]) =>
    changes.map((change) => testOf({ ...sound, ...change }, name).result)
  const arrived = [9_899, 9_900, 10_100, 10_101].map((arrivedInTime) => ({
    arrivedInTime,
    plannedArrivals: 10_000,
  }))
  expect(results('achieved / planned rate', arrived)).toEqual(['failed', 'held', 'held', 'failed'])
  expect(results('recorder', [{ deepestQueue: 64 }, { recorded: 1_001 }])).toEqual([
    ...['held', 'failed'],
  ])
  expect(results('share of calibrated ceiling', [{ ceilingShare: 0.699 }])).toEqual(['held'])
})

test('lag that is small beside the judged time degrades a run, and lag that is not makes it invalid', () => {
  const late = { ...sound, lag: { p50Us: 500, p90Us: 900, p99Us: 67_000, samples: 1000 } }
  expect(judge(late).verdict).toBe('invalid')
  expect(judge({ ...late, claimUs: 1e6 }).verdict).toBe('degraded')
  expect(testOf({ ...late, claimUs: 1e6 }, 'lag p99').figure).toBe(
    '67 ms; below 10 % of 1000 ms, which is judged',
  )
  expect(judge({ ...late, claimUs: 500_000 }).verdict).toBe('invalid')
})

test('a gap of the sending thread spoils a judged time only if it is half as long', () => {
  const gap = {
    ...sound,
    gaps: { greatestUs: 146_000, limitUs: 20_000, requests: 800, tainted: 333 },
  }
  expect(judge(gap).verdict).toBe('invalid')
  expect(judge({ ...gap, claimUs: 1e6 }).verdict).toBe('degraded')
  expect(judge({ ...gap, claimUs: 200_000 }).verdict).toBe('invalid')
})
