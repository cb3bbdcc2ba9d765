import type { LoggedTokens, LogToken } from '../../../contract/prices.ts'
import { add, compare, decimalText, isZero, zero } from '../../../money/rational.ts'
import type { Judged } from '../../../price/judge/judge.ts'
import { mayBeCached, type PricedRequest } from '../../../price/judge/request.ts'
import { isWithin, unitOf } from '../../../price/judge/tolerance.ts'
import { kindCounts } from '../../../tokens/kinds.ts'
import { outputOf, parts, promptOf, type Usage } from '../../../tokens/usage.ts'
import { largest, smallest } from '../../../user/extremes.ts'
import { repeatsOf } from '../../evidence/prices/free-repeats.ts'
import { isModel } from '../../evidence/prices/join.ts'
import { type PriceJudgements, priceJudgements } from '../../evidence/prices/judgements.ts'
import type { LogRow } from '../../evidence/prices/log.ts'
import { placeVerdict, unreadCacheText } from '../../evidence/prices/place-verdict.ts'
import { unlessUnreadable } from '../../evidence/prices/unreadable.ts'
import { type Rule, whenPromised } from '../../rule.ts'
import { fail, inconclusive, notObserved, pass, type Verdict, type Witness } from '../../verdict.ts'

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
A cost that is no number makes it inconclusive.
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
states. A count or a time that nobody can read makes it inconclusive. Where the log was read by the ids of answers, an answer
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
  const absent = unrecorded(missing, found)
  const perhaps = absent.filter(mayBeCached)
  const problems = [
    ...pairs.flatMap(({ request, rows }) =>
      issuesOf(request, rows, found).map((summary) => ({ request, summary })),
    ),
    ...absent
      .filter((request) => !mayBeCached(request))
      .map((request) => ({ request, summary: 'no row in the log' })),
  ]
  const fromMs = smallest(requests.map(({ startMs }) => startMs)) - slackMs
  const untilMs = largest(requests.map(({ endMs }) => endMs)) + slackMs
  const ofStrays = strays.filter((row) => isWithinRun(row, fromMs, untilMs))
  const nearest = pairs[0]!.request
  const all = [
    ...problems,
    ...ofStrays.map((row) => ({
      request: nearest,
      summary: `line ${row.line} of the log${row.id === null ? '' : ` (${row.id})`} charges ${row.cost?.text ?? 'nothing'} and belongs to no request`,
    })),
  ]
  const groups = Map.groupBy(all, ({ summary }) => summary.replace(/[\d.e-]+/g, '#'))
  const witnesses = [...groups.values()].slice(0, 5).map((group): Witness => {
    const { request, summary } = group[0]!
    return {
      runId: request.runId,
      slot: request.slot,
      retry: request.retry,
      shows: group.length === 1 ? summary : `${summary} (first of ${group.length})`,
    }
  })
  const [first, ...rest] = witnesses
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
  if (first === undefined) return pass(pairs.length, { note: `joined by ${by}` })
  return fail(pairs.length + missing.length + ofStrays.length, {
    expected: 'one row for each request, as its answer says',
    observed: `${[...groups.values()]
      .map((group) => `${group[0]!.summary} (${group.length})`)
      .slice(0, 4)
      .join('; ')}; joined by ${by}`,
    witnesses: [first, ...rest],
  })
}

function issuesOf(
  request: PricedRequest,
  rows: readonly LogRow[],
  { prices, stated, judge }: PriceJudgements,
): readonly string[] {
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
  const late = prices.evidence.log?.withinMs ?? 0
  const at = row!.atMs
  if (at !== null && (at < request.askedMs - slackMs || at > request.endMs + late + slackMs))
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

/** Requests that cost something by the contract, and ended before the log's last row by more than its delay. */
function unrecorded(
  missing: readonly PricedRequest[],
  { requests, join, prices, judge }: PriceJudgements,
): readonly PricedRequest[] {
  // The first answer again has no row of its own. Where answers have no id, only its content tells it.
  const again = new Set(repeatsOf(requests).filter(({ responseId }) => responseId === null))
  const times = join!.pairs.flatMap(({ rows }) => rows.flatMap(({ atMs }) => atMs ?? []))
  const end = times.length === 0 ? Number.POSITIVE_INFINITY : largest(times)
  const late = prices.evidence.log?.withinMs ?? 0
  return missing.filter((request) => {
    const model = judge.priceOf(request.requestedModel)
    const isCharged =
      !again.has(request) &&
      (request.outcomes.length === 1 || mayBeCached(request)) &&
      request.outcomes[0] === 'success' &&
      model?.charged.success === 'full' &&
      Object.values(model.price).some(({ price }) => price !== 'open' && !isZero(price))
    return isCharged && request.endMs + late <= end + slackMs
  })
}

function isWithinRun({ cost, atMs }: LogRow, fromMs: number, untilMs: number): boolean {
  if (cost === null || isZero(cost.value)) return false
  return atMs === null || (atMs >= fromMs && atMs <= untilMs)
}
