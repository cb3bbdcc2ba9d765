import type { Rule } from '../src/audit/rule.ts'
import { isPoint, wordsOf } from '../src/audit/rules/explain.ts'
import { allRules } from '../src/audit/rules/list.ts'
import { lookup } from '../src/user/lookup.ts'

const families: Readonly<Record<string, string>> = lookup({
  TRN: 'Transport, endpoints, versioning',
  AUTH: 'Authentication',
  MODEL: 'Models',
  CHAT: 'Chat completions',
  MSG: 'Messages',
  SSE: 'Streaming',
  ERR: 'Errors',
  LIM: 'Limits and timeouts',
  BILL: 'Billing',
  RATE: 'Rate limits',
  USE: 'Usage endpoint',
  PAGE: 'Usage page',
  PRICE: 'Prices',
  SOLD: 'What is sold',
})

/** docs/rules.md, made from the rules; a test keeps them equal. */
export function rulesReference(): string {
  const byFamily = Map.groupBy(allRules, (rule) => rule.id.split('-')[0]!)
  const sections = [...byFamily].map(([family, rules]) =>
    [`## ${families[family] ?? family}`, ...rules.map(entry)].join('\n\n'),
  )
  return `${[
    '# Rules',
    `<!-- Made by npm run reference; do not edit. -->`,
    `${allRules.length} rules. Each is decided over recorded rows by \`assay audit\`, returns pass, fail,
inconclusive, not observed or not promised, and never passes without an observation. \`assay audit --explain ID\`
prints the same in the terminal. Sections (§) are those of the service interface specification.`,
    ...sections,
  ].join('\n\n')}\n`
}

function entry(rule: Rule): string {
  const { severity, takes } = wordsOf(rule)
  return [
    `### ${rule.id}`,
    `**${rule.title}.** ${rule.section}; ${severity}; needs ${takes.join(', ')}.`,
    typeof rule.explain === 'string' ? rule.explain.trim() : listOf(rule.explain),
  ].join('\n\n')
}

/** Points of a list in lines below each other, other paragraphs apart. */
function listOf(paragraphs: readonly string[]): string {
  return paragraphs.reduce((page, paragraph, at) => {
    const isNext = isPoint(paragraph) && isPoint(paragraphs[at - 1] ?? '')
    return `${page}${at === 0 ? '' : isNext ? '\n' : '\n\n'}${isPoint(paragraph) ? paragraph.replaceAll('\n', '\n  ') : paragraph}`
  }, '')
}
