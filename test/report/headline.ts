import { expect } from 'vitest'
import type { Finding } from '../../src/audit/verdict.ts'
import { observationsOf } from '../../src/audit/verdict.ts'
import { auditAnswer } from '../../src/report/findings.ts'

/** Rules that speak of amounts: what was charged, stated, logged, or taken from a balance. */
export const isOfAmounts = (rule: string): boolean => /^(PRICE|BILL)-/.test(rule)

/** The headline of a page about one finding. */
const headlineOf = ({ rule, severity, title, verdict }: Finding): string =>
  auditAnswer([
    {
      ...{ rule, severity, title, verdict: verdict.verdict, detail: verdict },
      observations: observationsOf(verdict),
    },
  ]).summary

/** A headline states what happened, in numbers, and not that a rule failed. In money it never says credits, and no month. */
export function expectFact(finding: Finding): void {
  const headline = headlineOf(finding)
  expect([finding.rule, headline]).toEqual([finding.rule, expect.stringMatching(/\d/)])
  expect(headline).not.toMatch(/rules? failed$|\b30 days\b|\bmonth\b/)
  expect(headline.length).toBeLessThanOrEqual(160)
  if (finding.rule.startsWith('PRICE')) expect(headline).not.toMatch(/credit/i)
}
