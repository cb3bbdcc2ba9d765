import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Contract } from '../../contract/contract.ts'
import { modelPriceOf } from '../../contract/model-price.ts'
import { minorDigits } from '../../money/money.ts'
import { powerOfTen, readNumber } from '../../money/rational.ts'
import { beginningOf } from '../../store/import/csv-header.ts'
import { readKnown } from '../../store/import/known-logs.ts'
import { readLines } from '../../store/import/lines/read-lines.ts'
import type { Mapping } from '../../store/import/mapping.ts'
import { isJson, knownFormat } from '../../store/import/recognised-log.ts'
import { decodedFile } from '../../store/import/whole/decoded-file.ts'
import { wholeText } from '../../store/import/whole/whole-text.ts'
import { eachKind, kindCounts, mappedName } from '../../tokens/kinds.ts'
import type { Usage } from '../../tokens/usage.ts'
import { csvDelimiter } from '../../user/csv.ts'
import { lookup } from '../../user/lookup.ts'
import { onceForEach } from '../../user/once.ts'
import { UserError } from '../../user/user-error.ts'
import { amountOf } from '../evidence/prices/answer-json.ts'
import { timeOf } from '../evidence/prices/log.ts'
import { type LoggedRequest, logLines } from '../log-alone/log-lines.ts'
import type { BillLine, LogLine, Reconciliation } from './lines.ts'
import { Parts } from './parts.ts'
import { pricingOf } from './pricing.ts'
import { reconcileParts } from './reconcile.ts'
import {
  notesOfStored,
  type StoreSource,
  storedBill,
  storedLines,
  storedLog,
} from './store-lines.ts'

export interface ReconcileFiles {
  /** A file, or what was imported. */
  readonly bill: string | StoreSource
  readonly log: string | StoreSource
  readonly contract: Contract
  /** For a bill that is not known without one. */
  readonly billMap?: Mapping
}

export interface ReconciledFiles extends Reconciliation {
  readonly unit: string
  /** Lines of the bill that state no amount: they are in no sum. */
  readonly withoutAmount: number
  /** What a reader must know of the bill: lines of other services, lines without a model. */
  readonly billNotes: readonly string[]
}

/**
 * Reads a bill, the own log and the contract, and lays them side by side. Files need no store.
 *
 * @throws UserError for a file that is missing, cut, or is no bill; for amounts in another currency than the contract's
 */
export async function reconcileFiles(files: ReconcileFiles): Promise<ReconciledFiles> {
  const { contract, bill } = files
  const { prices } = contract
  if (prices === undefined) {
    throw new UserError(
      'usage',
      `The contract ${contract.name} has no prices: expected prices of models (docs/prices.md).`,
    )
  }
  const scratch = mkdtempSync(join(tmpdir(), 'assay-reconcile-'))
  try {
    const unit = prices.currency.name
    const billNotes: string[] = []
    const billed = await openBill(files, scratch, billNotes)
    const logged = await openLog(files, scratch)
    const parts = new Parts(scratch, partsOf(billed.bytes + logged.bytes))
    const others = new Set<string>()
    let [decimals, stated, withoutAmount] = [0, 0, 0]
    const nameOf = (model: string) => modelPriceOf(contract, model)?.id ?? model
    for await (const rows of billed.pages) {
      for (const row of rows) {
        if (row === 'no amount') {
          withoutAmount++
          continue
        }
        stated++
        if (row.unit !== null && row.unit !== unit) others.add(row.unit)
        // Tax and credits may be stated more finely than use is rounded.
        if (row.line.type === 'usage') decimals = Math.max(decimals, row.decimals)
        parts.add('bill', { ...row.line, model: nameOf(row.line.model) })
      }
    }
    if (others.size > 0) {
      throw new UserError(
        'usage',
        `${billed.name} is in ${[...others].join(', ')}, and the contract ${contract.name} in ${unit}: amounts of two currencies are never compared. Give a contract in the currency of the bill.`,
      )
    }
    if (stated === 0) {
      throw new UserError(
        'usage',
        `${billed.name} has no amount in any of its ${withoutAmount} lines: what it charges is unknown, not 0. Expected a bill with a column of amounts; --bill-map names one as credits.${billNotes.map((note) => ` ${note}`).join('')}`,
      )
    }
    // The store keeps no zeros at the end of an amount.
    const shown = typeof bill === 'string' ? decimals : Math.max(decimals, minorDigits(unit))
    const pricing = pricingOf(contract, powerOfTen(-Math.min(shown, prices.currency.digits)))
    for await (const lines of logged.pages(pricing)) {
      for (const line of lines) parts.add('log', { ...line, model: pricing.nameOf(line.model) })
    }
    return { ...reconcileParts(parts, pricing), unit, withoutAmount, billNotes }
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

/** A side of a reconciliation, some lines at a time. */
interface Side<Pages> {
  readonly name: string
  readonly bytes: number
  readonly pages: Pages
}

type Pricing = ReturnType<typeof pricingOf>

async function openBill(
  { bill, billMap, contract }: ReconcileFiles,
  scratch: string,
  notes: string[],
): Promise<Side<AsyncIterable<Iterable<BillRow | 'no amount'>>>> {
  if (typeof bill !== 'string') {
    for (const note of await notesOfStored(bill)) notes.push(note)
    const bytes = (await storedLines(bill)) * bytesOfLine
    return { name: `the source ${bill.source}`, bytes, pages: storedBill(bill) }
  }
  const path = await readable(bill, scratch, 'bill', billMap)
  const rows = billRows(bill, path, billMap, contract, notes)
  return { name: bill, bytes: statSync(path).size, pages: onePage(rows) }
}

async function openLog(
  { log, contract }: ReconcileFiles,
  scratch: string,
): Promise<Side<(pricing: Pricing) => AsyncIterable<Iterable<LogLine>>>> {
  const { currency, evidence } = contract.prices!
  if (typeof log !== 'string') {
    const bytes = (await storedLines(log)) * bytesOfLine
    const pages = ({ costOfUse }: Pricing) => storedLog(log, currency.name, costOfUse)
    return { name: `the source ${log.source}`, bytes, pages }
  }
  const path = await readable(log, scratch, 'log')
  const rows = () =>
    logLines({ path, terms: evidence.log, priceOf: pricesOf(contract), money: contract.prices! })
  return {
    name: log,
    bytes: statSync(path).size,
    pages: (pricing) => onePage(logOf(rows(), pricing)),
  }
}

const pricesOf = (contract: Contract) => onceForEach((name: string) => modelPriceOf(contract, name))

async function* onePage<T>(rows: Iterable<T>): AsyncGenerator<Iterable<T>> {
  yield rows
}

/** A line of the store, as text. */
const bytesOfLine = 300

/** Bytes of text for each part: its lines take about ten times that in memory. */
const bytesOfPart = 32 << 20

const partsOf = (bytes: number) => Math.max(1, Math.ceil(bytes / bytesOfPart))

async function readable(
  file: string,
  scratch: string,
  name: string,
  map?: Mapping,
): Promise<string> {
  if (!existsSync(file)) throw new UserError('usage', `--${name} ${file}: no such file`)
  const copy = join(scratch, name)
  const plain = await decodedFile(file, copy)
  const delimiter = isJson(plain.path)
    ? null
    : (map?.delimiter ?? csvDelimiter(beginningOf(plain.path)))
  return (await wholeText({ file, plain, copy, delimiter, partial: false })).path
}

interface BillRow {
  readonly line: BillLine
  readonly unit: string | null
  readonly decimals: number
}

function* billRows(
  file: string,
  path: string,
  map: Mapping | undefined,
  contract: Contract,
  notes: string[],
): Generator<BillRow | 'no amount'> {
  const format = knownFormat(path)
  if (map === undefined && format === null) {
    const money = contract.prices!
    const terms = money.evidence.log
    for (const row of logLines({ path, terms, priceOf: pricesOf(contract), money })) {
      if (row.statement === null || row.atMs === null) {
        yield 'no amount'
        continue
      }
      const { request, statement } = row
      const line = {
        ...lineOf(row),
        type: 'usage',
        amount: statement.value,
        requests: 1,
        counts: countsOf(request.usage),
      }
      yield { line, unit: null, decimals: statement.decimals }
    }
    return
  }
  const isBill = format?.amountColumns !== undefined
  const read =
    map === undefined
      ? readKnown(format!, [{ file, path }], { partial: false })
      : readLines({
          path,
          delimiter: isJson(path) ? null : (map.delimiter ?? csvDelimiter(beginningOf(path))),
          mapping: map,
        })
  const names = map === undefined ? knownNames : mappedNames
  for (const row of read.lines) {
    if (typeof row === 'string')
      throw new UserError('import', `${file}: a line cannot be read: ${row.slice(0, 60)}`)
    const of = (name: keyof typeof knownNames) =>
      (row as Readonly<Record<string, unknown>>)[names[name]]
    const amount = amountOf(text(of('cost')) ?? undefined)
    if (amount === null) {
      yield 'no amount'
      continue
    }
    const atMs = timeOf(text(of('time')) ?? undefined)
    if (atMs === null)
      throw new UserError(
        'import',
        `${file}: expected a time in each line, got ${String(of('time'))}`,
      )
    const counts = eachKind((name) => numberOf(of(name)))
    const hasCounts = Object.values(counts).some((count) => count !== null)
    yield {
      line: {
        id: isBill && map === undefined ? null : text(of('id')),
        day: new Date(atMs).toISOString().slice(0, 10),
        model: text(of('model')) ?? '',
        account: text(of('account')),
        type: text(of('type')) ?? 'usage',
        amount: amount.value,
        requests: isBill ? null : (numberOf(of('requests')) ?? 1),
        counts: hasCounts ? counts : null,
      },
      unit: text(of('unit')),
      decimals: amount.decimals,
    }
  }
  // The notes of a known bill are whole when its lines are read.
  if ('notes' in read) for (const note of read.notes) notes.push(`The bill: ${note}`)
}

const knownNames = {
  cost: 'cost',
  time: 'time',
  model: 'model',
  account: 'account',
  type: 'type',
  id: 'id',
  unit: 'unit',
  requests: 'requests',
  ...eachKind((name) => name),
} as const
const mappedNames: Readonly<Record<keyof typeof knownNames, string>> = {
  ...knownNames,
  cost: 'credits',
  ...eachKind(mappedName),
}

const text = (value: unknown) =>
  value === null || value === undefined || value === '' ? null : String(value)
function numberOf(value: unknown): number | null {
  const read = text(value) === null ? null : readNumber(String(value))
  return read === null ? null : Number(read.numerator) / Number(read.denominator)
}

const lineOf = ({ id, atMs, payer, request }: LoggedRequest) => ({
  id,
  day: new Date(atMs ?? 0).toISOString().slice(0, 10),
  model: request.requestedModel,
  account: payer,
})

const countsOf = (usage: Usage | null) => (usage === null ? null : kindCounts(usage.parts))

const outcomes: Readonly<Record<string, string>> = lookup({
  refused: 'http_error',
  abort: 'aborted',
  broken: 'broken',
})

function* logOf(lines: Iterable<LoggedRequest>, pricing: Pricing): Generator<LogLine> {
  for (const row of lines) {
    if (row.atMs === null) continue
    const { request, statement } = row
    const counts = countsOf(request.usage)
    const outcome = outcomes[request.outcomes[0] ?? ''] ?? 'ok'
    const use = { model: request.requestedModel, atUs: row.atMs * 1000, endUs: null, outcome }
    yield {
      ...lineOf(row),
      counts,
      logged: statement?.value ?? null,
      expected: pricing.costOfUse({ ...use, requests: 1, counts }),
    }
  }
}
