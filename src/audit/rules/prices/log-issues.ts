import { isReleaseOf, isSameName } from '../../../contract/contract.ts'
import type { LoggedTokens, LogToken } from '../../../contract/prices.ts'
import { add, decimalText, isZero, larger, zero } from '../../../money/rational.ts'
import type { Judged } from '../../../price/judge/judge.ts'
import { isSuccess, type PricedRequest } from '../../../price/judge/request.ts'
import { isWithin, unitOf } from '../../../price/judge/tolerance.ts'
import { tokenKinds } from '../../../tokens/kinds.ts'
import { outputOf, type Parts, promptOf, type Usage } from '../../../tokens/usage.ts'
import type { PriceJudgements } from '../../evidence/prices/judgements.ts'
import type { LogRow } from '../../evidence/prices/log.ts'
import { inOneRow, isAttempt } from '../../evidence/prices/log-counts.ts'
import { settled } from '../../evidence/prices/refunds.ts'
import type { LogTimes } from './log-times.ts'

/** What is wrong with rows of the log; equal kinds are told once, with their number. */
export interface Issue {
  readonly kind: string
  readonly text: string
}

/** @param stated what the answer states that it cost, at all places */
export function issuesOf(
  request: PricedRequest,
  rows: readonly LogRow[],
  stated: readonly Judged[],
  { prices, judge }: PriceJudgements,
  times: LogTimes,
): readonly Issue[] {
  const issues: Issue[] = []
  const { charges } = settled(rows, ({ cost }) => cost)
  const withTokens = (charges.length === 0 ? rows.filter(isCharge).slice(0, 1) : charges).filter(
    ({ tokens }) => (tokens.prompt ?? 0) + (tokens.completion ?? 0) > 0,
  )
  const answering = withTokens.filter((row) => !isAttempt(row))
  const parts = inOneRow(withTokens)
  const attempts = answering.length === 0 || parts !== null ? [] : withTokens.filter(isAttempt)
  const rest = attempts.length === 0 ? withTokens : answering
  const counted = parts === null ? rest : [parts]
  // An answer in several passes may have a row for each.
  const mostRows = Math.max(1, request.usage?.passes.length ?? 0)
  if (counted.length > mostRows)
    issues.push({ kind: 'rows', text: `${counted.length} rows with tokens for one request` })
  const paid = attempts.flatMap(({ cost }) => (cost === null || isZero(cost.value) ? [] : [cost]))
  const attemptCosts = judge.priceOf(request.requestedModel)?.charged.inner_attempt
  if (paid.length > 0 && attemptCosts !== 'input' && attemptCosts !== 'full')
    issues.push({
      kind: 'attempts',
      text: `${decimalText(paid.map(({ value }) => value).reduce(add))} ${prices.currency.name} for ${paid.length === 1 ? 'an attempt' : 'attempts'} without output, beside the row of the answer`,
    })
  const row = counted[0] ?? rows.find(isCharge) ?? rows[0]!
  const isComplete = isSuccess(request) && request.usage !== null
  if (isComplete && counted.length === 1)
    for (const issue of tokenIssues(request.usage!, row.tokens)) issues.push(issue)
  const [model] = row.models
  const names = namesOf(request, judge.priceOf)
  const isNamed = row.models.some((each) => names.some((name) => isSameName(name, each)))
  if (model !== undefined && !isNamed && datedModelOf(request, row, judge.priceOf) === null)
    issues.push({
      kind: `model ${model} for ${request.requestedModel}`,
      text: `model ${model} in the log, ${request.requestedModel} asked`,
    })
  const at = row.atMs
  if (at !== null && !times.isOf(request, at))
    issues.push({
      kind: 'time',
      text: `${new Date(at).toISOString()} in the log, sent ${new Date(request.startMs).toISOString()}`,
    })
  const logged = rows.flatMap(({ cost }) => cost ?? [])
  if (logged.length === 0) return issues
  const sum = logged.map(({ value }) => value).reduce(add, zero)
  const ofLog = unitOf(logged, prices.currency)
  for (const { statement, expected, unit } of stated) {
    const wider = larger(unit, ofLog)
    const priced = expected.readings[0]?.model ?? null
    if (!isWithin(sum, statement.value, wider, priced))
      issues.push({
        kind: `cost at ${statement.place}`,
        text: `${decimalText(sum)} ${prices.currency.name} in the log, ${statement.text} at ${statement.place}`,
      })
  }
  return issues
}

/** A dated release of the model that was asked for, as a row names it, unless the contract prices that release itself; else null. */
export function datedModelOf(
  request: PricedRequest,
  { models }: LogRow,
  priceOf: PriceJudgements['judge']['priceOf'],
): string | null {
  const names = namesOf(request, priceOf)
  if (models.some((each) => names.some((name) => isSameName(name, each)))) return null
  const dated = models.find((each) => names.some((name) => isReleaseOf(name, each)))
  return dated === undefined || priceOf(dated)?.id === dated ? null : dated
}

/** Names that the log may have for the model of a request. */
function namesOf(
  { requestedModel, returnedModel }: PricedRequest,
  priceOf: PriceJudgements['judge']['priceOf'],
): readonly string[] {
  return [requestedModel, returnedModel].flatMap((name) =>
    name === null ? [] : [name, priceOf(name)?.id ?? name],
  )
}

/** A count that a log may have, and how it follows from the parts of an answer. */
interface Counted {
  readonly name: LogToken
  readonly word: string
  readonly of: (parts: Parts) => number | null
  /** What a log may say instead: a prompt without what a cache held, or writes of a short life alone. */
  readonly or?: (parts: Parts) => number | null
}

const counts: readonly Counted[] = [
  { name: 'prompt', word: 'prompt', of: promptOf, or: ({ input_uncached }) => input_uncached },
  { name: 'completion', word: 'output', of: outputOf },
  { name: 'cache_read', word: 'cached', of: tokenKinds.cached.of },
  {
    ...{ name: 'cache_write', word: 'cache write' },
    of: tokenKinds.cacheWrite.of,
    or: ({ cache_write }) => cache_write,
  },
  { name: 'cache_write_1h', word: 'one-hour cache write', of: tokenKinds.cacheWrite1h.of },
  { name: 'reasoning', word: 'reasoning', of: tokenKinds.reasoning.of },
]

/** Counts of the log that are none of those that the answer, or all of its passes, may be said to have. */
function tokenIssues(usage: Usage, logged: LoggedTokens): readonly Issue[] {
  return counts.flatMap(({ name, word, of, or = of }) => {
    const inLog = logged[name]
    const inAnswer = of(usage.parts)
    if (inLog === null || inAnswer === null) return []
    const mayBe = [of, or].flatMap((each) => [each(usage.parts), overPasses(usage, each)])
    const text = `${inLog} ${word} tokens in the log, ${inAnswer} in the answer`
    return mayBe.includes(inLog) || mayBe.includes('unknown')
      ? []
      : [{ kind: `${word} tokens`, text }]
  })
}

/** The count of all passes of an answer: null if none states it, unknown if only some do. */
function overPasses({ passes }: Usage, of: Counted['of']): number | 'unknown' | null {
  const stated = passes.map(({ usage }) => (usage === null ? null : of(usage.parts)))
  const known = stated.filter((count) => count !== null)
  if (known.length === 0) return null
  return known.length < stated.length ? 'unknown' : known.reduce((a, b) => a + b)
}

/** Whether a row gives nothing back. */
const isCharge = ({ cost }: LogRow) => cost === null || cost.value.numerator >= 0n
