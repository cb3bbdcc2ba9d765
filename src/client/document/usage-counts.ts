import type { ColumnName } from '../../attempt/columns.ts'
import { answerDialects } from '../../tokens/answer-dialects.ts'
import { tokenKinds } from '../../tokens/kinds.ts'
import { dialectOf, readUsage } from '../../tokens/read-usage.ts'
import { outputOf, promptOf } from '../../tokens/usage.ts'
import { AnswerTimes } from './answer-times.ts'

/** Paths of all counts in `usage`, in every dialect of an answer: `prompt_tokens_details.cached_tokens`. */
export const usagePaths: readonly string[] = [
  ...new Set(Object.values(answerDialects).flatMap(({ counts }) => Object.values(counts).flat())),
].filter((path) => !path.includes('['))

/** Values of `usage_semantic`, with which new-api says what its counts include. */
export const semantics = ['openai', 'anthropic'] as const

const inputParts = [
  'cachedTokens',
  'cacheReadAudioTokens',
  'cacheWriteTokens',
  'cacheWrite1hTokens',
  'inputAudioTokens',
  'inputImageTokens',
] as const
const outputParts = [
  'reasoningTokens',
  'outputAudioTokens',
  'outputImageTokens',
  'citationTokens',
] as const

/** Columns with tokens of a part of an answer, which most answers do not count. */
export const tokenPartColumns = [...inputParts, ...outputParts] as const

export const tokenColumns = [
  'promptTokens',
  ...inputParts,
  'completionTokens',
  ...outputParts,
  'totalTokens',
] as const satisfies readonly ColumnName[]

/** The tokens of an answer in the normal form (`src/tokens/usage.ts`): columns of the row, NaN for null. */
export class TokenFields {
  promptTokens = Number.NaN
  cachedTokens = Number.NaN
  cacheReadAudioTokens = Number.NaN
  cacheWriteTokens = Number.NaN
  cacheWrite1hTokens = Number.NaN
  inputAudioTokens = Number.NaN
  inputImageTokens = Number.NaN
  completionTokens = Number.NaN
  reasoningTokens = Number.NaN
  outputAudioTokens = Number.NaN
  outputImageTokens = Number.NaN
  citationTokens = Number.NaN
  totalTokens = Number.NaN
  /** Whether a field other than prompt, completion and total may have a count. */
  hasTokenParts = false

  clearTokens(): void {
    this.promptTokens = Number.NaN
    this.completionTokens = Number.NaN
    this.totalTokens = Number.NaN
    if (!this.hasTokenParts) return
    this.hasTokenParts = false
    this.cachedTokens = Number.NaN
    this.cacheReadAudioTokens = Number.NaN
    this.cacheWriteTokens = Number.NaN
    this.cacheWrite1hTokens = Number.NaN
    this.inputAudioTokens = Number.NaN
    this.inputImageTokens = Number.NaN
    this.reasoningTokens = Number.NaN
    this.outputAudioTokens = Number.NaN
    this.outputImageTokens = Number.NaN
    this.citationTokens = Number.NaN
  }
}

/** What most answers count, and nothing else, by index in `usagePaths`. Their parts are these counts themselves. */
const prompt = [usagePaths.indexOf('prompt_tokens'), usagePaths.indexOf('input_tokens')] as const
const completion = [
  usagePaths.indexOf('completion_tokens'),
  usagePaths.indexOf('output_tokens'),
] as const
const total = usagePaths.indexOf('total_tokens')

/** Anything else is not known: a negative count would lower sums and rates. */
const isCount = (value: number) => Number.isSafeInteger(value) && value >= 0

/** The counts of one answer as the service states them, by index in `usagePaths`. */
export class UsageCounts {
  private readonly values = new Float64Array(usagePaths.length).fill(Number.NaN)
  private readonly known = new Int32Array(usagePaths.length)
  private knownEnd = 0
  /** Index in `semantics`; -1 if it is not stated. */
  private semantic = -1
  readonly times = new AnswerTimes()

  /** Takes the counts and times of a body or an event: the last is the one, as streams are cumulative; 0 after a count is no report. */
  take(counted: Int32Array, end: number, counts: Float64Array, semantic: number): void {
    const { values } = this
    for (let at = 0; at < end; at++) {
      const path = counted[at]!
      const count = counts[path]!
      if (path >= usagePaths.length) {
        this.times.take(path - usagePaths.length, count)
        continue
      }
      const before = values[path]!
      if (Number.isNaN(before)) this.known[this.knownEnd++] = path
      else if (count === 0) continue
      values[path] = count
    }
    if (semantic >= 0) this.semantic = semantic
  }

  clear(): void {
    for (let at = 0; at < this.knownEnd; at++) this.values[this.known[at]!] = Number.NaN
    this.knownEnd = 0
    this.semantic = -1
    this.times.clear()
  }

  /** Fills the tokens of a row; `hasText`: the answer has text, so 0 tokens are no report. */
  fill(into: TokenFields, endpoint: string, hasText: boolean): void {
    if (this.knownEnd === 0) return
    if (!this.isSimple(into)) this.fillParts(into, endpoint)
    if (!hasText) return
    if (into.promptTokens === 0) into.promptTokens = Number.NaN
    if (into.completionTokens === 0) into.completionTokens = Number.NaN
    if (into.totalTokens === 0) into.totalTokens = Number.NaN
  }

  /** It runs for each answer, so it names fields: a name from a table would be looked up each time. */
  private isSimple(into: TokenFields): boolean {
    const { known, knownEnd, values } = this
    let prompts = -1
    let completions = -1
    let totals = -1
    for (let at = 0; at < knownEnd; at++) {
      const path = known[at]!
      // Two names for one count leave it to the dialect which of them counts.
      if (prompts < 0 && (path === prompt[0] || path === prompt[1])) prompts = path
      else if (completions < 0 && (path === completion[0] || path === completion[1]))
        completions = path
      else if (path === total) totals = path
      else return false
    }
    if (prompts >= 0 && isCount(values[prompts]!)) into.promptTokens = values[prompts]!
    if (completions >= 0 && isCount(values[completions]!))
      into.completionTokens = values[completions]!
    if (totals >= 0 && isCount(values[totals]!)) into.totalTokens = values[totals]!
    return true
  }

  private fillParts(into: TokenFields, endpoint: string): void {
    const usage = this.asStated()
    const { parts } = readUsage(usage, dialectOf(usage, endpoint))
    into.hasTokenParts = true
    into.promptTokens = promptOf(parts) ?? Number.NaN
    into.cachedTokens = tokenKinds.cached.of(parts) ?? Number.NaN
    into.cacheReadAudioTokens = parts.cache_read_audio ?? Number.NaN
    into.cacheWriteTokens = parts.cache_write ?? Number.NaN
    into.cacheWrite1hTokens = parts.cache_write_1h ?? Number.NaN
    into.inputAudioTokens = parts.input_audio ?? Number.NaN
    into.inputImageTokens = parts.input_image ?? Number.NaN
    into.completionTokens = outputOf(parts) ?? Number.NaN
    into.reasoningTokens = parts.reasoning ?? Number.NaN
    into.outputAudioTokens = parts.output_audio ?? Number.NaN
    into.outputImageTokens = parts.output_image ?? Number.NaN
    into.citationTokens = parts.citation ?? Number.NaN
    into.totalTokens = isCount(this.values[total]!) ? this.values[total]! : Number.NaN
  }

  /** The usage object of the service, with the counts that the client knows. */
  private asStated(): Readonly<Record<string, unknown>> {
    const stated: Record<string, unknown> = {}
    for (let at = 0; at < this.knownEnd; at++) {
      const path = this.known[at]!
      const steps = usagePaths[path]!.split('.')
      const last = steps.pop()!
      let within = stated
      for (const step of steps) {
        within[step] ??= {}
        within = within[step] as Record<string, unknown>
      }
      within[last] = this.values[path]
    }
    return this.semantic < 0 ? stated : { ...stated, usage_semantic: semantics[this.semantic] }
  }
}
