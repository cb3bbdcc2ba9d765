import type { LogTerms } from '../../../contract/prices.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { outputOf, promptOf } from '../../../tokens/usage.ts'
import type { LogRow } from './log.ts'

export interface Join {
  readonly pairs: readonly { readonly request: PricedRequest; readonly rows: readonly LogRow[] }[]
  /** Requests without a row. */
  readonly missing: readonly PricedRequest[]
  /** Rows without a request, of those who pay for the audited requests. */
  readonly strays: readonly LogRow[]
  /** `id`, `header x-request-id`, or `content`: model, tokens and time. */
  readonly by: string
}

/** Joins requests with the rows of the service's own log, by the best key that both have. */
export function joinLog(
  requests: readonly PricedRequest[],
  log: readonly LogRow[],
  terms: LogTerms | null,
): Join {
  const keyOf = (request: PricedRequest) => {
    const join = terms?.join ?? 'response.id'
    return join === 'response.id' ? request.responseId : (request.header(join.header) ?? null)
  }
  const byId = Map.groupBy(
    log.filter(({ id }) => id !== null),
    ({ id }) => id!,
  )
  const joined = new Map(
    requests.flatMap((request) => {
      const rows = byId.get(keyOf(request) ?? '')
      return rows === undefined ? [] : [[request, rows] as const]
    }),
  )
  const by = joined.size > 0 ? byName(terms) : 'content'
  const matches = new Map(joined.size > 0 ? joined : byContent(requests, log))
  // A client that left before the head of the answer knows no id.
  const nameless = requests.filter((request) => !matches.has(request) && keyOf(request) === null)
  const joinedRows = new Set([...matches.values()].flat())
  const free = log.filter((row) => !joinedRows.has(row))
  if (joined.size > 0)
    for (const [request, rows] of byContent(nameless, free)) matches.set(request, rows)
  // A cached answer repeats the id of the first one: the rows are for both.
  const used = new Set([...matches.values()].flat())
  const payers = new Set([...used].map(({ payer }) => payer))
  return {
    pairs: [...matches].map(([request, rows]) => ({ request, rows })),
    missing: requests.filter((request) => !matches.has(request)),
    strays: log.filter(
      (row) =>
        !used.has(row) &&
        payers.has(row.payer) &&
        // Of several such requests, nobody knows whose row it is.
        !nameless.some((request) => !matches.has(request) && isAlike(request, row)),
    ),
    by,
  }
}

const byName = (terms: LogTerms | null) =>
  terms === null || terms.join === 'response.id' ? 'id' : `header ${terms.join.header}`

const secondMs = 1_000

/** Model, tokens and time within a second: a match only if it is unique in both directions. */
function byContent(
  requests: readonly PricedRequest[],
  log: readonly LogRow[],
): ReadonlyMap<PricedRequest, readonly LogRow[]> {
  const candidates = requests.map((request) => ({
    request,
    rows: log.filter((row) => isAlike(request, row)),
  }))
  const claims = new Map<LogRow, number>()
  for (const { rows } of candidates)
    for (const row of rows) claims.set(row, (claims.get(row) ?? 0) + 1)
  return new Map(
    candidates.flatMap(({ request, rows }) =>
      rows.length === 1 && claims.get(rows[0]!) === 1 ? [[request, rows] as const] : [],
    ),
  )
}

function isAlike(request: PricedRequest, { models, atMs, tokens }: LogRow): boolean {
  if (atMs === null || atMs < request.startMs - secondMs || atMs > request.endMs + secondMs)
    return false
  const { requestedModel, returnedModel } = request
  const isOurs = (name: string) => name === requestedModel || name === returnedModel
  if (models.length > 0 && !models.some(isOurs)) return false
  if (request.usage === null) return true
  const [prompt, output] = [promptOf(request.usage.parts), outputOf(request.usage.parts)]
  return (
    (tokens.prompt === null || prompt === null || tokens.prompt === prompt) &&
    (tokens.completion === null || output === null || tokens.completion === output)
  )
}
