import { isZero } from '../../../money/rational.ts'
import { isCacheUnread, isSuccess, type PricedRequest } from '../../../price/judge/request.ts'
import { repeatsOf } from '../../evidence/prices/free-repeats.ts'
import type { Join } from '../../evidence/prices/join.ts'
import type { PriceJudgements } from '../../evidence/prices/judgements.ts'
import type { LogRow } from '../../evidence/prices/log.ts'
import { unreadCacheText } from '../../evidence/prices/place-verdict.ts'
import { amountOf } from '../../evidence/prices/refunds.ts'
import { fail, inconclusive, pass, type Verdict, witnessAt } from '../../verdict.ts'
import { datedModelOf, type Issue, issuesOf } from './log-issues.ts'
import { type LogTimes, timesOf, zoneText } from './log-times.ts'
import { strayCharges } from './stray-charges.ts'

const mostWitnesses = 5
/** Kinds of issues that a failure names. */
const mostKinds = 4

type Found = Issue & { readonly request: PricedRequest }

/** Whether the log has one right row for each request, and no other. */
export function rowsVerdict(found: PriceJudgements, join: Join): Verdict {
  const { requests } = found
  const { pairs, missing, strays, by } = join
  if (pairs.length === 0)
    return inconclusive(
      strays.length + requests.length,
      'no row of the log belongs to a request: ids differ, and model, tokens and time match none uniquely',
    )
  const times = timesOf(pairs, found)
  const rowless = chargedOf(missing, found)
  const absent = rowless.filter((request) => !times.isAfterEnd(request))
  const near = strays.filter((row) => times.placeOf(row) !== 'apart')
  const { charges, fees, unreadable } = strayCharges(
    near,
    pairs.flatMap(({ rows }) => rows),
    found.prices.currency,
  )
  const {
    earlier = [],
    later = [],
    untold = [],
    within: ofStrays = [],
  } = Object.groupBy(withoutReturned(charges), times.placeOf)
  const stated = Map.groupBy([...found.stated.values()].flat(), ({ request }) => request)
  const issues: readonly Found[] = [
    ...pairs.flatMap(({ request, rows }) =>
      issuesOf(request, rows, stated.get(request) ?? [], found, times).map((issue) => ({
        request,
        ...issue,
      })),
    ),
    ...absent
      .filter((request) => !isCacheUnread(request))
      .map((request) => ({ request, kind: 'no row', text: 'no row in the log' })),
    ...ofStrays.map((row) => ({
      // A witness is a request, and this row has none.
      request: pairs[0]!.request,
      kind: 'stray row',
      text: `${chargeText(row)} and belongs to no request`,
    })),
  ]
  if (issues.length > 0)
    return failedBy(
      issues,
      pairs.length + missing.length + ofStrays.length,
      `${by}${zoneText(times)}`,
    )
  return (
    cacheDoubt(absent, pairs.length) ??
    unreadDoubt(pairs) ??
    unreadableDoubt(unreadable, pairs.length) ??
    feeDoubt(fees, pairs.length) ??
    otherUseDoubt(
      earlier,
      pairs.length,
      'is older than the first: the key may have been used before the run',
    ) ??
    otherUseDoubt(
      later,
      pairs.length,
      'is later than the last: the key may have been used after the run',
    ) ??
    otherUseDoubt(
      untold,
      pairs.length,
      'its time does not tell whether it is of the run: the key may have been used before or after',
    ) ??
    datedDoubt(pairs, found) ??
    endDoubt(rowless.filter(times.isAfterEnd), pairs.length, times) ??
    pass(pairs.length, { note: `joined by ${by}${zoneText(times)}` })
  )
}

function failedBy(issues: readonly Found[], observations: number, by: string): Verdict {
  const groups = [...Map.groupBy(issues, ({ kind }) => kind).values()]
  const kinds = groups.slice(0, mostKinds).map((group) => `${group[0]!.text} (${group.length})`)
  return fail(observations, {
    expected: 'one row for each request, as its answer says',
    observed: `${kinds.join('; ')}; joined by ${by}`,
    witnesses: groups.slice(0, mostWitnesses).map((group) => {
      const { request, text } = group[0]!
      return witnessAt(request, group.length === 1 ? text : `${text} (first of ${group.length})`)
    }),
  })
}

/** Requests without a row that a cache of the gateway may have answered. */
function cacheDoubt(absent: readonly PricedRequest[], joined: number): Verdict | null {
  const all = joined + absent.length
  return absent.length === 0
    ? null
    : inconclusive(
        all,
        unreadCacheText(`${absent.length} of ${all} requests have no row in the log, which is`),
      )
}

function unreadDoubt(pairs: Join['pairs']): Verdict | null {
  const rows = pairs.flatMap((pair) => pair.rows)
  const unread = rows.filter((row) => row.unread.length > 0)
  return unread.length === 0
    ? null
    : inconclusive(
        pairs.length,
        `${unread.length} of ${rows.length} rows of the log ${unread.length === 1 ? 'has' : 'have'} a value that nobody can read: ${unread[0]!.unread[0]}`,
      )
}

/** Rows of no request with a cost that nobody can read: they may charge something, or nothing. */
function unreadableDoubt(unreadable: readonly LogRow[], joined: number): Verdict | null {
  const [first] = unreadable
  return first === undefined
    ? null
    : inconclusive(
        joined,
        `${placeText(first)} belongs to no request, and its cost is no number: ${JSON.stringify(first.unreadable)}`,
      )
}

/** Rows that charge something, and name neither a request's model nor its tokens. */
function feeDoubt(fees: readonly LogRow[], joined: number): Verdict | null {
  const [first] = fees
  return first === undefined
    ? null
    : inconclusive(
        joined,
        `${chargeText(first)} and names no model and no tokens: it may be a fee, which nothing promises`,
      )
}

/** Rows that are older than the first request, or later than the last, or may be. */
function otherUseDoubt(others: readonly LogRow[], joined: number, why: string): Verdict | null {
  const [first] = others
  return first === undefined
    ? null
    : inconclusive(joined, `${chargeText(first)}, belongs to no request, and ${why}`)
}

/** `line 3 of the log (a)`. */
const placeText = ({ line, id }: LogRow) =>
  `line ${line} of the log${id === null ? '' : ` (${id})`}`

const chargeText = (row: LogRow) => `${placeText(row)} charges ${row.cost?.text ?? 'nothing'}`

/** Rows that name a dated release of the model that was asked for. */
function datedDoubt(pairs: Join['pairs'], { judge }: PriceJudgements): Verdict | null {
  const dated = pairs.flatMap(({ request, rows }) =>
    rows.flatMap((row) => {
      const release = datedModelOf(request, row, judge.priceOf)
      return release === null ? [] : [{ release, asked: request.requestedModel }]
    }),
  )
  const [first] = dated
  return first === undefined
    ? null
    : inconclusive(
        pairs.length,
        dated.length === 1
          ? `1 row of the log names a dated release, ${first.release}, where ${first.asked} was asked: nobody knows whether the name stands for it`
          : `${dated.length} rows of the log name a dated release, such as ${first.release}, where ${first.asked} was asked: nobody knows whether the name stands for it`,
      )
}

/** Requests that ended after the log did. */
function endDoubt(
  later: readonly PricedRequest[],
  joined: number,
  { endMs }: LogTimes,
): Verdict | null {
  return later.length === 0
    ? null
    : inconclusive(
        joined,
        `the log ends at ${new Date(endMs).toISOString()}, before ${later.length} of ${joined + later.length} requests with a cost, so nobody knows whether it lacks them: export it again`,
        later
          .slice(0, 3)
          .map((request) => witnessAt(request, 'ended after the last row of the log')),
      )
}

/** Those of some requests that cost something by the contract, and should have a row with a cost. */
export function chargedOf(
  candidates: readonly PricedRequest[],
  { requests, judge }: PriceJudgements,
): readonly PricedRequest[] {
  // An answer that is given again has no row of its own. If answers have no ids, only equal content tells that it is.
  const again = new Set(repeatsOf(requests).filter(({ responseId }) => responseId === null))
  return candidates.filter((request) => {
    const model = judge.priceOf(request.requestedModel)
    return (
      !again.has(request) &&
      (request.outcomes.length === 1 || isCacheUnread(request)) &&
      isSuccess(request) &&
      model?.charged.success === 'full' &&
      Object.values(model.price).some(({ price }) => price !== 'open' && !isZero(price))
    )
  })
}

/** Rows of no request without those that give each other back: what was held, and returned by a later row with an id of its own. */
function withoutReturned(strays: readonly LogRow[]): readonly LogRow[] {
  const held = Map.groupBy(
    strays.filter(({ cost }) => cost !== null && cost.value.numerator > 0n),
    ({ cost }) => amountOf(cost),
  )
  const returned = new Set<LogRow>()
  for (const back of strays) {
    if (back.cost === null || back.cost.value.numerator >= 0n) continue
    const equal = held.get(amountOf(back.cost)) ?? []
    const at = equal.findIndex(
      ({ atMs }) => atMs === null || back.atMs === null || atMs <= back.atMs,
    )
    if (at === -1) continue
    for (const row of equal.splice(at, 1)) returned.add(row).add(back)
  }
  return strays.filter((row) => !returned.has(row))
}
