import { renderHeadline } from '../../report/banner.ts'
import { renderDocument } from '../../report/document.ts'
import { formatShare } from '../../report/format.ts'
import type { TextFormat } from '../../report/pages.ts'
import { csvCell, jsonText, markdownCell } from '../../report/summary/printable.ts'
import { grouped, groupedText } from '../../user/grouped.ts'
import { visible } from '../../user/hostile.ts'
import { type Html, html } from '../../user/html.ts'
import type { AccountFigures } from '../figures/accounts.ts'

type Budget = AccountFigures['budgets'][number]

/** A customer and a unit. */
interface Row extends Omit<AccountFigures, 'amounts' | 'budgets'> {
  readonly unit: string | null
  readonly used: string | null
  readonly before: string | null
  readonly change: number | null
  /** Of this unit, the one that is over or will be first; null without one. */
  readonly budget: Budget | null
}

/** One row for each customer and unit, by unit, the largest use first. A customer without an amount has a row, too. */
function rowsOf(accounts: readonly AccountFigures[]): readonly Row[] {
  const rows = accounts.flatMap(({ amounts, budgets, ...account }): Row[] => {
    const units = new Set<string | null>([...amounts, ...budgets].map(({ unit }) => unit))
    if (units.size === 0) units.add(null)
    return [...units].map((unit) => {
      const amount = amounts.find((each) => each.unit === unit)
      const none = account.requests === 0 ? '0' : null
      const { used = none, before = null, change = null } = amount ?? {}
      const own = budgets.filter((each) => each.unit === unit).sort(byUrgency)
      return { ...account, unit, used, before, change, budget: own[0] ?? null }
    })
  })
  return rows.sort(
    (a, b) =>
      Number(a.unit === null) - Number(b.unit === null) ||
      (a.unit ?? '').localeCompare(b.unit ?? '') ||
      Number(b.used ?? -1) - Number(a.used ?? -1) ||
      (a.account < b.account ? -1 : 1),
  )
}

/** A date after those of all budgets. */
const never = '9999-12-31'
/** A budget that is used up, the fullest first; then one that will be, the soonest first; then the others. */
const byUrgency = (a: Budget, b: Budget) =>
  Number(b.share >= 1) - Number(a.share >= 1) ||
  (a.crosses ?? never).localeCompare(b.crosses ?? never) ||
  b.share - a.share

const percent = (share: number) => `${formatShare(share)} %`
const signed = (change: number) => `${change < 0 ? '−' : '+'}${percent(Math.abs(change))}`
const amountText = (text: string | null) => (text === null ? '–' : groupedText(text))

function budgetText(budget: Budget | null): string {
  if (budget === null) return '–'
  const { share, amount, unit, period, crosses, key, tag } = budget
  const of = key ?? tag
  const when = crosses === null ? '' : `, used up about ${crosses}`
  return `${percent(share)} of ${amountText(amount)} ${unit} a ${period}${of === null ? '' : ` (${visible(of)})`}${when}`
}

const failedText = ({ failed, requests }: Row) =>
  failed === null
    ? '–'
    : failed === 0 || !requests
      ? grouped(failed)
      : `${grouped(failed)} (${percent(failed / requests)})`

const changeText = ({ change, before, used }: Row) =>
  change !== null
    ? signed(change)
    : before !== null && Number(before) === 0 && Number(used ?? 0) > 0
      ? 'new'
      : '–'

/** The three answers: who grows, who is over a budget or will be, who fails most. */
function answers(rows: readonly Row[]): readonly string[] {
  const growths = [...Map.groupBy(rows, ({ unit }) => unit)].flatMap(([unit, of]) => {
    const grown = of
      .map((row) => ({ row, more: Number(row.used ?? 0) - Number(row.before ?? Number.NaN) }))
      .filter(({ more }) => more > 0)
      .sort((a, b) => b.more - a.more)[0]
    if (grown === undefined || unit === null) return []
    const { row } = grown
    return [
      `Grows most in ${unit}: ${row.label}, from ${amountText(row.before)} to ${amountText(row.used)} (${changeText(row)}).`,
    ]
  })
  const over = rows.filter(({ budget }) => budget !== null && budget.share >= 1)
  const crossing = rows.filter(({ budget }) => budget !== null && budget.crosses !== null)
  const budgets = [
    ...over.map((row) => `Over a budget: ${row.label}, ${budgetText(row.budget)}.`),
    ...crossing
      .sort((a, b) => (a.budget!.crosses! < b.budget!.crosses! ? -1 : 1))
      .map((row) => `Will cross a budget: ${row.label}, ${budgetText(row.budget)}.`),
  ]
  const failing = rows.filter(({ failed }) => failed !== null && failed > 0)
  const worst = failing.toSorted((a, b) => b.failed! - a.failed!)[0]
  const shareOf = ({ failed, requests }: Row) => failed! / Math.max(1, requests ?? 0)
  const oftenest = failing
    .filter(({ requests }) => (requests ?? 0) >= leastForShare)
    .toSorted((a, b) => shareOf(b) - shareOf(a))[0]
  return [
    ...budgets.slice(0, mostNamed),
    ...(budgets.length > mostNamed
      ? [`${budgets.length - mostNamed} more budgets are crossed or will be: see the table.`]
      : []),
    ...growths,
    ...(worst === undefined
      ? []
      : [
          `Fails most: ${worst.label}, ${failedText(worst)} of ${grouped(worst.requests ?? 0)} requests.`,
        ]),
    ...(oftenest === undefined || oftenest.account === worst?.account
      ? []
      : [
          `Fails most often: ${oftenest.label}, ${failedText(oftenest)} of ${grouped(oftenest.requests ?? 0)} requests.`,
        ]),
  ]
}

const mostNamed = 5
/** A share of fewer requests tells little. */
const leastForShare = 20
const heads = ['account', 'unit', 'used', 'before', 'change', 'requests', 'failed', 'budget']
const isNumber = (at: number) => at >= 2 && at <= 6
const cellsOf = (row: Row) => [
  row.label,
  row.unit ?? '–',
  amountText(row.used),
  amountText(row.before),
  changeText(row),
  row.requests === null ? '–' : grouped(row.requests),
  failedText(row),
  budgetText(row.budget),
]

function periodText(accounts: readonly AccountFigures[]): string {
  const periods = new Set(
    accounts.map(({ from, to }) => `${from.slice(0, 10)} to ${to.slice(0, 10)}`),
  )
  return [...periods].sort().join(', ')
}

const about = (accounts: readonly AccountFigures[]) =>
  `${periodText(accounts)}, the end exclusive, in the time zone of each account. Before: the same time of the period before. Requests and failures are of the whole account. Amounts of two units are never added.`

/** The customers as text. JSON has the figures themselves, with every budget. */
export function accountsText(accounts: readonly AccountFigures[], format: TextFormat): string {
  if (format === 'json') return `${jsonText({ accounts })}\n`
  const rows = rowsOf(accounts)
  if (format === 'csv') {
    const names = [...['account', 'label', 'from', 'to', 'unit', 'used', 'before', 'change']]
    const more = ['requests', 'failed', 'cost_unknown', 'budget', 'budget_period']
    const lines = rows.map(({ budget, ...row }) => [
      ...[row.account, row.label, row.from, row.to, row.unit, row.used],
      ...[row.before, row.change, row.requests, row.failed, row.costUnknown],
      ...[budget?.amount ?? null, budget?.period ?? null],
      ...[budget?.share ?? null, budget?.crosses ?? null],
    ])
    return [[...names, ...more, 'budget_share', 'budget_crosses'], ...lines]
      .map((line) => `${line.map(csvCell).join(',')}\r\n`)
      .join('')
  }
  return [
    '# Customers',
    '',
    about(accounts),
    '',
    ...answers(rows).map((each) => `- ${markdownCell(each, 300)}`),
    '',
    `| ${heads.join(' | ')} |`,
    `|${heads.map((_, at) => (isNumber(at) ? '---:' : '---')).join('|')}|`,
    ...rows.map(
      (row) =>
        `| ${cellsOf(row)
          .map((cell) => markdownCell(cell))
          .join(' | ')} |`,
    ),
    '',
  ].join('\n')
}

/**
 * The customers as a page that opens offline.
 *
 * @param pages relative addresses of the pages of customers, by account and unit, null for a page of any; empty without them
 */
export function accountsPage(
  accounts: readonly AccountFigures[],
  pages: ReadonlyMap<string, ReadonlyMap<string | null, string>> = new Map(),
): string {
  const rows = rowsOf(accounts)
  const [first, ...others] = answers(rows)
  const over = rows.filter(({ budget }) => budget !== null && budget.share >= 1).length
  const crossing = rows.filter(({ budget }) => budget?.crosses).length
  const name = ({ account, label, unit }: Row): Html => {
    const own = pages.get(account)
    const page = own?.get(unit) ?? own?.get(null)
    return page === undefined ? html`${label}` : html`<a href="${page}">${label}</a>`
  }
  return renderDocument({
    title: 'Customers · Assay',
    charts: {},
    body: html`<main class="page">
<header class="masthead"><h1>Customers</h1><span class="brand"><b>assay</b></span></header>
<p class="about">${about(accounts)}</p>
${renderHeadline({
  asks: 'Who grows, who crosses a budget, who fails?',
  tone: over > 0 ? 'fail' : crossing > 0 ? 'warn' : 'none',
  summary: first ?? 'Nothing was used',
  because: others.join(' '),
  checks: [],
})}
<section class="card finding"><h3>Each customer and unit</h3><div class="table-scroll" tabindex="0" role="region" aria-label="Each customer and unit"><table><thead><tr>${heads.map((head, at) => html`<th scope="col" class="${isNumber(at) ? 'num' : ''}">${head}</th>`)}</tr></thead><tbody>${rows.map(
      (row) =>
        html`<tr>${cellsOf(row).map((cell, at) => (at === 0 ? html`<th scope="row">${name(row)}</th>` : html`<td class="${isNumber(at) ? 'num' : at === 7 ? 'long' : 'nowrap'}">${cell}</td>`))}</tr>`,
    )}</tbody></table></div></section>
<footer>Made by Assay. A dash means "not known", never 0.</footer>
</main>`,
  })
}
