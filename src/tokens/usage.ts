import { words } from '../user/words.ts'

/**
 * The one normal form of usage: disjoint parts, so that each token is counted, and priced, once.
 *
 * A part is null if the service does not report it. Its tokens, if there are any, are then counted in its
 * parent: unknown apart from 0. If the parent is null too, nothing is known.
 *
 *     const usage = readUsage(body.usage, 'anthropic')
 *     usage.parts.cache_read          // 192, 0 or null
 *     promptOf(usage.parts)           // the whole prompt; null if the service reports none
 *     kindCounts(usage.parts)         // { input, cached, cacheWrite, output, … }, of kinds.ts
 *     usage.flags                     // what is wrong with the usage itself: ['parts>prompt']
 *
 * A reader of its own, such as the client's, calls `normalUsage(stated, form)` with the counts it found.
 */

/** The parts of a prompt, then those of the output. */
export const inputParts = [
  ...words('input_uncached cache_read cache_read_audio cache_write cache_write_1h input_audio'),
  ...words('input_image'),
] as const
export const outputParts = ['output_visible', 'reasoning', 'output_audio', 'output_image'] as const
/** A citation is text that the service adds to an answer: neither sent nor generated. */
export const parts = [...inputParts, ...outputParts, 'citation'] as const
export type Part = (typeof parts)[number]
export type Parts = Readonly<Record<Part, number | null>>

/**
 * What is wrong with a usage in itself. Overlapping parts keep their counts, and the rest of their
 * total is 0.
 */
export const usageFlags = {
  'parts>prompt': 'cached and other parts of the prompt exceed the prompt',
  'parts>output': 'reasoning and other parts of the output exceed the output',
  'write-split': 'cache writes by life do not add up to the cache writes',
  'hit+miss': 'cache hits and misses do not add up to the prompt',
  total: 'the total is neither input and output, nor those and reasoning',
  'not-a-count': 'a count is negative, or not a whole number',
  'unreadable-count': 'a count is a text that nobody can read',
} as const
export type UsageFlag = keyof typeof usageFlags

export interface Usage {
  readonly parts: Parts
  /** Calls and seconds that the usage reports beside tokens: `{ search: 3 }`. */
  readonly calls: Readonly<Record<string, number>>
  readonly flags: readonly UsageFlag[]
  /**
   * What the stated total is: input and output, or those and reasoning once more. It is constant for a model.
   * Null if no total is stated, if both are the same, or if it is neither.
   */
  readonly totalIs: 'input+output' | 'input+output+reasoning' | null
  /**
   * What the usage names beside counts, by its place: `{ speed: 'fast', inference_geo: 'us' }`. A price may depend on it.
   * Null if that is not known, since only counts were kept.
   */
  readonly named: Readonly<Record<string, string>> | null
  /** The parts of an answer that was made in several passes. Empty: the counts are those of one. */
  readonly passes: readonly UsagePass[]
  /** Fields with counts that are neither passes nor parts of the counts: what they mean is not known. */
  readonly unread: readonly string[]
}

/** One pass of an answer, such as the summary before it or a fallback model. */
export interface UsagePass {
  /** As the service calls it: `message`, `compaction`. */
  readonly kind: string
  /** Null: that of the request, as far as it is known. */
  readonly model: string | null
  /** Null if the pass counts nothing. */
  readonly usage: Usage | null
}

/** Counts as a service states them. Null or absent: not stated. */
export interface StatedCounts {
  readonly input?: number | null
  /** Input beside `input`, such as Gemini's `toolUsePromptTokenCount`. */
  readonly moreInput?: number | null
  /** All reads, with those of audio. */
  readonly cacheRead?: number | null
  readonly cacheReadAudio?: number | null
  /** All writes, of whatever life. */
  readonly cacheWrite?: number | null
  readonly cacheWrite5m?: number | null
  readonly cacheWrite1h?: number | null
  readonly cacheMiss?: number | null
  /** Reads of images, which have no price of their own. */
  readonly cacheReadImage?: number | null
  /** All audio and image tokens of the prompt, with cached ones. */
  readonly inputAudio?: number | null
  readonly inputImage?: number | null
  readonly output?: number | null
  readonly reasoning?: number | null
  readonly outputAudio?: number | null
  readonly outputImage?: number | null
  readonly citation?: number | null
  readonly total?: number | null
}

/** Which counts include which: the difference between dialects. */
export interface UsageForm {
  /**
   * `all`: cache reads and writes are part of `input`. `uncached`: they are counted beside it. `by-size`: beside it if
   * they exceed it, or if only then the total adds up; else part of it.
   */
  readonly input: 'all' | 'uncached' | 'by-size'
  /**
   * `all`: reasoning is part of `output`. `visible`: it is counted beside it. `by-total`: beside it if the
   * total is input, output and reasoning, else part of it.
   */
  readonly output: 'all' | 'visible' | 'by-total'
}

/** @returns the disjoint parts of the stated counts, which are whole numbers of 0 or more */
export function normalUsage(stated: StatedCounts, form: UsageForm): Usage {
  const flags = new Set<UsageFlag>()
  const of = (name: keyof StatedCounts) => stated[name] ?? null
  const rest = (whole: number | null, inner: readonly (number | null)[], flag: UsageFlag) => {
    if (whole === null) return null
    const left = whole - sumKnown(inner)
    if (left < 0) flags.add(flag)
    return Math.max(0, left)
  }

  const [lives5m, lives1h] = [of('cacheWrite5m'), of('cacheWrite1h')]
  const writes =
    of('cacheWrite') ?? (lives5m === null && lives1h === null ? null : sumKnown([lives5m, lives1h]))
  const lives = sumKnown([lives5m, lives1h])
  const isWhole = lives5m !== null && lives1h !== null
  if (writes !== null && (lives > writes || (isWhole && lives < writes))) flags.add('write-split')
  const reads = of('cacheRead')
  const input = of('input') === null ? null : sumKnown([of('input'), of('moreInput')])
  const [audio, image] = [of('inputAudio'), of('inputImage')]
  const [readAudio, readImage] = [of('cacheReadAudio'), of('cacheReadImage')]
  const without = (all: number | null, read: number | null) =>
    all === null ? null : Math.max(0, all - (read ?? 0))
  const isInclusive =
    form.input === 'all' || (form.input === 'by-size' && !isBesideReads(stated, reads, input))
  const apart = [
    without(audio, readAudio),
    without(image, readImage),
    ...(isInclusive ? [reads, writes] : []),
  ]
  const miss = of('cacheMiss')
  if (miss !== null && reads !== null && input !== null && miss + reads !== input)
    flags.add('hit+miss')
  const uncached = rest(input, apart, 'parts>prompt')

  const output = of('output')
  const reasoning = of('reasoning')
  const total = of('total')
  const prompt = input === null ? null : input + (isInclusive ? 0 : sumKnown([reads, writes]))
  const isBeside =
    form.output === 'visible' ||
    (form.output === 'by-total' &&
      prompt !== null &&
      output !== null &&
      total === prompt + output + (reasoning ?? 0))
  const visible = rest(
    output,
    [isBeside ? null : reasoning, of('outputAudio'), of('outputImage')],
    'parts>output',
  )

  let totalIs: Usage['totalIs'] = null
  if (total !== null && input !== null && output !== null) {
    const inner = new Set([input + output, prompt! + output])
    const withReasoning = new Set([...inner].map((sum) => sum + (reasoning ?? 0)))
    if (inner.has(total)) totalIs = 'input+output'
    else if (withReasoning.has(total)) totalIs = 'input+output+reasoning'
    else flags.add('total')
    if ((reasoning ?? 0) === 0) totalIs = null
  }
  return {
    parts: {
      input_uncached: uncached,
      cache_read: reads === null ? null : Math.max(0, reads - (readAudio ?? 0)),
      cache_read_audio: readAudio,
      cache_write: writes === null ? null : Math.max(0, writes - (lives1h ?? 0)),
      cache_write_1h: lives1h,
      input_audio: apart[0]!,
      input_image: apart[1]!,
      output_visible: visible,
      reasoning,
      output_audio: of('outputAudio'),
      output_image: of('outputImage'),
      citation: of('citation'),
    },
    calls: {},
    flags: [...flags],
    totalIs,
    named: null,
    passes: [],
    unread: [],
  }
}

/** Whether an input leaves its reads out, where only its counts show that. */
function isBesideReads(
  { output, reasoning, total }: StatedCounts,
  reads: number | null,
  input: number | null,
): boolean {
  if (reads === null || input === null || reads === 0) return false
  if (reads > input) return true
  const thoughts = reasoning ?? 0
  const rest = (total ?? Number.NaN) - input - (output ?? 0)
  return rest !== 0 && rest !== thoughts && (rest === reads || rest === reads + thoughts)
}

/** Nothing is reported. */
export const unknownUsage: Usage = normalUsage({}, { input: 'all', output: 'all' })

/** The whole prompt, with what was read from and written to a cache; null if it is unknown. */
export function promptOf(of: Parts): number | null {
  return of.input_uncached === null ? null : sumKnown(inputParts.map((part) => of[part]))
}

/** What of the prompt was neither read from a cache nor written to one; null if it is unknown. */
export function freshOf(of: Parts): number | null {
  const fresh = inputParts.filter((part) => !part.startsWith('cache_'))
  return of.input_uncached === null ? null : sumKnown(fresh.map((part) => of[part]))
}

/** Everything generated, with reasoning; null if it is unknown. */
export function outputOf(of: Parts): number | null {
  return of.output_visible === null ? null : sumKnown(outputParts.map((part) => of[part]))
}

function sumKnown(counts: readonly (number | null)[]): number {
  return counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)
}
