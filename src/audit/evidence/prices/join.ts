import { isSameName } from '../../../contract/contract.ts'
import type { LogTerms } from '../../../contract/prices.ts'
import { isSuccess, type PricedRequest } from '../../../price/judge/request.ts'
import { outputOf, promptOf } from '../../../tokens/usage.ts'
import { AlikeIndex } from './alike-index.ts'
import type { LogRow } from './log.ts'
import { amountOf, givesBack } from './refunds.ts'

export interface Join {
  readonly pairs: readonly { readonly request: PricedRequest; readonly rows: readonly LogRow[] }[]
  readonly missing: readonly PricedRequest[]
  /** Rows without a request, of the accounts that pay for the audited requests. */
  readonly strays: readonly LogRow[]
  /** `id`, `header x-request-id`, or `content`: model, tokens and time; `id, and 3 by content` for several ways. */
  readonly by: string
}

type Pairs = Map<PricedRequest, readonly LogRow[]>
/** Adds pairs of requests and rows that have none. */
type Way = (pairs: Pairs, requests: readonly PricedRequest[], log: readonly LogRow[]) => void

/**
 * Joins each request with its rows in the service's own log, by the best key that both have:
 *
 *     shared              requests and rows with the same id
 *     addByContent        one request and one row that alone have this model, these tokens and this second
 *     addInterchangeable  several that have all of these in common
 *     addInOrder          requests one after the other, without tokens: by their order
 *     addOfSameId         the other rows of an id that was found by content
 *     addRefunds          rows with an id of their own that give back what a request was charged
 *
 * @param isById whether the log was read by the ids of answers: a request whose answer has none is not missing in it
 */
export function joinLog(
  requests: readonly PricedRequest[],
  log: readonly LogRow[],
  terms: LogTerms | null,
  isById = false,
): Join {
  const keyOf = (request: PricedRequest) => {
    const join = terms?.join ?? 'response.id'
    return join === 'response.id' ? request.responseId : (request.header(join.header) ?? null)
  }
  const byId = Map.groupBy(
    log.filter(({ id }) => id !== null),
    ({ id }) => id!,
  )
  const pairs: Pairs = new Map(
    [...Map.groupBy(requests, keyOf)].flatMap(([key, all]) =>
      shared(all, byId.get(key ?? '') ?? []),
    ),
  )
  const pairsById = pairs.size
  for (const add of [addByContent, addInterchangeable, addInOrder]) add(pairs, requests, log)
  addOfSameId(pairs, byId)
  addRefunds(pairs, log)
  const used = usedIn(pairs)
  const unusedRows = log.filter((row) => !used.has(row))
  const payers = new Set([...used].map(({ payer }) => payer))
  const unmatched = requests.filter((request) => !pairs.has(request))
  // A client that left before the head of the answer knows no id; nor does one of an endpoint whose answers have none.
  const nameless = unmatched.filter((request) => keyOf(request) === null)
  const rowIndex = AlikeIndex.ofRows(unusedRows)
  const namelessIndex = AlikeIndex.ofRequests(nameless)
  const isUntimed = unusedRows.some(({ atMs }) => atMs === null)
  return {
    pairs: [...pairs].map(([request, rows]) => ({ request, rows })),
    missing: unmatched.filter(
      (request) =>
        keyOf(request) !== null ||
        (!isById &&
          !isUntimed &&
          rowIndex.alike(request, (row) => isAlike(request, row), 1).length === 0),
    ),
    strays: unusedRows.filter(
      (row) =>
        payers.has(row.payer) &&
        // Of several such requests, nobody knows whose row it is.
        namelessIndex.alike(row, (request) => isAlike(request, row), 1).length === 0,
    ),
    by: waysOf(pairsById, pairs.size - pairsById, terms),
  }
}

/**
 * The rows of requests with one id, such as an answer that a service gives again: one with tokens for each, in their order,
 * or all for the first, since what was given again may have none.
 */
function shared(
  requests: readonly PricedRequest[],
  rows: readonly LogRow[],
): readonly (readonly [PricedRequest, readonly LogRow[]])[] {
  if (rows.length === 0) return []
  const inOrder = rows.toSorted((a, b) => (a.atMs ?? 0) - (b.atMs ?? 0))
  const inTurn = requests.toSorted((a, b) => a.startMs - b.startMs)
  const [first, ...later] = inTurn
  const counted = inOrder.filter(
    ({ tokens }) => (tokens.prompt ?? 0) + (tokens.completion ?? 0) > 0,
  )
  // An answer that was cut and came whole later has the row of the whole.
  const whole = inTurn.find(({ outcomes }) => outcomes[0] !== 'abort' && outcomes[0] !== 'broken')
  if (counted.length !== requests.length) return [[whole ?? first!, rows]]
  const others = inOrder.filter((row) => !counted.includes(row))
  return [
    [first!, [counted[0]!, ...others]],
    ...later.map((request, at) => [request, [counted[at + 1]!]] as const),
  ]
}

function waysOf(byId: number, byContent: number, terms: LogTerms | null): string {
  if (byId === 0) return 'content'
  const name = terms === null || terms.join === 'response.id' ? 'id' : `header ${terms.join.header}`
  return byContent === 0 ? name : `${name}, and ${byContent} by content`
}

const usedIn = (pairs: Pairs): ReadonlySet<LogRow> => new Set([...pairs.values()].flat())

/** Model, tokens and time within a second: a match only if it is unique in both directions. */
const addByContent: Way = (pairs, requests, log) => {
  const used = usedIn(pairs)
  const rest = requests.filter((request) => !pairs.has(request))
  const [rows, others] = [
    AlikeIndex.ofRows(log.filter((row) => !used.has(row))),
    AlikeIndex.ofRequests(rest),
  ]
  for (const request of rest) {
    const [row, second] = rows.alike(request, (each) => isAlike(request, each), 2)
    if (row === undefined || second !== undefined) continue
    if (others.alike(row, (each) => isAlike(each, row), 2).length === 1) pairs.set(request, [row])
  }
}

/** Several requests with equal counts, and as many rows with these: which row is whose makes no difference to their costs. */
const addInterchangeable: Way = (pairs, requests, log) => {
  const used = usedIn(pairs)
  const isCounted = ({ tokens }: LogRow) => tokens.prompt !== null && tokens.completion !== null
  const rows = AlikeIndex.ofRows(log.filter((row) => isCounted(row) && !used.has(row)))
  for (const request of requests) {
    if (pairs.has(request) || request.usage === null || promptOf(request.usage.parts) === null)
      continue
    const [row] = rows.alike(request, (each) => isAlike(request, each), 1, true)
    if (row !== undefined) pairs.set(request, [row])
  }
}

/** Requests one after the other without id or counts, such as transcriptions, and as many rows (by id) of their model, in order. */
const addInOrder: Way = (pairs, requests, log) => {
  const used = usedIn(pairs)
  const rest = requests.filter((request) => !pairs.has(request) && request.responseId === null)
  const unused = [
    ...Map.groupBy(
      log.filter((row) => !used.has(row)),
      ({ id, line }) => id ?? line,
    ).values(),
  ].toSorted(([a], [b]) => (a!.atMs ?? 0) - (b!.atMs ?? 0))
  for (const [, all] of Map.groupBy(rest, ({ requestedModel }) => requestedModel)) {
    const inTurn = all.toSorted((a, b) => a.startMs - b.startMs)
    const rows = unused.filter((group) =>
      inTurn.some((request) => group.some((row) => isAlike(request, row))),
    )
    const isOneByOne = inTurn.every(
      (request, at) => at === 0 || inTurn[at - 1]!.endMs <= request.startMs,
    )
    const isOrdered = inTurn.every((request, at) => rows[at]?.some((row) => isAlike(request, row)))
    if (rows.length !== inTurn.length || !isOneByOne || !isOrdered) continue
    for (const [at, request] of inTurn.entries()) pairs.set(request, rows[at]!)
  }
}

/** A request that is joined by content has the other rows of its id, too. */
function addOfSameId(pairs: Pairs, byId: ReadonlyMap<string, readonly LogRow[]>): void {
  const used = new Set(usedIn(pairs))
  for (const [request, rows] of pairs) {
    const [id] = rows.flatMap((row) => row.id ?? [])
    const others = (byId.get(id ?? '') ?? []).filter((row) => !used.has(row))
    if (others.length === 0) continue
    for (const row of others) used.add(row)
    pairs.set(request, [...rows, ...others])
  }
}

/** A refund belongs to a request with its counts and its amount that has none yet: first to one that did not come to its end. */
function addRefunds(pairs: Pairs, log: readonly LogRow[]): void {
  const used = usedIn(pairs)
  const unused = log.filter((row) => !used.has(row) && row.cost !== null)
  const isRefund = ({ cost }: LogRow) => cost!.value.numerator < 0n
  // What another row of no request was charged may be what it gives back.
  const held = Map.groupBy(
    unused.filter((row) => !isRefund(row)),
    ({ cost }) => amountOf(cost),
  )
  const refunds = unused.filter((row) => isRefund(row) && !held.has(amountOf(row.cost)))
  if (refunds.length === 0) return
  const charged = [...pairs.keys()].toSorted((a, b) => Number(isSuccess(a)) - Number(isSuccess(b)))
  const byAmount = Map.groupBy(
    charged.flatMap((request) => pairs.get(request)!.map((row) => ({ request, row }))),
    ({ row }) => amountOf(row.cost),
  )
  const settledOnes = new Set<PricedRequest>()
  for (const refund of refunds) {
    const equal = byAmount.get(amountOf(refund.cost)) ?? []
    const found = equal
      .slice(0, mostCompared)
      .find(({ request, row }) => !settledOnes.has(request) && isRefundOf(refund, row))
    if (found === undefined) continue
    const { request } = found
    pairs.set(request, [...pairs.get(request)!, refund])
    settledOnes.add(request)
  }
}

/** A refund is compared with so many charges of its amount. */
const mostCompared = 10_000

function isRefundOf(refund: LogRow, row: LogRow): boolean {
  const isSame = (name: 'prompt' | 'completion') =>
    !refund.tokens[name] || refund.tokens[name] === row.tokens[name]
  const isLater = refund.atMs === null || row.atMs === null || refund.atMs >= row.atMs
  const isOfModel =
    refund.models.length === 0 || refund.models.some((model) => row.models.includes(model))
  return (
    givesBack(refund.cost, row.cost) &&
    isLater &&
    isOfModel &&
    (['prompt', 'completion'] as const).every(isSame)
  )
}

const secondMs = 1_000

function isAlike(request: PricedRequest, { models, atMs, tokens }: LogRow): boolean {
  if (atMs === null || atMs < request.startMs - secondMs || atMs > request.endMs + secondMs)
    return false
  const { requestedModel, returnedModel } = request
  const isOurs = (logged: string) =>
    isSameName(requestedModel, logged) ||
    (returnedModel !== null && isSameName(returnedModel, logged))
  if (models.length > 0 && !models.some(isOurs)) return false
  if (request.usage === null) return true
  const [prompt, output] = [promptOf(request.usage.parts), outputOf(request.usage.parts)]
  return (
    (tokens.prompt === null || prompt === null || tokens.prompt === prompt) &&
    (tokens.completion === null || output === null || tokens.completion === output)
  )
}
