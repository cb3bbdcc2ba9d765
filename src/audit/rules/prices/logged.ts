import type { LoggedTokens, LogToken } from '../../../contract/prices.ts'
import { add, compare, decimalText, isZero, zero } from '../../../money/rational.ts'
import { clockShiftMs } from '../../../price/judge/clock-shift.ts'
import type { Judged } from '../../../price/judge/judge.ts'
import { mayBeCached, type PricedRequest } from '../../../price/judge/request.ts'
import { isWithin, unitOf } from '../../../price/judge/tolerance.ts'
import { kindCounts } from '../../../tokens/kinds.ts'
import { outputOf, parts, promptOf, type Usage } from '../../../tokens/usage.ts'
import { largest, smallest } from '../../../user/extremes.ts'
import { repeatsOf } from '../../evidence/prices/free-repeats.ts'
import { isModel, type Join } from '../../evidence/prices/join.ts'
import { type PriceJudgements, priceJudgements } from '../../evidence/prices/judgements.ts'
import type { LogRow } from '../../evidence/prices/log.ts'
import { placeVerdict, unreadCacheText } from '../../evidence/prices/place-verdict.ts'
import { unlessUnreadable } from '../../evidence/prices/unreadable.ts'
import { type Rule, whenPromised } from '../../rule.ts'
import { fail, inconclusive, notObserved, pass, type Verdict, witnessAt } from '../../verdict.ts'

const requires = "the service's own log of these requests: assay audit --log FILE"

export const price04: Rule = {
  id: 'PRICE-04',
  title: 'The log charges the cost that the usage has by the contract',
  section: 'contract: prices, evidence.log',
  severity: 'must',
  needs: ['passive'],
  explain: `Joins each request with its rows in the service's own log (--log), by the id of the response, a header, or uniquely by
model, tokens and time. The sum of its rows must be the cost that the contract gives. It is judged and explained
as a stated cost is (PRICE-03). Where the contract does not say what an answer costs that the client left, it is inconclusive. An answer that the client left must cost between its input and what it was sent.
A cost that is no number makes it inconclusive, and so does a row without one.
It cannot judge requests without a row, which PRICE-05 reports.`,
  ...whenPromised(['prices'], async (evidence): Promise<Verdict> => {
    const found = await priceJudgements(evidence)
    if (found === null || found.join === null) return notObserved(requires)
    const { verdict } = placeVerdict(found.logged, found.prices, found.judge, requires)
    const unreadable = found.join.pairs.flatMap(({ request, rows }) =>
      rows.flatMap(({ unreadable: text }) =>
        text === null ? [] : [{ request, place: 'the log', text }],
      ),
    )
    if (verdict.verdict === 'pass') {
      const silent = chargedOf(
        found.join.pairs.flatMap(({ request, rows }) =>
          rows.every(({ cost, unreadable: text }) => cost === null && text === null)
            ? [request]
            : [],
        ),
        found,
      )
      if (silent.length > 0)
        return inconclusive(
          found.logged.length,
          `${silent.length} of ${silent.length + found.logged.length} requests with a cost have a row that states none, which is not 0`,
        )
    }
    return unlessUnreadable(verdict, unreadable, found.logged.length)
  }),
}

export const price05: Rule = {
  id: 'PRICE-05',
  title: 'The log has one row for each request, with its tokens, model, time and stated cost',
  section: 'contract: evidence.log',
  severity: 'must',
  needs: ['passive'],
  explain: `Compares each request with its rows in the log: charges without a request, requests with a cost and without a row, two
rows with tokens for one request, other tokens, another model, another time, and another cost than the answer
states. A count or a time that nobody can read makes it inconclusive, and so does a log that ends more than a minute before a request with a
cost. A time is right by the client's clock, or by the service's own, as the Date of the answer shows it. Times without a zone may be of any,
if one zone explains all of them. Where the log was read by the ids of answers, an answer
without an id is not missing in it. Rows of other keys are not those of these requests.
It cannot find a row that is missing at the end of a log that is late; evidence.log.within says how late it may be.`,
  ...whenPromised(['prices'], async (evidence): Promise<Verdict> => {
    const found = await priceJudgements(evidence)
    if (found === null || found.join === null) return notObserved(requires)
    return joinVerdict(found)
  }),
}

function joinVerdict(found: PriceJudgements): Verdict {
  const { join, requests } = found
  const { pairs, missing, strays, by } = join!
  if (pairs.length === 0)
    return inconclusive(
      strays.length + requests.length,
      `no row of the log belongs to a request: ids differ, and model, tokens and time match none uniquely`,
    )
  const zoneMs = zoneOf(pairs, late(found))
  const endMs = lastRowMs(pairs, zoneMs)
  const charged = chargedOf(missing, found)
  const isLater = ({ endMs: at }: PricedRequest) => at + late(found) > endMs + slackMs
  const absent = charged.filter((request) => !isLater(request))
  const perhaps = absent.filter(mayBeCached)
  const problems = [
    ...pairs.flatMap(({ request, rows }) =>
      issuesOf(request, rows, found, zoneMs).map((summary) => ({ request, summary })),
    ),
    ...absent
      .filter((request) => !mayBeCached(request))
      .map((request) => ({ request, summary: 'no row in the log' })),
  ]
  const fromMs = smallest(requests.map(({ startMs }) => startMs)) - slackMs
  const untilMs = largest(requests.map(({ endMs }) => endMs)) + slackMs
  const ofStrays = strays.filter((row) => isWithinRun(row, fromMs + zoneMs, untilMs + zoneMs))
  const nearest = pairs[0]!.request
  const all = [
    ...problems,
    ...ofStrays.map((row) => ({
      request: nearest,
      summary: `line ${row.line} of the log${row.id === null ? '' : ` (${row.id})`} charges ${row.cost?.text ?? 'nothing'} and belongs to no request`,
    })),
  ]
  const groups = Map.groupBy(all, ({ summary }) => summary.replace(/[\d.e-]+/g, '#'))
  const witnesses = [...groups.values()].slice(0, 5).map((group) => {
    const { request, summary } = group[0]!
    return witnessAt(
      request,
      group.length === 1 ? summary : `${summary} (first of ${group.length})`,
    )
  })
  const [first] = witnesses
  if (first === undefined && perhaps.length > 0)
    return inconclusive(
      pairs.length + perhaps.length,
      unreadCacheText(
        `${perhaps.length} of ${pairs.length + perhaps.length} requests have no row in the log, which is`,
      ),
    )
  const unread = pairs.filter(({ rows }) => rows.some((row) => row.unread.length > 0))
  if (first === undefined && unread.length > 0)
    return inconclusive(
      pairs.length,
      `${unread.length} of ${pairs.length} rows of the log ${unread.length === 1 ? 'has' : 'have'} a value that nobody can read: ${unread[0]!.rows.flatMap((row) => row.unread)[0]}`,
    )
  const later = charged.filter(isLater)
  if (first === undefined && later.length > 0)
    return inconclusive(
      pairs.length,
      `the log ends at ${new Date(endMs).toISOString()}, before ${later.length} of ${pairs.length + later.length} requests with a cost, so nobody knows whether it lacks them: export it again`,
      later.slice(0, 3).map(({ runId, slot, retry }) => ({
        ...{ runId, slot, retry },
        shows: 'ended after the last row of the log',
      })),
    )
  const zoned =
    zoneMs === 0
      ? ''
      : `; its times have no zone, and are ${zoneMs / minuteMs} minutes ahead of UTC`
  if (first === undefined) return pass(pairs.length, { note: `joined by ${by}${zoned}` })
  return fail(pairs.length + missing.length + ofStrays.length, {
    expected: 'one row for each request, as its answer says',
    observed: `${[...groups.values()]
      .map((group) => `${group[0]!.summary} (${group.length})`)
      .slice(0, 4)
      .join('; ')}; joined by ${by}`,
    witnesses,
  })
}

function issuesOf(
  request: PricedRequest,
  rows: readonly LogRow[],
  found: PriceJudgements,
  zoneMs: number,
): readonly string[] {
  const { prices, stated, judge } = found
  const issues: string[] = []
  const counted = rows.filter(({ tokens }) => (tokens.prompt ?? 0) + (tokens.completion ?? 0) > 0)
  // An answer in several passes may have a row for each.
  const mostRows = Math.max(1, request.usage?.passes.length ?? 0)
  if (counted.length > mostRows) issues.push(`${counted.length} rows with tokens for one request`)
  const [row] = counted.length > 0 ? counted : rows
  const isComplete = request.outcomes[0] === 'success' && request.usage !== null
  if (isComplete && counted.length === 1)
    for (const issue of tokenIssues(request.usage!, row!.tokens)) issues.push(issue)
  const { models } = row!
  const names = namesOf(request, judge.priceOf)
  if (models.length > 0 && !models.some((model) => names.some((name) => isModel(name, model))))
    issues.push(`model ${models[0]} in the log, ${request.requestedModel} asked`)
  const at = row!.atMs
  if (at !== null && !isOfTime(request, at - zoneMs, late(found)))
    issues.push(
      `${new Date(at).toISOString()} in the log, sent ${new Date(request.startMs).toISOString()}`,
    )
  const amounts = statedOf(stated).get(request) ?? []
  const logged = rows.flatMap(({ cost }) => cost ?? [])
  const sum = logged.map(({ value }) => value).reduce(add, zero)
  for (const { statement, expected, unit } of amounts) {
    const ofLog = unitOf(logged, prices.currency)
    const wider = compare(unit, ofLog) > 0 ? unit : ofLog
    const priced = expected.readings[0]?.model ?? null
    if (logged.length > 0 && !isWithin(sum, statement.value, wider, priced))
      issues.push(
        `${decimalText(sum)} ${prices.currency.name} in the log, ${statement.text} at ${statement.place}`,
      )
  }
  return issues
}

/** Counts of the log that are none of those that the answer, or all of its passes, may be said to have. */
function tokenIssues(usage: Usage, logged: LoggedTokens): readonly string[] {
  const all = [usage, sumOfPasses(usage)].flatMap((each) => each ?? [])
  const [prompt, output] = [promptOf(usage.parts), outputOf(usage.parts)]
  const stated: readonly (readonly [LogToken, string, readonly (number | null)[]])[] = [
    ['prompt', 'prompt', all.flatMap(({ parts }) => [promptOf(parts), parts.input_uncached])],
    ['completion', 'output', all.map(({ parts }) => outputOf(parts))],
    ...partsOf(all),
  ]
  return stated.flatMap(([name, word, mayBe]) => {
    const of = logged[name]
    const known = name === 'prompt' ? prompt : name === 'completion' ? output : mayBe[0]!
    return of === null || known === null || mayBe.includes(of)
      ? []
      : [`${of} ${word} tokens in the log, ${known} in the answer`]
  })
}

/** The counts of all passes of an answer; null if it has none, or if one of them is not counted. */
function sumOfPasses({ passes, ...usage }: Usage): Usage | null {
  const counted = passes.flatMap((pass) => pass.usage ?? [])
  if (counted.length === 0 || counted.length < passes.length) return null
  const sums = parts.map((part) => [
    part,
    counted.reduce((sum, each) => sum + (each.parts[part] ?? 0), 0),
  ])
  return { ...usage, passes, parts: Object.fromEntries(sums) as Usage['parts'] }
}

/** Parts of the counts that a log may have. */
const wordsOf = {
  cache_read: 'cached',
  cache_write: 'cache write',
  cache_write_1h: 'one-hour cache write',
  reasoning: 'reasoning',
} as const

/** What each part may be: a log may have all writes as one count, or those of a short life alone. */
function partsOf(
  all: readonly Usage[],
): readonly (readonly [LogToken, string, readonly (number | null)[]])[] {
  const mayBe = all.map((usage) => ({ ...usage.parts, ...kindCounts(usage.parts) }))
  return [
    ['cache_read', wordsOf.cache_read, mayBe.map(({ cached }) => cached)],
    [
      'cache_write',
      wordsOf.cache_write,
      mayBe.flatMap(({ cacheWrite, cache_write }) => [cacheWrite, cache_write]),
    ],
    ['cache_write_1h', wordsOf.cache_write_1h, mayBe.map((of) => of.cache_write_1h)],
    ['reasoning', wordsOf.reasoning, mayBe.map(({ reasoning }) => reasoning)],
  ]
}

const slackMs = 60_000
const minuteMs = 60_000
const quarterMs = 15 * minuteMs
/** The farthest that the clocks of zones are from UTC. */
const mostZoneMs = 14 * 60 * minuteMs

/** How late a row may be. */
const late = ({ prices }: PriceJudgements) => prices.evidence.log?.withinMs ?? 0

/** Whether a row may be of a request, by the client's clock or by that of the service. */
function isOfTime(request: PricedRequest, atMs: number, lateMs: number): boolean {
  return [0, clockShiftMs(request)].some(
    (shiftMs) =>
      atMs >= request.askedMs + shiftMs - slackMs &&
      atMs <= request.endMs + shiftMs + lateMs + slackMs,
  )
}

/** How far the times of a log that name no zone are ahead of UTC, where one zone explains all of them; else 0. */
function zoneOf(pairs: Join['pairs'], lateMs: number): number {
  const times = pairs.flatMap(({ request, rows: [row] }) =>
    row === undefined || row.atMs === null ? [] : [{ request, row, atMs: row.atMs }],
  )
  const [first] = times
  if (first === undefined || !times.every(({ row }) => row.isZoneOpen)) return 0
  const zoneMs = Math.round((first.atMs - first.request.startMs) / quarterMs) * quarterMs
  const isZone =
    zoneMs !== 0 &&
    Math.abs(zoneMs) <= mostZoneMs &&
    times.every(
      ({ request, atMs }) =>
        isOfTime(request, atMs - zoneMs, lateMs) && !isOfTime(request, atMs, lateMs),
    )
  return isZone ? zoneMs : 0
}

/** The time of the log's last row that belongs to a request; infinite without any. */
function lastRowMs(pairs: Join['pairs'], zoneMs: number): number {
  const times = pairs.flatMap(({ rows }) => rows.flatMap(({ atMs }) => atMs ?? []))
  return times.length === 0 ? Number.POSITIVE_INFINITY : largest(times) - zoneMs
}

const byRequest = new WeakMap<object, ReadonlyMap<PricedRequest, readonly Judged[]>>()

/** What the answer of each request states, at all places. */
function statedOf(
  stated: PriceJudgements['stated'],
): ReadonlyMap<PricedRequest, readonly Judged[]> {
  const known = byRequest.get(stated)
  if (known !== undefined) return known
  const found = Map.groupBy([...stated.values()].flat(), ({ request }) => request)
  byRequest.set(stated, found)
  return found
}

function namesOf(
  { requestedModel, returnedModel }: PricedRequest,
  priceOf: PriceJudgements['judge']['priceOf'],
): readonly string[] {
  const ids = [requestedModel, returnedModel].flatMap((name) =>
    name === null ? [] : [name, priceOf(name)?.id ?? name],
  )
  return [...new Set(ids)]
}

/** Requests that cost something by the contract. */
function chargedOf(
  missing: readonly PricedRequest[],
  { requests, judge }: PriceJudgements,
): readonly PricedRequest[] {
  // The first answer again has no row of its own. Where answers have no id, only its content tells it.
  const again = new Set(repeatsOf(requests).filter(({ responseId }) => responseId === null))
  return missing.filter((request) => {
    const model = judge.priceOf(request.requestedModel)
    return (
      !again.has(request) &&
      (request.outcomes.length === 1 || mayBeCached(request)) &&
      request.outcomes[0] === 'success' &&
      model?.charged.success === 'full' &&
      Object.values(model.price).some(({ price }) => price !== 'open' && !isZero(price))
    )
  })
}

function isWithinRun({ cost, atMs }: LogRow, fromMs: number, untilMs: number): boolean {
  if (cost === null || isZero(cost.value)) return false
  return atMs === null || (atMs >= fromMs && atMs <= untilMs)
}
