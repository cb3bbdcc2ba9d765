import { expect, test } from 'vitest'
import { audit } from '../../src/audit/audit.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { appendAttempts, Recorder } from '../../src/store/attempts/recorder.ts'
import { attempt, enterEndedRun } from '../report/attempts.ts'
import { openStore } from '../store/opened.ts'

/** The verdict of SSE-06 on streams with these times, reads and text events. */
async function verdictOf(
  streams: readonly (readonly [tookMs: number, reads: number, events?: number, textMs?: number])[],
  {
    stallMs = 0,
    gapMs = 0,
    lateMs = 0,
    cut = 'ok',
  }: {
    readonly stallMs?: number
    readonly gapMs?: number
    readonly lateMs?: number
    /** How the last one ended. */
    readonly cut?: 'ok' | 'broken' | 'aborted'
  } = {},
) {
  const store = await openStore(':memory:')
  try {
    await enterEndedRun(store, 'a')
    await appendAttempts(
      store,
      streams.map(([tookMs, contentReads, contentEvents = 9, textMs = tookMs / 2], slot) =>
        attempt(slot, {
          streamed: 1,
          outcome: slot === streams.length - 1 ? cut : 'ok',
          sentUs: 0,
          closedUs: tookMs * 1000,
          firstContentUs: (tookMs - textMs) * 1000,
          lastContentUs: tookMs * 1000,
          contentEvents,
          contentReads,
        }),
      ),
    )
    if (lateMs > 0) {
      const dispatchedUs = 1e6 + lateMs * 1000
      await appendAttempts(store, [attempt(1_000, { intendedUs: 1e6, dispatchedUs })])
    }
    const recorder = await Recorder.open(store)
    recorder.append('health', [
      {
        ...{ runId: 'a', shard: 0, atUs: 5e6, loopDelayP99Us: stallMs * 1000 },
        ...{
          loopGapUs: Math.max(stallMs, gapMs) * 1000,
          loopGapEndUs: 4e6,
          utilisation: 0.5,
          lagP99Us: null,
          inFlight: 1,
          queuedBatches: 0,
        },
      },
    ])
    await recorder.close()
    const { findings } = await audit(store, {
      contract: defaultContract,
      auditId: 'audit-1',
      auditedAt: new Date(0),
      rules: ['SSE-06'],
    })
    return findings[0]!.verdict
  } finally {
    store.close()
  }
}

const times = <T>(count: number, one: T): readonly T[] => Array.from({ length: count }, () => one)

test('five streams that each came in one read were held back', async () => {
  expect(await verdictOf(times(5, [150, 1]))).toMatchObject({
    verdict: 'fail',
    observations: 5,
    observed: 'all text in one read; 5 of 5 break it',
  })
})

test('four streams that each came in one read decide nothing', async () => {
  expect((await verdictOf(times(4, [150, 1]))).verdict).toBe('not-observed')
})

test.each(['broken', 'aborted'] as const)(
  'a stream without its end that came in pieces shows that the service streams, too (%s)',
  async (cut) => {
    const joined = times(9, [150, 1] as const)
    expect(await verdictOf([...joined, [150, 9]], { cut })).toEqual({
      verdict: 'pass',
      observations: 1,
    })
    // Those that were cut are accused of nothing, and are none of the five.
    expect((await verdictOf([...times(4, [150, 1] as const), [150, 1]], { cut })).verdict).toBe(
      'not-observed',
    )
  },
)

test('one stream that came in pieces shows that the service streams', async () => {
  expect(await verdictOf([...times(9, [150, 1] as const), [150, 9]])).toEqual({
    verdict: 'pass',
    observations: 1,
  })
})

test("streams that a busy client read late decide nothing if the service's streams are short", async () => {
  const late = times(6, [300, 1] as const)
  expect((await verdictOf([...late, ...times(7, [5, 4] as const)])).verdict).toBe('not-observed')
})

test('long streams that were held back are reported even if most streams are short', async () => {
  const long = times(5, [4_000, 1, 400] as const)
  expect(await verdictOf([...long, ...times(40, [80, 1, 8] as const)])).toMatchObject({
    verdict: 'fail',
    observations: 5,
  })
})

test('one stream with ten seconds of silence before all its text is enough to fail', async () => {
  expect(await verdictOf([[10_000, 1], ...times(3, [5, 4] as const)])).toMatchObject({
    verdict: 'fail',
    observations: 1,
  })
})

test('a long answer was held back, too, if all its reads came at the end', {
  tags: 'whole',
}, async () => {
  expect(await verdictOf(times(10, [1_250, 5, 1_201, 40]))).toMatchObject({
    verdict: 'fail',
    observed: 'all text in 5 reads within a tenth of its time; 10 of 10 break it',
  })
  // As many reads, but spread over time, are buffered on their way; equally late, but in pieces, are not.
  expect(await verdictOf(times(10, [1_250, 5, 1_201, 900]))).toMatchObject({
    verdict: 'fail',
    observed:
      '1201 events of text in 5 reads: buffered between the service and here; 10 of 10 break it',
  })
  expect((await verdictOf(times(10, [1_250, 30, 60, 40]))).verdict).toBe('pass')
})

test('a stalled client reads at once what the service sent in pieces', {
  tags: 'whole',
}, async () => {
  const stalled = [[12_000, 1], ...times(3, [5, 4] as const)] as const
  expect((await verdictOf(stalled, { stallMs: 4_000 })).verdict).toBe('not-observed')
  expect((await verdictOf(stalled, { gapMs: 4_000 })).verdict).toBe('not-observed')
  expect((await verdictOf(stalled, { lateMs: 4_000 })).verdict).toBe('not-observed')
  expect((await verdictOf(stalled, { stallMs: 900, lateMs: 900 })).verdict).toBe('fail')
})

test('a proxy that buffers is named, if every stream is joined', { tags: 'whole' }, async () => {
  const buffered = [141, 2, 22, 32] as const
  expect(await verdictOf(times(5, buffered))).toMatchObject({
    verdict: 'fail',
    observed:
      '22 events of text in 2 reads: buffered between the service and here; 5 of 5 break it',
  })
  expect((await verdictOf([...times(9, buffered), [141, 22, 22]])).verdict).toBe('pass')
  expect((await verdictOf(times(4, buffered))).verdict).toBe('not-observed')
  expect((await verdictOf(times(4, [12_000, 20, 400, 9_000]))).verdict).toBe('not-observed')
})

test('joined reads of a fast stream, or of a client that stalled, name no proxy', {
  tags: 'whole',
}, async () => {
  // Ten events in 10 ms: as fast as a read.
  expect((await verdictOf(times(5, [200, 20, 200, 190]))).verdict).toBe('pass')
  const long = times(5, [4_500, 20, 400, 4_000] as const)
  expect((await verdictOf(long, { stallMs: 110 })).verdict).toBe('fail')
  expect((await verdictOf(long, { stallMs: 113 })).verdict).toBe('not-observed')
})
