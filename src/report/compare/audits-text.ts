import type { AuditReport } from '../../audit/audit.ts'
import { measured } from '../../audit/figures.ts'
import { type Finding, isBroken, type MeasuredFigure, unpromised } from '../../audit/verdict.ts'
import { wrapped } from '../../user/wrapped.ts'
import type { Tone } from '../banner.ts'
import { markdownCell, printable } from '../summary/printable.ts'
import { amountText } from '../usage/amount.ts'
import type { AuditComparison, ComparedRule } from './audits.ts'
import { type ComparedFigure, dearerText, ratioBetween } from './dearer.ts'

const words = {
  pass: 'passed',
  fail: 'FAILED',
  inconclusive: 'inconclusive',
  'not-observed': 'not observed',
  'not-promised': 'not promised',
} as const

/** The verdict in a word. Advice that fails is told apart: it breaks no promise. */
export const verdictWord = ({ verdict, severity }: Finding): string =>
  verdict.verdict === 'fail' && severity === 'advice' ? 'failed (advice)' : words[verdict.verdict]

/** Where the runs of a side were sent, and by which contract they are judged. */
export function sideText({ runs, contract }: AuditReport): string {
  const urls = [...new Set(runs.map(({ baseUrl }) => baseUrl))].join(', ')
  return `${printable(urls, 60)}, ${runs.length} ${runs.length === 1 ? 'run' : 'runs'}, by ${printable(contract, 30)}`
}

/** `1.100 (1.099 to 1.101)`; a dash for what was not measured. */
export function figureText(figure: MeasuredFigure | null): string {
  if (figure === null) return '–'
  const { name, value, low, high, unit } = figure
  const shown = (each: number) => valueText(name, each, unit)
  const inUnit = unit === undefined ? '' : ` ${unit}`
  if (low === undefined || high === undefined) return `${shown(value)}${inUnit}`
  // Beside its bounds, an amount would need a wider column.
  return measured[name].shown === 'amount'
    ? `${low.toPrecision(4)} to ${high.toPrecision(4)}${inUnit}`
    : `${shown(value)} (${shown(low)} to ${shown(high)})`
}

/** An amount of so many characters is shown as it is. */
const longestExact = 10

function valueText(name: MeasuredFigure['name'], value: number, unit: string | undefined): string {
  switch (measured[name].shown) {
    case 'ratio':
      return value.toFixed(3)
    case 'share':
      return `${(100 * value).toFixed(0)} %`
    case 'count':
      return value.toLocaleString('en')
    case 'number':
      return String(Number(value.toPrecision(3)))
    case 'amount': {
      const exact = String(Number(value.toPrecision(12)))
      return name === 'paid_too_much' && exact.length <= longestExact
        ? exact
        : amountText(value.toFixed(18), unit ?? '')
    }
  }
}

/** How much more b has than a: `+10.0 % (9.8 to 10.2)`; empty for what has no ratio. */
export function changeOf({ name, a, b }: ComparedFigure): string {
  const { shown } = measured[name]
  if (a === null || b === null || a.unit !== b.unit || a.value <= 0) return ''
  if (shown !== 'ratio' && name !== 'text_price' && name !== 'answer_price') return ''
  const excess = (ratio: number) => 100 * (ratio - 1)
  const between = ratioBetween(a, b)
  const range =
    between === null ? '' : ` (${between.map((each) => excess(each).toFixed(1)).join(' to ')})`
  const more = excess(b.value / a.value)
  return `${more >= 0 ? '+' : ''}${more.toFixed(1)} %${range}`
}

/** Rules that at least one side has judged or measured. */
export const rulesShown = ({ rules }: AuditComparison): readonly ComparedRule[] =>
  rules.filter(({ a, b, figures }) => figures.length > 0 || isJudged(a) || isJudged(b))

const isJudged = ({ verdict }: Finding) =>
  verdict.verdict !== 'not-observed' && verdict.verdict !== 'not-promised'

/** What either side says of a rule beside its verdict: what broke a promise, what left it open, what was measured without one. */
export function remarksOf(comparison: AuditComparison): readonly string[] {
  return (['a', 'b'] as const).flatMap((side) =>
    rulesShown(comparison).flatMap(({ rule, [side]: { verdict } }) => {
      const said =
        verdict.verdict === 'fail'
          ? verdict.observed
          : verdict.verdict === 'inconclusive'
            ? verdict.why
            : verdict.verdict === 'not-promised' && verdict.note !== undefined
              ? `not promised: ${unpromised(verdict)}`
              : null
      return said === null ? [] : [`${side}  ${rule}: ${said}`]
    }),
  )
}

/** The ids of rules that neither side has judged: `Not judged at either: SOLD-03, SOLD-04.` */
export function unseenText(comparison: AuditComparison): string {
  const shown = new Set(rulesShown(comparison))
  const left = comparison.rules.filter((rule) => !shown.has(rule)).map(({ rule }) => rule)
  return left.length === 0 ? '' : `Not judged at either: ${left.join(', ')}.`
}

const nothingJudged = 'No promise was judged at either'

/** The answer in one sentence: which is dearer, and which breaks a promise. */
export function answerOf(comparison: AuditComparison): {
  readonly tone: Tone
  readonly summary: string
  readonly because: string
} {
  const broken = (side: 'a' | 'b') =>
    comparison.rules.filter(({ [side]: finding }) => isBroken(finding))
  const failed = (['a', 'b'] as const).flatMap((side) => {
    const rules = broken(side)
    if (rules.length === 0) return []
    return [`${side} breaks ${rules.map(({ rule }) => rule).join(', ')}${countedToo(rules, side)}`]
  })
  const { dearer, rules } = comparison
  const hasDearer = dearer.some((each) => each.dearer !== 'neither')
  const isAnyJudged = rules.some(({ a, b }) => isJudged(a) || isJudged(b))
  const whole = isAnyJudged ? 'Neither breaks a promise that was judged' : nothingJudged
  return {
    tone: failed.length > 0 ? 'fail' : hasDearer ? 'warn' : isAnyJudged ? 'good' : 'none',
    summary: failed.length === 0 ? whole : failed.join('; '),
    because:
      dearer.length === 0
        ? 'Which of them is dearer for the same text was not measured at both (scenarios/audit-integrity.yaml).'
        : dearer.map(dearerText).join(' '),
  }
}

/** How many more tokens a side counts than its texts have: ` and counts 10.0 % more input tokens than its texts have`. */
function countedToo(broken: readonly ComparedRule[], side: 'a' | 'b'): string {
  const figures = broken.flatMap((each) => each.figures)
  const input = figures.find(({ name }) => name === 'input_tokens')?.[side]?.value
  const more = input === undefined ? 0 : 100 * (input - 1)
  return more < 0.1 ? '' : ` and counts ${more.toFixed(1)} % more input tokens than its texts have`
}

const [labelWidth, sideWidth] = [35, 23]

/** Two audits for a terminal, 80 columns wide. */
export function terminalAudits(comparison: AuditComparison): string {
  const line = (label: string, a: string, b: string) =>
    `${label.padEnd(labelWidth)}${a.padEnd(sideWidth)}${b}`.trimEnd()
  const { summary, because } = answerOf(comparison)
  const unseen = unseenText(comparison)
  return `${[
    ...wrapped(`a  ${sideText(comparison.a)}`, '   '),
    ...wrapped(`b  ${sideText(comparison.b)}`, '   '),
    '',
    line('', 'a', 'b'),
    ...rulesShown(comparison).flatMap(({ rule, title, a, b, figures }) => [
      printable(`${rule} ${title}`, 80),
      line('  verdict', verdictWord(a), verdictWord(b)),
      ...figures.map((figure) =>
        line(
          `  ${printable(figure.title, labelWidth - 3)}`,
          figureText(figure.a),
          figureText(figure.b),
        ),
      ),
    ]),
    '',
    ...remarksOf(comparison).flatMap((each) => wrapped(printable(each, 600), '   ')),
    ...(unseen === '' ? [] : wrapped(unseen, '')),
    '',
    ...wrapped(`${summary}. ${because}`, ''),
  ].join('\n')}\n`
}

/** Two audits for a pull request or a mail. */
export function markdownAudits(comparison: AuditComparison): string {
  const { summary, because } = answerOf(comparison)
  const unseen = unseenText(comparison)
  const rows = rulesShown(comparison).flatMap(({ rule, title, a, b, figures }) => [
    `| **${markdownCell(rule)}** ${markdownCell(title)} | ${verdictWord(a)} | ${verdictWord(b)} | |`,
    ...figures.map(
      (figure) =>
        `| ${markdownCell(figure.title)} | ${figureText(figure.a)} | ${figureText(figure.b)} | ${changeOf(figure)} |`,
    ),
  ])
  return `${[
    '### Two endpoints',
    '',
    `\`a\` ${markdownCell(sideText(comparison.a), 200)}  `,
    `\`b\` ${markdownCell(sideText(comparison.b), 200)}`,
    '',
    `**${markdownCell(summary, 600)}.** ${because}`,
    '',
    '| | a | b | b against a |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
    ...remarksOf(comparison).map((each) => `- ${markdownCell(each, 600)}`),
    ...(unseen === '' ? [] : ['', markdownCell(unseen, 600)]),
  ].join('\n')}\n`
}
