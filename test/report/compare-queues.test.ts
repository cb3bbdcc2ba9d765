import { expect, test } from 'vitest'
import { services, timesOf } from '../../bench/intervals/services.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { compareRuns } from '../../src/report/compare/compare.ts'
import { judgeGate, parseGate } from '../../src/report/compare/gate.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { openStore } from '../store/opened.ts'
import { attempt, enterRun } from './attempts.ts'

/** How often two runs of one service are called different by p95, and what a gate of +10 % says. */
async function compared(name: string, pairs: number, length: number) {
  const service = services.find((each) => each.name === name)!
  const called: string[] = []
  const gates: string[] = []
  for (let pair = 0; pair < pairs; pair++) {
    const store = await openStore(':memory:')
    for (const [nth, runId] of ['a', 'b'].entries()) {
      await enterRun(store, runId)
      const seeds = { arrivals: 700 + 2 * pair + nth, service: 900 + 2 * pair + nth }
      // A mean service time of 10 ms.
      const rows = Array.from(timesOf(service, length, seeds), (time, slot) => {
        const intendedUs = slot * 1_400
        const closedUs = intendedUs + Math.round(time * 10_000)
        const sent = { intendedUs, dispatchedUs: intendedUs, sentUs: intendedUs }
        return attempt(slot, { runId, ...sent, doneUs: closedUs, closedUs })
      })
      await appendAttempts(store, rows)
    }
    const side = (runId: string) => ({ store, runId })
    const comparison = await compareRuns(side('a'), side('b'), defaultContract)
    const p95 = comparison.differences.find(
      ({ metric, statistic }) => metric === 'service' && statistic === 'p95',
    )!
    called.push(p95.verdict)
    gates.push(judgeGate(comparison, parseGate('service.p95 > +10%')).result)
    store.close()
  }
  return { called, gates }
}

test('two runs of a service that is nearly full are not called different, and pass no gate', {
  tags: 'whole',
}, async () => {
  const { called, gates } = await compared('8 workers, load 0.9', 12, 2_000)
  expect(called.filter((verdict) => verdict !== 'unclear')).toEqual([])
  expect(gates.filter((result) => result === 'failed')).toEqual([])
  // 2,000 requests are worth about 33: too few to pass, too.
  expect(gates.filter((result) => result === 'passed').length).toBeLessThanOrEqual(1)
})
