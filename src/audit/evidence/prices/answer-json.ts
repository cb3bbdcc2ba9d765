import { createHash } from 'node:crypto'
import { placesOf } from '../../../contract/price-evidence.ts'
import { add, fixedText, negate, type Rational, readNumber, zero } from '../../../money/rational.ts'
import type { DialectName } from '../../../tokens/dialects.ts'
import { dialectOf, readUsage, readWholeUsage } from '../../../tokens/read-usage.ts'
import { type Part, parts, type Usage, type UsagePass } from '../../../tokens/usage.ts'
import { largest } from '../../../user/extremes.ts'
import { isObject, jsonOf } from '../../../user/json.ts'
import { lookup } from '../../../user/lookup.ts'

/** A JSON number as it is written. */
export class WrittenNumber {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Parses JSON and keeps each number as its text, since a double would lose digits; undefined if it is not JSON. */
export function parseWritten(text: string): unknown {
  const reviver = (_: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' ? new WrittenNumber(context?.source ?? String(value)) : value
  return jsonOf(text, reviver as (key: string, value: unknown) => unknown)
}

/**
 * The value at a place such as `usage.cost` or `data.0.total`; undefined if there is none. Of a sum of places, such as
 * `prepaid - due`, it is the text of the sum.
 */
export function atPlace(document: unknown, place: string): unknown {
  if (place.includes(' ')) return sumAt(document, place)
  let value = document
  for (const step of place.split('.')) {
    // A log may have a JSON text within a row, as new-api's `other`.
    if (typeof value === 'string' && value.startsWith('{')) value = parseWritten(value)
    if (Array.isArray(value)) value = value[Number(step)]
    else if (isObject(value) && Object.hasOwn(value, step)) value = value[step]
    else return undefined
  }
  return value
}

function sumAt(document: unknown, place: string): string | undefined {
  const amounts = placesOf(place).map(({ place, isTaken }) => {
    const amount = amountOf(atPlace(document, place))
    return amount === null || !isTaken ? amount : { ...amount, value: negate(amount.value) }
  })
  const known = amounts.flatMap((amount) => amount ?? [])
  if (known.length < amounts.length) return undefined
  return fixedText(
    known.map(({ value }) => value).reduce(add, zero),
    largest(known.map(({ decimals }) => decimals)),
  )
}

export interface Amount {
  readonly text: string
  readonly value: Rational
  readonly decimals: number
}

/** An amount as a service writes it: a number, or a text with one; null if it is neither. */
export function amountOf(value: unknown): Amount | null {
  const text = value instanceof WrittenNumber ? value.text : value
  // A fraction is what is left of a whole, in a contract alone is it a number.
  if (typeof text !== 'string' || text.includes('/')) return null
  const number = readNumber(text)
  if (number === null) return null
  const [mantissa, exponent = '0'] = text.trim().toLowerCase().split('e')
  const decimals = (mantissa!.split('.')[1]?.length ?? 0) - Number(exponent)
  return { text: text.trim(), value: number, decimals: Math.max(0, decimals) }
}

/** The usage objects of a document: at its top, of a message, of a response, of a choice. */
function usagesOf(document: unknown): readonly Readonly<Record<string, unknown>>[] {
  const places = [
    'usage',
    'message.usage',
    'response.usage',
    'usageMetadata',
    'meta.billed_units',
    'x_groq.usage',
    'choices.0.usage',
  ]
  for (const place of places) {
    const usage = atPlace(document, place)
    if (isObject(usage)) return [place === 'meta.billed_units' ? { billed_units: usage } : usage]
  }
  return []
}

export interface AnswerUsage {
  readonly usage: Usage | null
  /** Whether a stream reported it at its end, or a plain answer: an earlier one counts output so far. */
  readonly isFinal: boolean
  /** What each document reports. */
  readonly each: readonly Usage[]
  readonly serviceTier: string | null
}

/**
 * The usage of an answer from its documents: a body, or the data of its events. Usage in a stream is cumulative, so
 * a later count replaces an earlier one; 0 after a count is no report. A stream of several answers has one usage for each, and
 * costs their sum.
 */
export function answerUsage(
  documents: readonly unknown[],
  dialect: DialectName | null,
  endpoint: string,
): AnswerUsage {
  const stated = documents.flatMap(usagesOf)
  if (stated.length === 0) return { usage: null, isFinal: false, each: [], serviceTier: null }
  const last = stated.reduce<Written>(laid, {})
  const known = dialect ?? dialectOf(last, endpoint)
  // Text after a usage was not counted by it.
  const lastText = documents.findLastIndex((document) => textBytes([document]) > 0)
  const tiers = [
    ...documents.flatMap((document) =>
      tierPlaces.map((place) => atPlace(document, place)).filter((tier) => tier !== undefined),
    ),
    ...[last.service_tier, last.serviceTier],
  ]
  const wholes = answersIn(documents).map((answer) => ({
    usage: withNames(
      readWholeUsage(answer.flatMap(usagesOf).reduce<Written>(laid, {}), known),
      answer,
    ),
    model: answer.map(modelNamed).find((name) => name !== null) ?? null,
  }))
  return {
    usage: wholes.length === 1 ? wholes[0]!.usage : summed(wholes),
    isFinal: documents.some(
      (document, at) => at >= lastText && usagesOf(document).length > 0 && !isUnderWay(document),
    ),
    each: wholes.length === 1 ? stated.map((usage) => readUsage(usage, known)) : [],
    serviceTier: tiers.findLast((tier) => typeof tier === 'string') ?? null,
  }
}

type Written = Readonly<Record<string, unknown>>

/** Where an answer names the tier that served it, beside its usage. Bedrock has an object. */
const tierPlaces = ['service_tier', 'response.service_tier', 'serviceTier', 'serviceTier.type']

/** Names beside the usage on which a price depends: Bedrock's answers of low latency. */
const namePlaces = ['performanceConfig.latency']

function withNames(usage: Usage, documents: readonly unknown[]): Usage {
  const beside = namePlaces.flatMap((place) => {
    const value = documents.map((each) => atPlace(each, place)).findLast((each) => each != null)
    return typeof value === 'string' ? [[place, value] as const] : []
  })
  return beside.length === 0
    ? usage
    : { ...usage, named: { ...usage.named, ...Object.fromEntries(beside) } }
}

function modelNamed(document: unknown): string | null {
  const name = firstAt(document, ['model', 'message.model', 'response.model'])
  return typeof name === 'string' ? name : null
}

/**
 * The answers within a body, those without a usage left out: a gateway that calls tools itself, or lets a model go on, sends
 * several in one stream. An answer begins where it says so, or with another id after the one before has ended.
 */
function answersIn(documents: readonly unknown[]): readonly (readonly unknown[])[] {
  const answers: unknown[][] = [[]]
  let id: unknown
  let hasEnded = false
  for (const document of documents) {
    const type = String(atPlace(document, 'type') ?? '')
    const own = firstAt(document, ['message.id', 'response.id', 'id'])
    const starts = type === 'message_start' || type === 'response.created'
    const isOther = own !== undefined && id !== undefined && own !== id
    const isNext = hasEnded && (starts ? own === undefined : isOther && hasChoice(document))
    if ((isOther && starts) || isNext) {
      answers.push([])
      hasEnded = false
    }
    answers.at(-1)!.push(document)
    id = own ?? id
    hasEnded ||= ends.has(type) || typeof atPlace(document, 'choices.0.finish_reason') === 'string'
  }
  const counted = answers.filter((answer) => answer.some((each) => usagesOf(each).length > 0))
  return counted.length === 0 ? [documents] : counted
}

/** A usage at the end of a stream stands beside no choice, and some services give it an id of its own. */
const hasChoice = (document: unknown) => atPlace(document, 'choices.0') !== undefined

const ends: ReadonlySet<string> = new Set([
  ...['message_stop', 'response.completed', 'response.incomplete', 'response.failed'],
])

const firstAt = (document: unknown, places: readonly string[]): unknown =>
  places.map((place) => atPlace(document, place)).find((each) => each != null)

/** Several answers as the passes of one. Their model is named where it is not one for all. */
function summed(
  answers: readonly { readonly usage: Usage; readonly model: string | null }[],
): Usage {
  const isOfOne = new Set(answers.map(({ model }) => model)).size === 1
  const passes = answers.flatMap(({ usage, model }): readonly UsagePass[] =>
    usage.passes.length > 0
      ? usage.passes
      : [{ kind: 'answer', model: isOfOne ? null : model, usage }],
  )
  const first = answers[0]!.usage
  const sum = (part: Part) => {
    const counts = answers.map(({ usage }) => usage.parts[part])
    return counts.every((count) => count === null)
      ? null
      : counts.reduce<number>((all, count) => all + (count ?? 0), 0)
  }
  const calls: Record<string, number> = lookup()
  for (const { usage } of answers)
    for (const [name, count] of Object.entries(usage.calls))
      calls[name] = (calls[name] ?? 0) + count
  return {
    ...first,
    parts: Object.fromEntries(parts.map((part) => [part, sum(part)])) as Usage['parts'],
    calls,
    flags: [...new Set(answers.flatMap(({ usage }) => usage.flags))],
    passes,
    unread: [...new Set(answers.flatMap(({ usage }) => usage.unread))],
  }
}

/** An event within a stream: the start of a message or a response, or a piece of text without the reason of an end. */
function isUnderWay(document: unknown): boolean {
  const [type, reason] = [atPlace(document, 'type'), atPlace(document, 'choices.0.finish_reason')]
  if (typeof type === 'string')
    return ['message_start', 'response.created', 'response.in_progress'].includes(type)
  const finish = atPlace(document, 'candidates.0.finishReason')
  return (
    (atPlace(document, 'choices.0.delta') !== undefined && typeof reason !== 'string') ||
    (atPlace(document, 'candidates.0.content') !== undefined && typeof finish !== 'string')
  )
}

const lastTypes = ['message_stop', 'message-end', 'response.completed', 'response.incomplete']
const reasons = ['choices.0.finish_reason', 'delta.stop_reason', 'candidates.0.finishReason']

/** Whether a stream came to its end, as the data of its events say it, with a usage or without. */
export function hasEnd(texts: readonly string[], documents: readonly unknown[]): boolean {
  return (
    texts.at(-1)?.trim() === '[DONE]' ||
    documents.some(
      (document) =>
        lastTypes.some((type) => atPlace(document, 'type') === type) ||
        reasons.some((place) => typeof atPlace(document, place) === 'string'),
    )
  )
}

function laid(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const merged = { ...before }
  for (const [name, value] of Object.entries(after)) {
    const was = before[name]
    if (value === null || (value === 0 && typeof was === 'number' && was > 0)) continue
    merged[name] = isObject(value) && isObject(was) ? laid(was, value) : value
  }
  return merged
}

/**
 * Fields whose texts are what a client reads: a stream has them in pieces, a plain answer whole. An event of the Responses API has
 * its piece in `delta`, one of Messages a piece of a tool's input in `partial_json`.
 */
const textFields = [
  ...['content', 'text', 'thinking', 'reasoning', 'reasoning_content', 'arguments'],
  ...['delta', 'partial_json', 'refusal', 'transcript', 'summary'],
]

export function textBytes(documents: readonly unknown[]): number {
  let bytes = 0
  eachText(documents, (text) => {
    bytes += Buffer.byteLength(text)
  })
  return bytes
}

/** How many documents of an answer have text: events of a stream, each of which has a token or more. */
export const textDocuments = (documents: readonly unknown[]): number =>
  documents.filter((document) => textBytes([document]) > 0).length

/**
 * A digest of the texts of an answer, in their order; equal for two answers with the same text, whatever their ids and
 * times are. Null without a document.
 */
export function answerDigest(documents: readonly unknown[]): string | null {
  if (documents.length === 0) return null
  const digest = createHash('md5')
  eachText(documents, (text) => digest.update(text))
  return digest.digest('hex')
}

/** An answer that is nested deeper means nothing there. */
const mostDepth = 100

function eachText(value: unknown, take: (text: string) => void, depth = 0): void {
  if (depth > mostDepth) return
  if (Array.isArray(value)) for (const each of value) eachText(each, take, depth + 1)
  else if (isObject(value))
    for (const [name, each] of Object.entries(value)) {
      if (typeof each !== 'string') eachText(each, take, depth + 1)
      else if (textFields.includes(name)) take(each)
    }
}
