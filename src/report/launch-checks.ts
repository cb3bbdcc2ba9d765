import { counted } from '../user/grouped.ts'
import type { Check } from './banner.ts'
import { formatNumber, formatShare } from './format.ts'
import { emptyShare, failureShare, unclosedText } from './summary/figures.ts'
import type { SummaryGroup } from './summary/group-shape.ts'

/** Doubts about this client in one line; their figures are at the end of the page. */
export function doubtChecks(tests: readonly Check[]): readonly Check[] {
  if (tests.length === 0) return []
  return [
    {
      tone: 'warn',
      name: 'Self-tests in doubt:',
      link: '#self-tests',
      figure: tests.map(({ name }) => name).join(', '),
      remedy: null,
    },
  ]
}

export function failureChecks(counts: SummaryGroup['counts']): readonly Check[] {
  const { failed, sent } = counts
  if (failed === 0) return []
  const figure = `${formatShare(failureShare(counts)!)} %, ${formatNumber(failed)} of ${counted(sent, 'request')}`
  return [{ tone: 'warn', name: 'Unexpected failures:', figure, remedy: null }]
}

/** A service that fails without a word answers 200 with nothing in it. */
export function emptyChecks(all: SummaryGroup): readonly Check[] {
  const { counts, tokenReports } = all
  if (counts.empty === 0) return []
  const figure = `${formatShare(emptyShare(all)!)} %, ${formatNumber(counts.empty)} of ${formatNumber(tokenReports.answers)} have no text and no tool call`
  return [{ tone: 'warn', name: 'Empty answers:', figure, remedy: null }]
}

export function unclosedChecks(all: SummaryGroup): readonly Check[] {
  const figure = unclosedText(all)
  return figure === null ? [] : [{ tone: 'warn', name: 'Open streams:', figure, remedy: null }]
}
