import { createHash } from 'node:crypto'
import { takesPrompt } from '../../contract/request.ts'
import type { Step } from '../../scenario/steps.ts'
import { tokensOf } from '../../schedule/draw.ts'
import { RandomStream } from '../../schedule/random.ts'
import { onceForEach } from '../../user/once.ts'
import { ScriptText } from './script-text.ts'
import { TokenText } from './token-text.ts'

/** What a step without a prompt asks about its words. */
const ask = ': write one sentence about these words.'
const wordsOfSentence = 8

/** Tokens of text that is not English, as costs are planned: one for each three bytes. */
const mostTokensOf = (text: string) => Math.ceil(Buffer.byteLength(text) / 3)

/** The prompt of one request. */
export interface UniquePrompt {
  readonly text: string
  /** Prompts of equal length share a template in the store. */
  readonly tokens: number
  /** Whether its body is kept as it is, since others of its length have other tokens. */
  readonly isKept: boolean
}

/**
 * The prompts of a step, another in each request: no request meets the prefix cache of another, of its own run or of
 * an earlier one. Lengths and groups follow from the seed, the words from the seed and the run.
 */
export class UniquePrompts {
  private readonly prompt: UniquePromptKind
  private readonly words: TokenText
  private readonly scripts: ScriptText
  private readonly lengths: RandomStream
  private readonly groups: RandomStream
  private readonly prefixOf: (group: number) => string

  constructor(step: string, prompt: UniquePromptKind, seed: number, runId: string) {
    this.prompt = prompt
    this.words = new TokenText(saltOf(seed, runId, step))
    this.scripts = new ScriptText(saltOf(seed, runId))
    this.lengths = new RandomStream(seed, `lengths of ${step}`)
    this.groups = new RandomStream(seed, `groups of ${step}`)
    const prefixTokens = prompt.kind === 'synthetic' ? (prompt.prefix?.tokens ?? 0) : 0
    // Negative, because slots are not.
    this.prefixOf = onceForEach((group) => this.words.text(prefixTokens, -1 - group))
  }

  /** @param slot the number of the request in the run */
  of(slot: number): UniquePrompt {
    const { prompt } = this
    if (prompt.kind === 'sentence') {
      const text = this.words.unique(wordsOfSentence, slot) + ask
      return { text, tokens: wordsOfSentence, isKept: false }
    }
    const size = tokensOf(prompt.tokens, this.lengths, slot)
    const { prefix, script, between } = prompt
    const isKept = script !== 'words'
    const own = isKept
      ? this.scripts.text(script, size, slot, between)
      : this.words.unique(size, slot)
    const tokens = isKept ? Math.max(size, mostTokensOf(own)) : size
    if (prefix === null) return { text: own, tokens, isKept }
    const all = prefix.tokens + tokens
    if (prefix.texts === null && !isKept)
      return { text: this.words.unique(all, slot), tokens: all, isKept }
    const group = prefix.texts === null ? slot : Math.floor(this.groups.at(slot) * prefix.texts)
    return { text: `${this.prefixOf(group)} ${own}`, tokens: all, isKept }
  }
}

type UniquePromptKind = Extract<Step['prompt'], { kind: 'synthetic' | 'sentence' }>

/** The prompts of a step whose requests have one each; null for any other step. */
export function uniquePromptsOf(
  { name, endpoint, prompt, wrong }: Step,
  seed: number,
  runId: string,
): UniquePrompts | null {
  const isUnique =
    takesPrompt(endpoint) &&
    wrong === null &&
    (prompt.kind === 'sentence' || (prompt.kind === 'synthetic' && prompt.pool === null))
  return isUnique ? new UniquePrompts(name, prompt, seed, runId) : null
}

/** A seed of words that follows from all of these. */
export const saltOf = (...parts: readonly unknown[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest().readUInt32LE(0)
