import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { runFigures } from '../../src/run/run-figures.ts'
import { openStore } from '../../src/store/open.ts'
import { appendAttempts } from '../../src/store/recorder.ts'
import { startRun } from '../../src/store/runs.ts'
import { attempt, startOf } from './rows.ts'

test('what a run asked of the machine is the rate of its busiest steady phase, not a mean over all', async () => {
  const store = await openStore(':memory:')
  await startRun(store, startOf('r'))
  let slot = 0
  const phase = (
    name: string,
    part: 'warmup' | 'steady',
    perS: number,
    n: number,
    fromUs: number,
  ) =>
    Array.from({ length: n }, (_, at) =>
      attempt({ slot: slot++, phase: name, part, intendedUs: fromUs + (at * 1e6) / perS }),
    )
  await appendAttempts(store, [
    ...phase('warm', 'warmup', 5000, 500, 0),
    ...phase('slow', 'steady', 100, 400, 1e6),
    ...phase('fast', 'steady', 2000, 1000, 5e6),
    // A handful of requests at once is a moment, and no load.
    ...phase('few', 'steady', 1e6, 50, 6e6),
  ])
  const { busiestPerS } = await runFigures(store, 'r', defaultContract)
  store.close()
  expect(busiestPerS).toBeCloseTo(2000, 6)
})
