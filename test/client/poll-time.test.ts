import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { AttemptClient } from '../../src/client/call/client.ts'
import { PollTime } from '../../src/client/wire/poll-time.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { ask, noDeadlines, now } from './asking.ts'
import { response, scriptedServer } from './scripted-server.ts'
import { openOn, transports } from './transports.ts'

/** A clock that is a microsecond later at each reading. */
function countingClock(): () => number {
  let us = 0
  return () => ++us
}

test('reads of one poll have its time, and those of the next poll a later one', async () => {
  const time = new PollTime(countingClock())
  expect([time.of(0), time.of(0), time.of(0)]).toEqual([1, 1, 1])
  await nextTurn()
  expect([time.of(0), time.of(0)]).toEqual([2, 2])
})

test('a response to a request that was sent after the poll has the time of its own read', () => {
  const time = new PollTime(countingClock())
  expect([time.of(0), time.of(1.5), time.of(1)]).toEqual([1, 2, 1])
})

test('after 256 reads the clock is read again, since bytes may have arrived during them', () => {
  const time = new PollTime(countingClock())
  const times = Array.from({ length: 600 }, () => time.of(0))
  expect([times[0], times[255], times[256], times[511], times[512]]).toEqual([1, 1, 2, 2, 3])
})

test.each(transports)(
  '%s: work on one response does not make the next one, which had arrived, look later',
  async (_name, open) => {
    const waiting: (() => void)[] = []
    const { origin } = await scriptedServer((socket) => {
      waiting.push(() => socket.write(response(200, {}, '{}')))
      if (waiting.length === 2) for (const answer of waiting) answer()
    })
    const transport = openOn(open, origin)
    const client = new AttemptClient({
      transport,
      contract: defaultContract,
      now,
      deadlines: noDeadlines,
    })
    const ends = await Promise.all(
      [0, 1].map(
        () =>
          new Promise<readonly number[]>((resolve) => {
            client.start(
              ask(),
              {
                onItl() {},
                onEnd(attempt) {
                  const untilUs = now() + 50_000
                  while (now() < untilUs);
                  resolve([attempt.doneUs, attempt.endedUs, attempt.closedUs])
                },
              },
              'never',
            )
          }),
      ),
    )
    const [doneUs, endedUs, closedUs] = [0, 1, 2].map((at) => ends[1]![at]! - ends[0]![at]!)
    expect([doneUs, endedUs]).toEqual([0, 0])
    // A request that was sent in between must not look as if it followed both.
    expect(closedUs).toBeGreaterThanOrEqual(50_000)
  },
)
