import {
  type CalendarLimit,
  calendarLengths,
  type LimitWindow,
  lengthUs,
  limitOf,
  type Window,
  windows,
  windowsOf,
} from '../../../contract/contract.ts'
import type { Rule } from '../../rule.ts'
import type { Verdict } from '../../verdict.ts'
import { judgeCalendar } from './calendar-windows.ts'
import type { RateHistory } from './history.ts'
import { judgeAdmissions } from './over-admission.ts'
import { judgeRejections } from './rate-05.ts'
import { rateRule } from './rate-rule.ts'
import type { Known } from './traces.ts'

/** The limits of the hour and the day, with the same two tests as the minute. */
function longWindowRule(
  id: string,
  window: Exclude<Window, 'minute'>,
  calendar: readonly CalendarLimit['each'][],
): Rule {
  return rateRule({
    id,
    title: `The limit of the ${window}${calendar.length > 2 ? ' and of longer windows' : ' and of other windows shorter than a day'} is exact: no more requests are admitted, and none are rejected earlier`,
    needs: ['time', 'quiescence'],
    promised: ['bands'],
    explain: `The tests of RATE-03 and RATE-05 with the ${window}'s window, over the service's own time: a
run that scaled time counts accordingly. Between N and 2N is legal only over an edge of windows. Without
resets that show one, it is inconclusive, unless the edge would have to lie in a time so short that one of
500 windows has its edge there, and no hour of any zone begins in it by the Date headers. Then it fails, and
says how often that happens by chance. A window of a calendar (\`calendar\` of a band: ${calendar.join(', ')}) has its edges on
the clock of its zone: more than N by Date in one of them fail, and so do fewer before a rejection, if the record shows all of the
window and no other limit explains it. Windows of other lengths (\`10s\`, \`5h\`, \`7d\` of \`bands: requests\`) are judged alike. Paid requests cannot reach most of these limits, because
each costs a credit and the band ends first. The verdict then names them and the traffic that would.`,
    decide(history, evidence) {
      const byCalendar = judgeCalendar(history, evidence, calendar)
      if (byCalendar?.verdict === 'fail') return byCalendar
      const lengths = new Set(evidence.contract.bands.flatMap(windowsOf))
      const others = [...lengths].filter(
        (length) => !windows.some((each) => each === length) && isLike(length, window),
      )
      const limited = [window, ...others].filter((each) =>
        evidence.contract.bands.some((band) => Number.isFinite(limitOf(band, each))),
      )
      const judged = (limited.length > 0 ? limited : [window]).map((each) =>
        judgeWindow(history, evidence, each),
      )
      const all = byCalendar === null ? judged : [byCalendar, ...judged]
      const [first] = all.toSorted((a, b) => weight[a.verdict] - weight[b.verdict])
      return first!
    },
  })
}

/** The verdict on several windows is that of the worst. */
const weight: Readonly<Record<Verdict['verdict'], number>> = {
  fail: 0,
  inconclusive: 1,
  pass: 2,
  'not-observed': 3,
  'not-promised': 4,
}

/** Windows shorter than a day are judged with the hour, the others with the day. */
const isLike = (length: LimitWindow, window: Window) =>
  lengthUs(length) < lengthUs('day') === (window === 'hour')

function judgeWindow(history: RateHistory, evidence: Known<'bands'>, window: LimitWindow): Verdict {
  const admissions = judgeAdmissions(history, evidence, window)
  if (admissions.verdict === 'fail') return admissions
  const rejections = judgeRejections(history, evidence, window)
  const isWorse = weight[rejections.verdict] < weight[admissions.verdict]
  const isNoted = rejections.verdict === 'pass' && rejections.note !== undefined
  return isWorse || (isNoted && admissions.verdict === 'pass' && admissions.note === undefined)
    ? rejections
    : admissions
}

export const rate16 = longWindowRule('RATE-16', 'hour', ['minute', 'hour'])
export const rate17 = longWindowRule(
  'RATE-17',
  'day',
  calendarLengths.filter((each) => each !== 'minute' && each !== 'hour'),
)
