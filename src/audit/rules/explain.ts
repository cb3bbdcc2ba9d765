import type { Rule } from '../rule.ts'

/** A rule as `audit --explain` prints it. */
export function explanationOf(rule: Rule): string {
  return [
    `${rule.id}  ${rule.says}`,
    '',
    `promised   ${rule.section}`,
    `severity   ${severities[rule.severity]}`,
    `needs      ${rule.needs.map((need) => needs[need]).join('; ')}`,
    '',
    rule.explain.trim(),
    '',
  ].join('\n')
}

export const severities: Readonly<Record<Rule['severity'], string>> = {
  must: 'must: the specification says it',
  derived: 'derived: it follows from what the specification says',
  advice: 'advice: convention; breaking it fails no audit',
}

export const needs: Readonly<Record<Rule['needs'][number], string>> = {
  passive: 'captured traffic of any kind',
  active: 'requests made for it',
  time: 'control of time or of balances',
  quiescence: 'an account without other traffic',
}
