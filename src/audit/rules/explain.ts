import { wrapped } from '../../user/wrapped.ts'
import type { Rule } from '../rule.ts'
import type { Need, Severity } from '../verdict.ts'

/** Longer lines are hard to read, even on a wide terminal. */
const widest = 100

export function explanationOf(rule: Rule, width = widest): string {
  const columns = Math.min(width, widest)
  const { severity, takes } = wordsOf(rule)
  return [
    ...wrapped(`${rule.id}  ${rule.title}`, ' '.repeat(rule.id.length + 2), columns),
    '',
    ...[
      `promised   ${rule.section}`,
      `severity   ${severity}`,
      `needs      ${takes.join('; ')}`,
    ].flatMap((fact) => wrapped(fact, ' '.repeat(11), columns)),
    '',
    ...paragraphsOf(rule).flatMap((paragraph) =>
      wrapped(paragraph, isPoint(paragraph) ? '  ' : '', columns),
    ),
    '',
  ].join('\n')
}

/** Its paragraphs, each in one line. In a text, one ends where a line ends with a sentence. */
export function paragraphsOf({ explain }: Pick<Rule, 'explain'>): readonly string[] {
  return typeof explain === 'string'
    ? explain
        .trim()
        .replace(/(?<![.:\n])\n(?!\n)/g, ' ')
        .split('\n')
    : explain.map((paragraph) => paragraph.replaceAll('\n', ' '))
}

/** Whether a paragraph is a point of the one before it. */
export const isPoint = (paragraph: string): boolean => paragraph.startsWith('- ')

const severities: Readonly<Record<Severity, string>> = {
  must: 'must: the specification requires it',
  derived: 'derived: it follows from the specification',
  advice: 'advice: a convention; it never fails an audit',
}

const needs: Readonly<Record<Need, string>> = {
  passive: 'captured traffic of any kind',
  active: 'requests made for it',
  time: 'control of time or of balances',
  quiescence: 'an account without other traffic',
}

/** How binding a rule is, and what it takes, in words. */
export const wordsOf = ({ severity = 'must', needs: all = ['passive'] }: Rule) => ({
  severity: severities[severity],
  takes: all.map((need) => needs[need]),
})
