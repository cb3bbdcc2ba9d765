import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Contract } from '../../contract/contract.ts'
import { modelPriceOf } from '../../contract/model-price.ts'
import type { PriceTerms } from '../../contract/prices.ts'
import { judgeAmount } from '../../price/judge/judge.ts'
import { otherCurrencies, type PriceJudge } from '../../price/judge/price-judge.ts'
import type { StatedCost } from '../../price/judge/request.ts'
import { ShownUnits, type UnitOf } from '../../price/judge/tolerance.ts'
import { beginningOf } from '../../store/import/csv-header.ts'
import { isJson } from '../../store/import/recognised-log.ts'
import { decodedFile } from '../../store/import/whole/decoded-file.ts'
import { wholeText } from '../../store/import/whole/whole-text.ts'
import { usageFlags } from '../../tokens/usage.ts'
import { csvDelimiter } from '../../user/csv.ts'
import { dayMs } from '../../user/durations.ts'
import { counted, grouped } from '../../user/grouped.ts'
import { lookup } from '../../user/lookup.ts'
import { onceForEach } from '../../user/once.ts'
import { UserError } from '../../user/user-error.ts'
import { beginPart, type Work } from '../../user/work.ts'
import type { AuditReport } from '../audit.ts'
import { priceRules } from '../rules/prices/list.ts'
import {
  type Finding,
  fail,
  inconclusive,
  notesOf,
  notObserved,
  pass,
  untested,
  type Verdict,
  type Witness,
} from '../verdict.ts'
import { chargesOfId } from './charges-of-id.ts'
import { FreeRows, isFree } from './free-rows.ts'
import { type LoggedRequest, logLines } from './log-lines.ts'
import { witnessOf } from './log-witness.ts'
import { keptOfEach, LoggedCosts } from './logged-costs.ts'
import { Repeats } from './repeats.ts'
import { RowIds } from './row-ids.ts'
import { SharedIds, unheldText } from './shared-ids.ts'

export interface LogAudit extends Work {
  /** The log: JSON Lines, a JSON list, or CSV; also compressed. */
  readonly file: string
  readonly contract: Contract
  readonly choices?: Readonly<Record<string, string>>
  readonly nowMs: number
}

/**
 * Judges a log by itself: what it charges by its own counts, rows that repeat, and what contradicts itself. No run, and no
 * store. Rules that need answers are not observed. Memory does not grow with the log, but for eight bytes for each id.
 *
 * @throws UserError for a contract without prices, a file that is cut, and one without a cost in any row
 */
export async function auditLog(options: LogAudit): Promise<AuditReport> {
  const { contract, file } = options
  const { prices } = contract
  if (prices === undefined)
    throw new UserError(
      'usage',
      `The contract ${contract.name} has no prices: expected prices of models, by which a log is judged (docs/prices.md).`,
    )
  const scratch = mkdtempSync(join(tmpdir(), 'assay-log-'))
  try {
    const copy = join(scratch, 'text')
    const plain = await decodedFile(file, copy, options.signal)
    const delimiter = isJson(plain.path) ? null : csvDelimiter(beginningOf(plain.path))
    const { path } = await wholeText({ file, plain, copy, delimiter, partial: false })
    const { findings, seen } = judgeLog({ ...options, path }, prices)
    const { rows, firstMs, lastMs } = seen
    const dateOf = (ms: number) => (Number.isFinite(ms) ? new Date(ms) : null)
    return {
      auditId: randomUUID(),
      auditedAt: new Date(options.nowMs),
      contract: contract.name,
      runs: [],
      log: { file: basename(file), rows, first: dateOf(firstMs), last: dateOf(lastMs) },
      findings,
    }
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

type ReadLog = LogAudit & { readonly path: string }

function judgeLog(
  log: ReadLog,
  prices: PriceTerms,
): { readonly findings: readonly Finding[]; readonly seen: Look } {
  const { contract, path } = log
  const terms = prices.evidence.log
  const priceOf = onceForEach((name: string) => modelPriceOf(contract, name))
  const lines = () => logLines({ path, terms, priceOf, money: prices })
  beginPart(log, `reading ${log.file}`, 0, 2)
  const seen = firstLook(lines(), log, prices)
  if (seen.rows > 0 && seen.costs === 0 && !seen.hasUnreadable)
    throw new UserError(
      'import',
      `--log: ${log.file} has no cost in any row. Name the place in the contract: evidence: { log: { cost: … } }.`,
    )
  beginPart(log, 'judging costs', 1, 2)
  const judge: PriceJudge = {
    currency: prices.currency,
    priceOf,
    choices: log.choices ?? {},
    clockErrorMs: 2_000,
    twinOf: () => null,
    others: otherCurrencies(prices),
    models: prices.models,
  }
  const judged = (line: LoggedRequest, statement: StatedCost) =>
    judgeAmount({ request: line.request, statement }, seen.unitOf(statement), judge)
  const { free } = seen
  if (!free.isEmpty) {
    for (const line of lines())
      free.compare(line, (each) => judged(each, each.statement!).is === 'wrong')
  }
  const { areCached } = free
  const costs = new LoggedCosts(prices)
  const judgeLine = (line: LoggedRequest) => {
    if (line.unreadable !== null) costs.addUnreadable(line, line.unreadable)
    if (line.statement === null) return
    const by = judged(line, line.statement)
    const isCached = by.is === 'wrong' && areCached && isFree(line)
    costs.add(
      line,
      isCached ? { ...by, is: 'open', request: { ...by.request, isFreeRepeat: true } } : by,
    )
  }
  const repeats = new Repeats()
  const judgeId = (rows: readonly LoggedRequest[]) => {
    repeats.compare(rows)
    for (const charge of chargesOfId(rows)) judgeLine(charge)
  }
  const shared = new SharedIds((id) => seen.ids.rowsOf(id))
  for (const line of lines()) {
    log.signal?.throwIfAborted()
    const { id } = line
    if (id === null || seen.ids.rowsOf(id) === 1) {
      judgeLine(line)
      continue
    }
    const rows = shared.add(id, line)
    if (rows !== null) judgeId(rows)
  }
  for (const rows of shared.rest()) judgeId(rows)
  if (shared.unheld > 0) {
    for (const line of lines()) {
      log.signal?.throwIfAborted()
      const as = line.id === null ? null : shared.unheldAs(line.id)
      if (as === 'itself') judgeLine(line)
      else if (as !== null) costs.addPart(line, as)
    }
  }
  const verdicts: Readonly<Record<string, Verdict>> = lookup({
    'PRICE-01': usageVerdict(seen),
    'PRICE-04': costs.verdict(judge),
    'PRICE-05': rowsVerdict(seen, repeats, shared, costs),
    'PRICE-08': costs.sums(),
  })
  const unseen = notObserved(
    'requests that Assay sent (assay run): a log alone has no answers and no balances',
  )
  const findings = priceRules.map(({ id, severity = 'must', title }) => ({
    ...{ rule: id, severity, title },
    verdict: verdicts[id] ?? unseen,
  }))
  return { findings, seen }
}

interface Look {
  readonly rows: number
  /** Times of the first and last row; infinite if no row has one. */
  readonly firstMs: number
  readonly lastMs: number
  readonly costs: number
  /** Whether a row has a cost that nobody can read. */
  readonly hasUnreadable: boolean
  readonly counted: number
  readonly unitOf: UnitOf
  readonly ids: RowIds
  readonly free: FreeRows
  readonly flagged: Marked
  /** Rows with a count that nobody can read. */
  readonly unreadCounts: number
  readonly misdated: Marked
}

/** Rows with something wrong: all are counted, the first are kept. */
class Marked {
  count = 0
  readonly kept: { readonly line: LoggedRequest; readonly summary: string }[] = []

  add(line: LoggedRequest, summary: string): void {
    if (this.count++ < keptOfEach) this.kept.push({ line, summary })
  }

  witnesses(most: number): Witness[] {
    return this.kept.slice(0, most).map(({ line, summary }) => witnessOf(line, null, '', summary))
  }
}

const earliestMs = Date.UTC(2000, 0, 1)

/** What takes a look at all rows before the first is judged: the digits of costs, ids that repeat, times and counts. */
function firstLook(lines: Iterable<LoggedRequest>, log: ReadLog, { currency }: PriceTerms): Look {
  let [rows, costs, counted, unreadCounts] = [0, 0, 0, 0]
  let [firstMs, lastMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  let hasUnreadable = false
  const ids = new RowIds()
  const free = new FreeRows()
  const place = new ShownUnits(currency)
  const [flagged, misdated] = [new Marked(), new Marked()]
  for (const line of lines) {
    log.signal?.throwIfAborted()
    rows++
    if (line.id !== null) ids.add(line.id)
    free.note(line)
    const { statement, request } = line
    hasUnreadable ||= line.unreadable !== null
    if (statement !== null) {
      costs++
      place.add(statement)
    }
    if (request.usage !== null) {
      counted++
      const flag = request.usage.flags.find((each) => each !== 'unreadable-count')
      if (flag !== undefined) flagged.add(line, usageFlags[flag])
      else if (request.usage.flags.length > 0) unreadCounts++
    }
    const summary = misdate(line, log.nowMs)
    if (summary !== null) misdated.add(line, summary)
    else if (line.atMs !== null) {
      firstMs = Math.min(firstMs, line.atMs)
      lastMs = Math.max(lastMs, line.atMs)
    }
  }
  const totals = { rows, firstMs, lastMs, costs, hasUnreadable, counted, unreadCounts }
  return { ...totals, unitOf: place.unitOf, ids, free, flagged, misdated }
}

function misdate({ atMs, endMs }: LoggedRequest, nowMs: number): string | null {
  if (atMs === null) return null
  if (atMs > nowMs + dayMs) return 'its time is ahead of this clock'
  if (atMs < earliestMs) return 'its time is before 2000'
  // An end in whole seconds may be cut.
  const startMs = endMs !== null && endMs % 1000 === 0 ? Math.floor(atMs / 1000) * 1000 : atMs
  return endMs !== null && endMs < startMs ? 'it ends before it starts' : null
}

function usageVerdict({ counted, flagged, unreadCounts }: Look): Verdict {
  if (counted === 0) return notObserved('rows with tokens')
  const [first] = flagged.kept
  if (first === undefined && unreadCounts > 0)
    return inconclusive(
      counted,
      `${grouped(unreadCounts)} of ${grouped(counted)} rows have a count that nobody can read, such as 1,234`,
    )
  if (first === undefined) return pass(counted)
  return fail(counted, {
    expected: 'counts that agree',
    observed: `${first.summary}; ${grouped(flagged.count)} of ${grouped(counted)} rows`,
    witnesses: flagged.witnesses(5),
  })
}

function rowsVerdict(
  { rows, misdated, ids, firstMs }: Look,
  repeats: Repeats,
  { unheld, unheldWhy }: SharedIds,
  costs: LoggedCosts,
): Verdict {
  if (rows === 0) return notObserved('rows of a log')
  const dates =
    misdated.count === 0 ? [] : [`${misdated.kept[0]!.summary} (${grouped(misdated.count)})`]
  const observed = [...(repeats.found === null ? [] : [repeats.found]), ...dates]
  if (observed.length > 0)
    return fail(rows, {
      expected: 'one row for each request, with its time',
      observed: observed.join('; '),
      witnesses: [...repeats.witnesses(), ...misdated.witnesses(3)],
    })
  if (unheld > 0)
    return inconclusive(
      rows,
      `the log has ${unheldText(unheldWhy)}, so ${counted(unheld, 'id')} ${unheld === 1 ? 'is' : 'are'} not compared`,
    )
  const parts = ['rows with one id', 'times']
  const tested = [
    ...(ids.isEmpty ? [] : parts.slice(0, 1)),
    ...(Number.isFinite(firstMs) ? parts.slice(1) : []),
  ]
  if (tested.length === 0) return notObserved('rows with an id or a time')
  const needed = `rows that are missing, and tokens that differ from an answer, need the answers; ${grouped(costs.all)} rows have a cost`
  return pass(rows, notesOf(needed, repeats.note, untested(parts, tested)))
}
