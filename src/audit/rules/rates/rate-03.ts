import { judgeAdmissions } from './over-admission.ts'
import { rateRule } from './rate-rule.ts'

export const rate03 = rateRule({
  id: 'RATE-03',
  title: 'No more requests are admitted in a minute than the limit allows',
  severity: 'must',
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
record is cut there.`,
  decide(history, evidence) {
    return judgeAdmissions(history, evidence, 'minute')
  },
})
