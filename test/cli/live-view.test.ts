import { expect, test } from 'vitest'
import { blockOf, LiveView, lineOf } from '../../src/cli/live-view.ts'
import { emptyLedger } from '../../src/run/ledger.ts'
import type { Progress } from '../../src/run/tally.ts'

const times = { p50: 12_000, p95: 80_000, p99: 1_500_000 }
const progress: Progress = {
  runId: 'r',
  scenario: 'quick',
  phase: 'steady',
  atUs: 7e6,
  endsUs: 30e6,
  ledger: { ...emptyLedger, planned: 141, sent: 140, ok: 131, httpError: 9, notSent: 1 },
  inFlight: 3,
  creditsSpent: 131,
  steps: [
    {
      step: 'chat',
      planned: 141,
      sent: 140,
      ok: 131,
      failures: 9,
      askedPerS: 20,
      achievedPerS: 19.5,
      responseUs: times,
      serviceUs: times,
      ttftUs: null,
    },
  ],
  errors: [
    ['429 rate_limit_exceeded', 7],
    ['no-done', 2],
  ],
  keys: [{ name: 'gold', creditsRemaining: 869, rateRemaining: 53 }],
  health: [
    {
      runId: 'r',
      shard: 0,
      atUs: 7e6,
      loopDelayP99Us: 900,
      utilisation: 0.21,
      lagP99Us: 1300,
      inFlight: 3,
      queuedBatches: 1,
    },
  ],
}

test('the block shows rates, times, errors, balances and the health of the client', () => {
  expect(blockOf(progress)).toEqual([
    'quick  steady  7.00 s of 30.0 s',
    'planned 141  sent 140  ok 131  not sent 1  in flight 3  credits spent 131',
    'step  got/asked per s  sent  failed    response p50 p95 p99                 service  TTFT',
    'chat        19.5/20.0   140       9  12.0 ms 80.0 ms 1.50 s  12.0 ms 80.0 ms 1.50 s     -',
    'errors: 429 rate_limit_exceeded ×7, no-done ×2',
    'gold: 869 credits, 53 of the limit left',
    'thread 0: lag p99 1.30 ms, loop 900 us, 21 % busy, 1 batches waiting',
  ])
})

test('without a terminal there is a line each five seconds', () => {
  const written: string[] = []
  const out = { isTTY: false, write: (text: string) => written.push(text) }
  const live = new LiveView(out as unknown as NodeJS.WriteStream)
  for (const seconds of [1, 5, 6, 9, 10.5]) live.show({ ...progress, atUs: seconds * 1e6 })
  expect(written.map((line) => line.split(' | ')[0])).toEqual(['5 s', '11 s'])
  expect(lineOf(progress)).toBe(
    '7 s | steady | 19.5/s of 20.0/s | 140 sent | 131 ok | 1 not sent | 3 in flight | 131 credits',
  )
})

test('on a terminal the block is drawn over itself, and taken away at the end', () => {
  const written: string[] = []
  const out = { isTTY: true, columns: 40, write: (text: string) => written.push(text) }
  const live = new LiveView(out as unknown as NodeJS.WriteStream)
  live.show(progress)
  live.show(progress)
  live.clear()
  expect(written[0]!.split('\n').every((line) => line.length <= 40)).toBe(true)
  expect(written[1]).toBe('\x1b[7F\x1b[0J')
  expect(written.at(-1)).toBe('\x1b[7F\x1b[0J')
})
