/** A prompt with codes in it, and which of them its answer has. */
export interface CodeTrial {
  readonly tokens: number
  /** In order of depth. */
  readonly codes: readonly CodeAt[]
}

export interface CodeAt {
  /** Share of the prompt before the code. */
  readonly depth: number
  readonly isFound: boolean
}

/** A part of a prompt none of whose codes was found. */
export interface Hole {
  readonly from: number
  readonly to: number
}

export type ContextResult =
  | { readonly is: 'unseen' }
  | { readonly is: 'pass'; readonly found: number; readonly of: number; readonly hole?: Hole }
  | { readonly is: 'fail'; readonly again: number; readonly hole: Hole }
  | {
      readonly is: 'inconclusive'
      readonly why: 'control' | 'no-control' | 'again' | 'few-hits'
      readonly hole?: Hole
      readonly hits: number
      readonly of: number
    }

/** A prompt of this share of the window or more is one of the whole window. */
export const fullShare = 0.9
export const leastCodes = 20
/** Nobody truncates a prompt of so few tokens: it shows whether the model can list codes at all. */
export const mostControlTokens = 3_000
/** Share of the codes that a model finds in a short prompt. */
const controlled = 0.9
/** Misses in a row that are a hole, and so many later codes inside it that decide. */
const longest = 5
export const leastAgain = 40
/** So many later codes of a hole are not guessed: one succeeds once in a million. */
const enoughHits = 4
/** The edges of a hole are not sure. */
const trimmed = 0.15

/**
 * Whether a prompt of the whole window was read: SOLD-03. Codes that are missing in a row are a hole; later prompts ask for
 * others inside it. A model that recalls a share f anywhere is accused with a chance of at most `(1 - f)^40`.
 */
export function judgeContext(trials: readonly CodeTrial[], windowTokens: number): ContextResult {
  const full = trials.filter(({ tokens }) => tokens >= fullShare * windowTokens)
  if (full.length === 0) return { is: 'unseen' }
  const short = trials.filter(
    ({ tokens }) => tokens <= mostControlTokens && tokens < windowTokens / 2,
  )
  const all = short.flatMap(({ codes }) => codes)
  const known = all.filter(({ isFound }) => isFound).length
  if (all.length === 0) return { is: 'inconclusive', why: 'no-control', hits: 0, of: 0 }
  if (known < controlled * all.length)
    return { is: 'inconclusive', why: 'control', hits: known, of: all.length }
  const at = full.findIndex(({ codes }) => holeOf(codes) !== null)
  if (at < 0) return { is: 'pass', ...foundOf(full.flatMap(({ codes }) => codes)) }
  const hole = holeOf(full[at]!.codes)!
  const margin = (hole.to - hole.from) * trimmed
  const again = full
    .slice(at + 1)
    .flatMap(({ codes }) => codes)
    .filter(({ depth }) => depth >= hole.from + margin && depth < hole.to - margin)
  const { found: hits, of } = foundOf(again)
  if (hits >= enoughHits) return { is: 'pass', ...foundOf(full[at]!.codes), hole }
  if (hits > 0) return { is: 'inconclusive', why: 'few-hits', hole, hits, of }
  return of >= leastAgain
    ? { is: 'fail', again: of, hole }
    : { is: 'inconclusive', why: 'again', hole, hits, of }
}

const foundOf = (codes: readonly CodeAt[]) => ({
  found: codes.filter(({ isFound }) => isFound).length,
  of: codes.length,
})

/** The longest run of missing codes, from its first to its last; null if it is too short. */
function holeOf(codes: readonly CodeAt[]): Hole | null {
  let [from, length] = [0, 0]
  let run = 0
  for (const [at, { isFound }] of codes.entries()) {
    run = isFound ? 0 : run + 1
    if (run > length) [from, length] = [at - run + 1, run]
  }
  if (length < longest) return null
  return {
    from: from === 0 ? 0 : codes[from]!.depth,
    to: from + length === codes.length ? 1 : codes[from + length - 1]!.depth,
  }
}
