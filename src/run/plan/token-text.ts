import type { TraceRequest } from '../../schedule/traces/trace.ts'

/**
 * Words that the tokenizer (o200k, of gpt-tokenizer) keeps as one token each, with a space before and without.
 */
export const words =
  'time year people way day man thing woman life child world school state family student group country problem hand part place case week company system program question work number night point home water room mother area money story fact month lot right study book eye job word business issue side kind head house service friend father power hour game line end member law car city name team minute idea kid body information back parent face others level office door health person art war history party result change food reason research girl road moment air teacher force education'.split(
    ' ',
  )

/** Words of the mark at the start of a unique text: 6 bits each, so six hold any 32-bit number. */
const markWords = words.slice(0, 64)
const markTokens = 6

export class TokenText {
  private readonly seed: number

  constructor(seed: number) {
    this.seed = seed >>> 0
  }

  /**
   * Text of exactly this many tokens. With six or more, no two indexes below 2^32 have the same first six: a service
   * with a prefix cache reuses less than one block of it.
   */
  unique(tokens: number, index: number): string {
    let mark = Math.imul(index ^ this.seed, 0x9e3779b1) >>> 0
    mark = Math.imul(mark ^ (mark >>> 15), 0x85ebca6b) >>> 0
    const marked: string[] = []
    for (let at = 0; at < Math.min(tokens, markTokens); at++) {
      marked.push(markWords[mark & 63]!)
      mark >>>= 6
    }
    const start = marked.join(' ')
    return tokens > markTokens ? `${start} ${this.text(tokens - markTokens, index)}` : start
  }

  /** @returns text of exactly this many tokens, different for each index */
  text(tokens: number, index: number): string {
    let state = Math.imul(this.seed ^ (index + 0x9e3779b9), 0x85ebca6b) >>> 0
    let text = ''
    for (let at = 0; at < tokens; at++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      const word = words[(state >>> 16) % words.length]!
      text += at === 0 ? word : ` ${word}`
    }
    return text
  }

  /**
   * The prompt of a request in a trace. Blocks with the same id have the same text, so that a service can
   * reuse cached prefixes. Tokens without a block have the request's own text.
   *
   * @param tokensPerBlock of each block but the last, which may be partial
   */
  prompt(
    { inputTokens, hashIds }: Pick<TraceRequest, 'inputTokens' | 'hashIds'>,
    tokensPerBlock: number | null,
    index: number,
  ): string {
    const pieces: string[] = []
    let left = inputTokens
    for (const id of hashIds) {
      if (left <= 0 || tokensPerBlock === null) break
      // Negative, because indexes of requests are not.
      pieces.push(this.text(Math.min(tokensPerBlock, left), -1 - id))
      left -= tokensPerBlock
    }
    if (left > 0) pieces.push(this.text(left, index))
    return pieces.join(' ')
  }
}
