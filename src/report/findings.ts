import { basename } from 'node:path'
import { ownPlaceOf } from '../audit/format/place.ts'
import { amountsOf, type VerdictTable, type Witness } from '../audit/verdict.ts'
import { literal } from '../store/literal.ts'
import type { Session } from '../store/session/session.ts'
import { type Html, html } from '../user/html.ts'
import { shellWord } from '../user/shell-word.ts'
import { type Headline, renderHeadline } from './banner.ts'
import { type Figure, renderFigure } from './figure.ts'
import { formatNumber } from './format.ts'
import { type Detail, type StoredFinding, tones } from './latest-findings.ts'
import type { Part } from './part.ts'
import { type Row, renderTable } from './table.ts'
import { fillTable } from './temp-table.ts'

const witnessesOf = ({ detail }: StoredFinding): readonly Witness[] => detail.witnesses ?? []

const auditQuestion = 'Was every request handled and charged as the contract promises?'

export function auditAnswer(findings: readonly StoredFinding[]): Headline {
  const of = (verdict: string) => findings.filter((finding) => finding.verdict === verdict)
  const unpromised = of('not-promised').length
  const binding = of('fail').filter((finding) => finding.severity !== 'advice')
  const counted = (n: number, one: string, many: string) => `${n} ${n === 1 ? one : many}`
  const tally = `Of ${findings.length} rules, ${of('pass').length} passed, ${of('fail').length} failed, ${counted(of('inconclusive').length, 'is', 'are')} inconclusive, ${counted(of('not-observed').length, 'was', 'were')} not observed${unpromised === 0 ? '' : `, ${counted(unpromised, 'is', 'are')} not promised`}.`
  if (findings.length === 0) {
    return {
      tone: 'none',
      summary: 'These runs were not audited',
      because: 'Run assay audit, then make the page again.',
      checks: [],
    }
  }
  if (binding.length > 0) {
    const summary = failureOf(binding)
    return {
      tone: 'fail',
      summary,
      because: tally,
      checks: binding.map((finding) => ({
        tone: 'fail',
        name: finding.rule,
        link: `#${finding.rule}`,
        figure: finding.title,
        // The headline has said it already.
        remedy:
          finding.detail.observed === undefined ||
          (finding === binding[0] && summary.startsWith(saidOf(finding)))
            ? null
            : pairOf(finding.detail),
      })),
    }
  }
  if (of('pass').length === 0) {
    return { tone: 'warn', summary: 'Nothing could be decided', because: tally, checks: [] }
  }
  return { tone: 'good', summary: 'No rule failed', because: tally, checks: [] }
}

/** What was expected and observed; of long ones, what was observed: the title says what was expected. */
function pairOf({ expected = 'otherwise', observed }: Detail): string {
  const pair = `expected ${expected}, observed ${observed}`
  return pair.length <= longestHeadline ? pair : `observed ${observed}`
}

/** What failed, in the words of the first failure if they fit a headline. */
function failureOf(binding: readonly StoredFinding[]): string {
  const { observed, expected, fact } = binding[0]!.detail
  const [all, others] = [binding.length, binding.length - 1]
  const short = observed === undefined ? null : `Observed ${observed}`
  const both = expected === undefined ? short : saidOf(binding[0]!)
  // The first of several facts is one.
  const first = short?.split(/; |, or /)[0] ?? null
  const summary =
    fact ??
    [both, short, first].find(
      (words): words is string => words !== null && words.length <= longestHeadline,
    )
  if (summary === undefined) return `${all} ${all === 1 ? 'rule' : 'rules'} failed`
  return others === 0
    ? summary
    : `${summary}; ${others} more ${others === 1 ? 'rule' : 'rules'} failed`
}
const longestHeadline = 110

/** The credits first, if they are what is wrong: `1 credit too much: a fall by 7, expected a fall by 6`. */
function saidOf({ detail: { observed = '', expected = 'otherwise' } }: StoredFinding): string {
  const [, rest, credits] = /^(.+): (\S+ credits? too (?:much|little))$/.exec(observed) ?? []
  const seen = credits === undefined ? `Observed ${observed}` : `${credits}: ${rest}`
  return `${seen}, expected ${expected.replace(/^account \S+: /, '')}`
}

/** The part of a page about an audit, and its figures. */
export interface RenderedFindings {
  readonly body: Html
  readonly figures: readonly Figure[]
}

/**
 * The answer, every failure with its evidence, and all rules in one table.
 *
 * @param parts drawn under each failure; their queries read `getvariable('rule')`, the failed rule, and
 * `shown_witnesses` (rule, run_id, slot, retry, shows), the witnesses of all failures
 * @param commands for a failed rule, the command that sends its request again, or judges its rows again
 * @param audit the audit that prints a command that is too long for a page
 */
export async function renderFindings(
  session: Session,
  findings: readonly StoredFinding[],
  parts: readonly Part[],
  commands: ReadonlyMap<string, string>,
  audit: AuditOf,
): Promise<RenderedFindings> {
  const failures = findings.filter((finding) => finding.verdict === 'fail')
  await prepareWitnesses(session, failures)
  const figures: Figure[] = []
  const shown: Html[] = []
  for (const [at, finding] of failures.entries()) {
    const drawn = await drawParts(session, finding, parts)
    for (const each of drawn) figures.push(each)
    shown.push(
      renderFailure(
        finding,
        drawn,
        at > 0,
        reproduceText(finding, commands.get(finding.rule), audit),
      ),
    )
  }
  return {
    figures,
    body: html`${renderHeadline({ asks: auditQuestion, ...auditAnswer(findings) })}${shown}${moneyTables(findings)}${renderSold(findings)}${findings.some((each) => !isOfSold(each)) && renderSheet(findings)}`,
  }
}

/** Sums of money beside each other, of a rule that has not failed; a failure shows its own. */
const moneyTables = (findings: readonly StoredFinding[]): Html =>
  html`${findings
    .filter(({ verdict }) => verdict !== 'fail')
    .flatMap(({ detail }) => detail.tables ?? [])
    .map((table) => html`<section class="card">${renderFigures(table)}</section>`)}`

function renderFigures({ title, head, rows }: VerdictTable): Html {
  const cells = rows.map((row) => Object.fromEntries(head.map((name, at) => [name, row[at] ?? ''])))
  return html`<h3>${title}</h3>${renderTable(cells, { title })}`
}

async function prepareWitnesses(
  session: Session,
  failures: readonly StoredFinding[],
): Promise<void> {
  const witnesses = failures.flatMap((finding) =>
    witnessesOf(finding).map(({ runId, slot, retry, shows }) => ({
      rule: finding.rule,
      run_id: runId,
      slot,
      retry,
      shows,
    })),
  )
  await fillTable(
    session,
    'shown_witnesses',
    { rule: 'VARCHAR', run_id: 'VARCHAR', slot: 'BIGINT', retry: 'INTEGER', shows: 'VARCHAR' },
    witnesses,
  )
}

async function drawParts(
  session: Session,
  { rule }: StoredFinding,
  parts: readonly Part[],
): Promise<readonly Figure[]> {
  await session.execute(`SET VARIABLE rule = ${literal(rule)}`)
  const figures: Figure[] = []
  for (const part of parts) {
    const named = { ...part, name: `${rule}-${part.name}` }
    const figure = await renderFigure(named, await session.rows(part.sql))
    if (figure !== null) figures.push(figure)
  }
  return figures
}

function renderFailure(
  finding: StoredFinding,
  drawn: readonly Figure[],
  folded: boolean,
  reproduction: Html | false,
): Html {
  const { detail } = finding
  const all = witnessesOf(finding).length
  const rows = witnessRows(finding)
  const witnesses = html`${drawn.map((figure) => figure.body)}${renderTable(rows, { title: `Witnesses of ${finding.rule}`, fold: 'more witnesses' })}${
    all > rows.length && html`<p class="note">The first ${rows.length} of ${all} witnesses.</p>`
  }${(detail.tables ?? []).map(renderFigures)}`
  const head = html`<span class="pill fail">${finding.rule} failed</span><b>${finding.title}</b><small>${finding.severity}, ${formatNumber(finding.observations)} observations</small>`
  const body = html`<dl>${detail.expected !== undefined && html`<dt>expected</dt><dd>${detail.expected}</dd>`}${
    detail.observed !== undefined && html`<dt>observed</dt><dd>${detail.observed}</dd>`
  }${detail.note !== undefined && html`<dt>note</dt><dd>${detail.note}</dd>`}${
    rows.length > 0 && reproduction
  }</dl>
${witnesses}`
  // Browsers open a fold if a link leads to an id inside it.
  return folded
    ? html`<details class="card finding"><summary>${head}</summary><div id="${finding.rule}">${body}</div></details>`
    : html`<article class="card finding" id="${finding.rule}"><header>${head}</header>${body}</article>`
}

/** A longer command fills the page. */
const longestCommand = 1_500

/** The words of the audit that found a rule broken, without `assay`. */
export type AuditOf = (finding: StoredFinding) => readonly string[]

/** The audit of a store: of the runs of the witnesses, by the same contract. A page never contains a key. */
export const auditOfStore =
  (session: Session, contractFile: string | undefined): AuditOf =>
  (finding) => [
    'audit',
    ...new Set(witnessesOf(finding).map(({ runId }) => runId)),
    ...['--db', session.path === ':memory:' ? 'assay.duckdb' : basename(session.path)],
    ...(contractFile === undefined ? [] : ['--contract', contractFile]),
  ]

/** The request that was wrong, as a command; of a long one, the command that prints it for a shell. */
function reproduceText(
  finding: StoredFinding,
  command: string | undefined,
  audit: AuditOf,
): Html | false {
  if (command === undefined) return false
  const words = ['assay', ...audit(finding), '--again', finding.rule].map(shellWord)
  const again = html`${words.map((word) => html`<span class="${wrapOf(word)}">${word}</span> `)}| sh`
  return html`<dt>reproduce</dt><dd><code>${command.length <= longestCommand ? command : again}</code></dd>`
}

const mostWitnesses = 25
/** Witnesses that are shown at once; the others are folded. */
const fewWitnesses = 3

/** The witnesses as their service finds them, with what each shows. Columns that none of them has are left out. */
function witnessRows(finding: StoredFinding): readonly Row[] {
  const rows = witnessesOf(finding).slice(0, mostWitnesses).map(witnessRow)
  const empty = Object.keys(rows[0] ?? {}).filter((name) => rows.every((row) => row[name] === null))
  return rows.map((row, at) => ({
    ...Object.fromEntries(Object.entries(row).filter(([name]) => !empty.includes(name))),
    folded: at >= fewWitnesses,
  }))
}

function witnessRow(witness: Witness): Row {
  const { service, shows } = witness
  const ids = service?.ids ?? []
  const amounts = service === undefined ? null : amountsOf(service)
  // The amounts and the formula have columns of their own.
  const isInColumns = service?.formula != null && shows.endsWith(service.formula)
  return {
    UTC: service?.at?.replace('T', ' ').replace(/(\.000)?Z$/, '') ?? null,
    'log line': service?.line === undefined ? null : String(service.line),
    'request ids':
      ids.length > 0 ? ids.join(', ') : service?.line === undefined ? ownPlaceOf(witness) : null,
    model: service?.model ?? null,
    shows: isInColumns ? null : shows,
    answered: amounts?.answered ?? null,
    logged: amounts?.logged ?? null,
    expected: amounts?.expected ?? null,
    difference: amounts?.difference ?? null,
    formula: service?.formula ?? null,
    // The formula says them, too.
    tokens: service?.formula == null ? (service?.usage ?? null) : null,
    endpoint: service?.endpoint ?? null,
    status: service?.status == null ? null : String(service.status),
    asked: service?.asked ?? null,
  }
}

const isOfSold = ({ rule }: StoredFinding) => rule.startsWith('SOLD-')

/** Each question of what is sold, in order, with what was measured: also where it passed, or where nothing is promised. */
function renderSold(findings: readonly StoredFinding[]): Html | false {
  const sold = findings.filter(isOfSold).toSorted((a, b) => (a.rule < b.rule ? -1 : 1))
  const isDecided = ({ verdict }: StoredFinding) => tones[verdict] !== 'none'
  return (
    sold.some(isDecided) &&
    html`<section class="card finding"><h3>What is sold</h3>${ruleTable(sold, 'what is sold')}</section>`
  )
}

/** Undecided rules are shown; the others are folded, because failures have their evidence above. */
function renderSheet(findings: readonly StoredFinding[]): Html {
  const folds = [
    ['fail', 'failed, as shown above'],
    ['pass', 'passed'],
    ['not-observed', 'not observed'],
    ['not-promised', 'not promised'],
  ] as const
  const isFolded = (verdict: string) => folds.some(([folded]) => folded === verdict)
  const open = findings.filter(({ verdict }) => !isFolded(verdict))
  return html`<section class="card finding"><h3>Every rule</h3>${open.length > 0 && ruleTable(open, 'could not be decided')}${folds.map(
    ([verdict, words]) => {
      const rules = findings.filter((finding) => finding.verdict === verdict)
      return (
        rules.length > 0 &&
        html`<details><summary>${rules.length} ${words}</summary>${ruleTable(rules, words)}</details>`
      )
    },
  )}</section>`
}

function ruleTable(findings: readonly StoredFinding[], words: string): Html {
  return html`<div class="table-scroll" tabindex="0" role="region" aria-label="Rules: ${words}"><table><thead><tr><th scope="col">rule</th><th scope="col">promise</th><th scope="col" class="num">observations</th></tr></thead><tbody>${findings.map(
    (finding) =>
      html`<tr><th scope="row"><span class="${wrapOf(finding.rule)}">${finding.rule}</span> <span class="pill ${tones[finding.verdict] ?? 'none'}">${finding.verdict}</span></th><td class="long">${finding.title}${reasonOf(finding)}</td><td class="num">${formatNumber(finding.observations)}</td></tr>`,
  )}</tbody></table></div>`
}

/** Keeps ids and options on one line, unless they are too long. */
const wrapOf = (word: string) => (word.length <= 24 ? 'nowrap' : '')

const unpromisedIn = ({ promises, note }: Detail) =>
  promises === undefined
    ? undefined
    : [promises.join(', '), ...(note === undefined ? [] : [`measured: ${note}`])].join('; ')

function reasonOf({ detail, verdict }: StoredFinding): Html | false {
  const reason =
    verdict === 'fail'
      ? detail.observed
      : (detail.why ?? detail.requires ?? unpromisedIn(detail) ?? detail.note)
  return reason !== undefined && html`<br><small>${reason}</small>`
}
