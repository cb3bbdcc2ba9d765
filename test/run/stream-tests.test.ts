import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { type OwnDelay, readStreams, streamTests } from '../../src/run/judge/stream-tests.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { startRun } from '../../src/store/runs/runs.ts'
import { openStore } from '../store/opened.ts'
import { attempt, startOf } from './rows.ts'

/** Streams of a run, each with these events, reads and milliseconds. */
const streams = (events: number, reads: number, tookMs: number, more: Partial<AttemptRow> = {}) =>
  Array.from({ length: 20 }, (_, slot) =>
    attempt({
      ...{ slot, streamed: 1, events: events + 2, contentEvents: events, contentReads: reads },
      ...{ sentUs: slot * 1e6, closedUs: slot * 1e6 + tookMs * 1000, ...more },
    }),
  )

async function testsOf(rows: readonly AttemptRow[], own: Partial<OwnDelay> = {}) {
  const store = await openStore(':memory:')
  await startRun(store, startOf('r'))
  await appendAttempts(store, rows)
  const tests = streamTests(await readStreams(store, 'r'), {
    ...{ delayP99Us: 1000, wasLate: false, loadPerCore: 0.5 },
    ...own,
  })
  store.close()
  return tests
}

test('streams that a proxy joined are named, with what it means', async () => {
  const [found, ...others] = await testsOf(streams(22, 2, 141))
  expect(others).toEqual([])
  expect(found).toMatchObject({
    name: 'streams',
    result: 'degraded',
    figure: '22 events with text in 2 reads of 141 ms (median of 20)',
  })
  expect(found!.remedy).toContain('buffered between the service and here')
})

test.each([
  ['come piece by piece', streams(22, 22, 141)],
  ['come two at a time', streams(22, 11, 141)],
  ['are too short to tell', streams(22, 1, 40)],
  ['have few events', streams(7, 1, 900)],
  ['failed', streams(22, 1, 900, { outcome: 'broken', reason: 'no-done' })],
  ['are none', streams(0, 0, 900, { streamed: 0, events: 0 })],
])('streams that %s are not named', async (_how, rows) => {
  expect(await testsOf(rows)).toEqual([])
})

test('a client that is late itself names no one', async () => {
  const joined = streams(22, 2, 141)
  expect(await testsOf(joined, { delayP99Us: 36_000 })).toEqual([])
  expect(await testsOf(joined, { delayP99Us: 35_000 })).toHaveLength(1)
  expect(await testsOf(joined, { wasLate: true })).toEqual([])
})

test('events with a member that no format has are named', async () => {
  const rows = streams(22, 22, 141, { unknownEvents: 3, unknownMember: 'musing' })
  expect(await testsOf(rows)).toMatchObject([
    {
      name: 'text of streams',
      result: 'degraded',
      figure: '60 events of 20 answers have "musing" in their delta',
    },
  ])
})

test('on a machine with more work than cores, no proxy is blamed', async () => {
  const [found] = await testsOf(streams(22, 2, 141), { loadPerCore: 1.1 })
  expect(found).toMatchObject({ name: 'streams', result: 'degraded' })
  expect(found!.remedy).not.toContain('proxy')
  expect(found!.remedy).toContain('1.1 per core')
  const [blamed] = await testsOf(streams(22, 2, 141), { loadPerCore: 1 })
  expect(blamed!.remedy).toContain('proxy_buffering')
})
