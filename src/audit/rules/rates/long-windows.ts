import type { Window } from '../../../contract/contract.ts'
import { type CalendarLimit, calendarLengths } from '../../../contract/contract.ts'
import type { Rule } from '../../rule.ts'
import { judgeCalendar } from './calendar-windows.ts'
import { judgeAdmissions } from './over-admission.ts'
import { judgeRejections } from './rate-05.ts'
import { rateRule } from './rate-rule.ts'

/** The limits of the hour and the day, with the same two tests as the minute. */
function longWindowRule(
  id: string,
  window: Exclude<Window, 'minute'>,
  calendar: readonly CalendarLimit['each'][],
): Rule {
  return rateRule({
    id,
    title: `The limit of the ${window}${calendar.length > 1 ? ' and of longer windows' : ''} is exact: no more requests are admitted, and none are rejected earlier`,
    severity: 'must',
    needs: ['time', 'quiescence'],
    promised: ['bands'],
    explain: `The tests of RATE-03 and RATE-05 with the ${window}'s window, over the service's own time: a
run that scaled time counts accordingly. Between N and 2N is legal only over an edge of windows. Without
resets that show one, it is inconclusive, unless the edge would have to lie in a time so short that one of
500 windows has its edge there, and no hour of any zone begins in it by the Date headers. Then it fails, and
says how often that happens by chance. A window of a calendar (\`calendar\` of a band: ${calendar.join(', ')}) has its edges on
the clock of its zone: more than N by Date in one of them fail. Paid requests cannot reach most of these limits, because
each costs a credit and the band ends first. The verdict then names them and the traffic that would.`,
    decide(history, evidence) {
      const byCalendar = judgeCalendar(history, evidence, calendar)
      if (byCalendar !== null) return byCalendar
      const admissions = judgeAdmissions(history, evidence, window)
      if (admissions.verdict === 'fail') return admissions
      const named = judgeRejections(history, evidence, window)
      if (named.verdict === 'fail' || admissions.verdict === 'not-observed') {
        return named.verdict === 'not-observed' ? admissions : named
      }
      return admissions
    },
  })
}

export const rate16 = longWindowRule('RATE-16', 'hour', ['hour'])
export const rate17 = longWindowRule(
  'RATE-17',
  'day',
  calendarLengths.filter((each) => each !== 'hour'),
)
