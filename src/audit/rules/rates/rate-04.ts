import {
  type Burst,
  type BurstSpan,
  idleBursts,
  mayShareAnEdge,
  refillDuring,
} from '../../../limits/admission.ts'
import type { LimitedRequest } from '../../../limits/limited-request.ts'
import type { BandTrace } from '../../../limits/traces.ts'
import { largest } from '../../../user/extremes.ts'
import { fail, inconclusive, notObserved, pass } from '../../verdict.ts'
import { anyOf, witnessOf } from './history.ts'
import { rateRule } from './rate-rule.ts'
import { tracesIn } from './traces.ts'

interface Judged extends Pick<BandTrace, 'limit' | 'windowUs' | 'toleranceUs'> {
  readonly span: BurstSpan
  readonly admitted: number
  readonly allowed: number
  readonly lastAdmitted: LimitedRequest | undefined
}

export const rate04 = rateRule({
  id: 'RATE-04',
  title: 'A burst from an idle key is admitted up to the limit and no further',
  needs: ['active'],
  promised: ['bands'],
  explain: `Looks at bursts of more than N attempts within a quarter of a minute, from a key that rested
for two minutes. Every limiter admits at most N of them, plus the tokens that a bucket regains
meanwhile. Only an edge of fixed windows within the burst admits up to N more. So one burst with more
admissions decides nothing; two bursts whose edges cannot coincide do, because a check that is not
atomic shows in both. If both endpoints were used, only the busier one is counted, because RATE-15
checks for separate counters.`,
  decide(history, evidence) {
    const judged: Judged[] = []
    for (const trace of tracesIn(history, evidence, 'minute')) {
      const { requests, limit, windowUs, earlierAtMost } = trace
      const bursts = idleBursts(requests, limit, windowUs, earlierAtMost === 0)
      for (const burst of bursts) judged.push(judge(trace, burst))
    }
    if (judged.length === 0) {
      const limits = evidence.contract.bands.map((band) => band.requests.minute)
      const promised = limits.filter(Number.isFinite)
      return notObserved(
        promised.length === 0
          ? 'a limit of the minute in the contract, which promises none'
          : `from a key that rested two minutes, more than ${anyOf(promised)} requests at once (by band), twice`,
      )
    }
    const over = judged.filter(({ admitted, allowed }) => admitted > allowed)
    const tooMany = over.find(({ admitted, allowed, limit }) => admitted > allowed + limit)
    const pair = over.flatMap((one, index) => {
      const other = over
        .slice(index + 1)
        .find(
          (candidate) => !mayShareAnEdge(one.span, candidate.span, one.windowUs, one.toleranceUs),
        )
      return other === undefined ? [] : [[one, other] as const]
    })[0]
    const observations = judged.length
    const shown = tooMany !== undefined ? ([tooMany] as const) : pair
    const [first, second] = shown ?? []
    if (first !== undefined)
      return fail(observations, {
        expected: `at most ${first.allowed} of a burst admitted`,
        observed: `${anyOf([first, ...(second === undefined ? [] : [second])].map(({ admitted }) => admitted))} admitted in ${over.length} of ${judged.length} bursts`,
        witnesses: [
          witnessOf(first.lastAdmitted!, `number ${first.admitted} of a burst, admitted`),
          ...(second === undefined
            ? []
            : [witnessOf(second.lastAdmitted!, `number ${second.admitted} of a burst, admitted`)]),
        ],
      })
    if (over.length > 0 && over.length === judged.length)
      return inconclusive(
        observations,
        'more than the limit was admitted in each burst, but an edge of windows may have fallen into it; another burst at another time of the minute decides',
        over.map((one) => witnessOf(one.lastAdmitted!, `${one.admitted} admitted`)),
      )
    return pass(observations, { note: noteOf(judged) })
  },
})

function noteOf(judged: readonly Judged[]): string {
  const smoothed = judged.find(({ admitted, limit }) => admitted < limit)
  if (smoothed !== undefined)
    return `smoothed: a burst admitted ${smoothed.admitted} of ${smoothed.limit}`
  const over = judged.find(({ admitted, limit }) => admitted > limit)
  const bursts = `${judged.length} ${judged.length === 1 ? 'burst' : 'bursts'}`
  return over === undefined
    ? `${bursts}, each admitted up to the limit`
    : `${bursts}; one admitted ${over.admitted} of ${over.limit}, which a bucket that regains tokens or an edge of windows allows`
}

function judge({ limit, windowUs, toleranceUs }: BandTrace, burst: Burst): Judged {
  const byEndpoint = Map.groupBy(
    burst.requests.filter(({ decision }) => decision === 'admitted'),
    ({ endpoint }) => endpoint,
  )
  const admitted = largest([0, ...[...byEndpoint.values()].map((of) => of.length)])
  const { startUs, endUs } = burst
  return {
    limit,
    windowUs,
    toleranceUs,
    span: { startUs, endUs },
    admitted,
    allowed: limit + refillDuring(burst, limit, windowUs),
    lastAdmitted: burst.requests.findLast(({ decision }) => decision === 'admitted'),
  }
}
