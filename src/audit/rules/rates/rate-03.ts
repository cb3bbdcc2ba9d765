import type { Promising } from '../../../contract/promises.ts'
import { bandsWithin } from '../../../limits/band.ts'
import { flightsOf } from '../../../limits/in-flight.ts'
import { largest } from '../../../user/extremes.ts'
import { inconclusive, pass, type Verdict } from '../../verdict.ts'
import { type RateHistory, witnessOf } from './history.ts'
import { judgeAdmissions } from './over-admission.ts'
import { rateRule } from './rate-rule.ts'

export const rate03 = rateRule({
  id: 'RATE-03',
  title:
    'No more requests are admitted in a minute, or served at the same time, than the limits allow',
  needs: ['passive', 'active'],
  promised: ['bands'],
  explain: `Counts the admissions that were certainly within one minute (by their whole interval, from the
first byte sent to the headers). More than 2N is too many for every limiter: a fixed window admits up to
2N around its edge. If the resets show that no edge lies among them, more than N are too many. Between N and 2N, the admissions are replayed through models of six limiters (fixed
windows on the clock and from the first request, sliding log, sliding counter, token bucket, paced
bucket) with any phase, and through a token bucket that gains a whole token at each tick of a clock. The
rule fails if none of them admits all of these requests. If the deployment profile says that the limiter
is a sliding log (assay probe, gap G-22), more than N is too many. The rule cannot detect a limiter that
alternates between algorithms. At an edge of a band, counts may be kept, reset or scaled (G-23), so the
record is cut there. Of a promised number in flight (\`in_flight\` of a band), those count whose headers had come when a request was
sent, and which went on for a quarter of a second after it was admitted. More than promised are inconclusive: a service may be done before
its client sees the end.`,
  decide(history, evidence) {
    const inFlight = judgeFlights(history, evidence.contract)
    const admissions = judgeAdmissions(history, evidence, 'minute')
    if (admissions.verdict === 'fail' || inFlight === null) return admissions
    return inFlight.verdict === 'pass' && admissions.verdict !== 'not-observed'
      ? admissions
      : inFlight
  },
})

/** How late a client may see the end of an answer. */
const lateUs = 250_000

/** Whether a key may have had more requests in flight than promised; null if nothing promises a number, or it was not reached. */
function judgeFlights({ byKey }: RateHistory, contract: Promising<'bands'>): Verdict | null {
  if (contract.bands.every(({ inFlight }) => inFlight === undefined)) return null
  let reached = 0
  for (const events of byKey.values()) {
    const flights = flightsOf(events)
    for (const event of events) {
      const limits = bandsWithin(contract, event.balance).map((band) => band.inFlight ?? Infinity)
      const most = largest(limits, 0)
      if (limits.length === 0 || !Number.isFinite(most)) continue
      if (event.decision === 'rejected' && flights.atMost(event) >= most) reached++
      if (event.decision !== 'admitted') continue
      const others = flights.atLeast(event, lateUs)
      if (others + 1 === most) reached++
      if (others < most) continue
      return inconclusive(
        events.length,
        `one was admitted as number ${others + 1} in flight, by what the client saw, with a limit of ${most}: the service may have been done with some before their end arrived`,
        [witnessOf(event, `admitted beside ${others} that were being answered`)],
      )
    }
  }
  return reached === 0 ? null : pass(reached)
}
