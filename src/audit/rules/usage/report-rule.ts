import { type UsageReport, usageReports } from '../../evidence/usage/reports.ts'
import type { Rule } from '../../rule.ts'
import { judgedRule, type Observed } from '../exchange-rule.ts'

export const named =
  'Fields are found by their names, since the specification leaves the body open (gap G-09).'

/** A rule about single responses of the credits endpoint. */
export function reportRule(
  rule: Omit<Rule, 'decide' | 'section' | 'promised' | 'explain'> & {
    readonly explain: string
    readonly expected: string
    readonly requires?: string
    readonly judge: (report: UsageReport) => Observed
  },
): Rule {
  const { judge, ...described } = rule
  return judgedRule({
    section: '§4.4',
    needs: ['active'],
    promised: ['paths.credits'],
    requires: 'a captured answer of GET /user/credits (capture: all)',
    ...described,
    explain: `${rule.explain} ${named}`,
    async judged(evidence) {
      const reports = await usageReports(evidence)
      return reports.map((report) => [report.exchange, judge(report)])
    },
  })
}
