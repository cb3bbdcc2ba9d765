import { type UsageReport, usageReports } from '../../evidence/usage/reports.ts'
import type { Rule } from '../../rule.ts'
import { verdictOf } from '../exchange-rule.ts'

const takes = 'a captured answer of GET /user/credits (capture: all)'
export const named =
  'Fields are found by their names, since the specification leaves the body open (gap G-09).'

type Judge = (report: UsageReport) => string | null | undefined

/** A rule about single answers of the credits endpoint. */
export function reportRule(
  rule: Omit<Rule, 'decide' | 'section' | 'needs'> & {
    readonly expected: string
    readonly takes?: string
    readonly needs?: Rule['needs']
    readonly judge: Judge
  },
): Rule {
  const { expected, judge, takes: asks, ...described } = rule
  return {
    section: '§4.4',
    needs: ['active'],
    ...described,
    explain: `${rule.explain} ${named}`,
    async decide(evidence) {
      const reports = await usageReports(evidence)
      return verdictOf(
        reports.map((report) => [report.exchange, judge(report)] as const),
        expected,
        asks ?? takes,
      )
    },
  }
}
