import { judgeAdmissions } from './over-admission.ts'
import { rateRule } from './rate-rule.ts'

export const rate03 = rateRule({
  id: 'RATE-03',
  title: 'No more requests are admitted in a minute than the limit allows',
  severity: 'must',
  needs: ['passive', 'active'],
  explain: `Counts admissions that surely lay in one minute (their whole interval from the first byte
sent to the headers). More than 2N is too many for every limiter: a fixed window lets in 2N over its
edge. Between N and 2N the admissions are replayed through models of six limiters (fixed windows on the
clock and from the first hit, sliding log, sliding counter, token bucket, paced bucket), with any phase,
and of a token bucket that gains a whole token at each tick of a clock;
it fails when none of them lets in all that was let in. Where the deployment profile knows a sliding log
(assay probe, gap G-22), more than N is too many. A limiter that alternates between algorithms
is not seen. Balance bands cut the record: counts may be kept, reset or scaled at an edge (G-23).`,
  decide(history, evidence) {
    return judgeAdmissions(history, evidence, 'minute')
  },
})
