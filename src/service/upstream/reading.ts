import { isObject, jsonOf } from '../../user/json.ts'
import { onceForEach } from '../../user/once.ts'
import type { Secrets } from '../../user/secrets/secrets.ts'
import { StreamedText } from '../../user/secrets/streamed-text.ts'
import type { Piece } from '../behaviour.ts'
import type { Answer, Choice } from '../generate.ts'
import { countTokens } from '../tokens.ts'
import { BrokenStream } from './events.ts'
import { calledText } from './tools.ts'

type Json = Readonly<Record<string, unknown>>

/** The part of a choice that has arrived. */
interface Draft {
  text: string
  reasoning: string
  /** The names and arguments of its tool calls. */
  called: string
  finish: string | null
  /** The stop sequence that ended it, if the upstream names it. */
  stopSequence: string | null
  message: Json | null
}

/** Assembles an upstream's answer, whole or chunk by chunk. */
export class Reading {
  readonly #choices = new Map<number, Draft>()
  readonly #promptTokens: number
  readonly #stops: readonly string[]
  readonly #n: number
  readonly #secrets: Secrets
  #usage: { readonly prompt: number; readonly completion: number } | null = null

  /**
   * @param promptTokens our own count, used if the upstream has none
   * @param asked the number of choices and the stop sequences
   * @param secrets of the upstream, which clients do not see
   */
  constructor(
    promptTokens: number,
    asked: { readonly n: number; readonly stop: readonly string[] },
    secrets: Secrets,
  ) {
    this.#secrets = secrets
    this.#promptTokens = promptTokens
    this.#stops = asked.stop
    this.#n = asked.n
  }

  /**
   * Reads one chunk of a stream and returns its pieces.
   *
   * @throws BrokenStream for an invalid chunk, or an error in its place
   */
  chunk(data: string): readonly Piece[] {
    const raw = parseObject(data)
    const chunk = withoutSecrets(raw, data, this.#secrets)
    if (chunk.error !== undefined) {
      throw new BrokenStream(`an error in the stream: ${JSON.stringify(chunk.error)}`)
    }
    this.#readUsage(chunk.usage)
    const pieces: Piece[] = []
    const deltas = listOf(raw.choices).map(({ delta }) => delta)
    for (const [nth, choice] of listOf(chunk.choices).entries()) {
      const index = typeof choice.index === 'number' ? choice.index : 0
      const draft = this.#draft(index)
      const delta = isObject(deltas[nth]) ? this.#streamed(deltas[nth], `${index}`) : {}
      const text = textOf(delta.content)
      const reasoning = reasoningOf(delta)
      draft.text += text
      draft.reasoning += reasoning
      draft.called += calledText(delta)
      this.#readFinish(draft, choice)
      if (saysSomething(delta)) {
        const isReasoning = text === '' && reasoning !== ''
        pieces.push({
          choice: index,
          text: isReasoning ? reasoning : text,
          reasoning: isReasoning,
          relayed: delta,
        })
      }
    }
    return pieces
  }

  /**
   * Reads a whole completion.
   *
   * @throws BrokenStream for an invalid one
   */
  whole(data: string): Answer {
    const body = withoutSecrets(parseObject(data), data, this.#secrets)
    this.#readUsage(body.usage)
    for (const choice of listOf(body.choices)) {
      if (!isObject(choice.message)) throw new BrokenStream('a choice without a message')
      const draft = this.#draft(typeof choice.index === 'number' ? choice.index : 0)
      draft.text = textOf(choice.message.content)
      draft.reasoning = reasoningOf(choice.message)
      draft.called = calledText(choice.message)
      draft.message = choice.message
      this.#readFinish(draft, choice)
    }
    if (!this.isWhole()) throw new BrokenStream('an incomplete completion')
    return this.answer()
  }

  /** Whether exactly the requested choices arrived, and all of them ended. */
  isWhole(): boolean {
    if (this.#choices.size !== this.#n) return false
    return [...this.#choices].every(([index, { finish }]) => index < this.#n && finish !== null)
  }

  answer(): Answer {
    const drafts = [...this.#choices].sort(([a], [b]) => a - b).map(([, draft]) => draft)
    const ownCount = () =>
      drafts
        .flatMap(({ text, reasoning, called }) => [text, reasoning, called])
        .reduce((sum, each) => sum + countTokens(each), 0)
    return {
      choices: drafts.map(choiceOf),
      promptTokens: this.#usage?.prompt ?? this.#promptTokens,
      completionTokens: this.#usage?.completion ?? ownCount(),
    }
  }

  /** A delta without parts of a secret that is split over several. */
  #streamed(delta: Json, path: string): Json {
    const next = (value: unknown, at: string): unknown => {
      if (typeof value === 'string') return this.#textAt(at).next(value)
      if (Array.isArray(value)) {
        return value.map((each, nth) =>
          next(each, `${at}/${isObject(each) ? (each.index ?? nth) : nth}`),
        )
      }
      return isObject(value) ? this.#streamed(value, at) : value
    }
    return Object.fromEntries(
      Object.entries(delta).map(([name, value]) => [
        this.#secrets.without(name),
        next(value, `${path}/${name}`),
      ]),
    )
  }

  /** Texts of deltas, by choice and place. */
  readonly #textAt = onceForEach((_path: string) => new StreamedText(this.#secrets))

  #draft(index: number): Draft {
    let draft = this.#choices.get(index)
    if (draft === undefined) {
      draft = {
        text: '',
        reasoning: '',
        called: '',
        finish: null,
        stopSequence: null,
        message: null,
      }
      this.#choices.set(index, draft)
    }
    return draft
  }

  #readFinish(draft: Draft, { finish_reason, stop_reason }: Json): void {
    if (typeof finish_reason === 'string') draft.finish = finish_reason
    if (typeof stop_reason === 'string' && this.#stops.includes(stop_reason)) {
      draft.stopSequence = stop_reason
    }
  }

  #readUsage(usage: unknown): void {
    if (!isObject(usage)) return
    const { prompt_tokens: prompt, completion_tokens: completion } = usage
    if (isCount(prompt) && isCount(completion)) this.#usage = { prompt, completion }
  }
}

function choiceOf({ text, reasoning, finish, stopSequence, message }: Draft): Choice {
  return {
    reasoning: reasoning === '' ? [] : [reasoning],
    pieces: [text],
    finish: finish === 'length' ? 'length' : 'stop',
    stopSequence,
    relayed: { message, finishReason: finish ?? 'stop' },
  }
}

/** False for a chunk with only the role or the end of a choice: the service makes its own. */
function saysSomething(delta: Json): boolean {
  return Object.entries(delta).some(
    ([name, value]) => name !== 'role' && value !== null && value !== '',
  )
}

/** Servers use one of two names. */
const reasoningOf = (from: Json): string => textOf(from.reasoning_content) || textOf(from.reasoning)

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

const listOf = (value: unknown): readonly Json[] =>
  Array.isArray(value) ? value.filter(isObject) : []

function parseObject(data: string): Json {
  const value = jsonOf(data)
  if (value === undefined) throw new BrokenStream('data that is not JSON')
  if (!isObject(value)) throw new BrokenStream('data that is not a JSON object')
  return value
}

const withoutSecrets = (value: Json, data: string, secrets: Secrets): Json =>
  secrets.without(data) === data ? value : (cleaned(value, secrets) as Json)

/** A value without secrets in its texts and names. */
function cleaned(value: unknown, secrets: Secrets): unknown {
  if (typeof value === 'string') return secrets.without(value)
  if (Array.isArray(value)) return value.map((each) => cleaned(each, secrets))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [secrets.without(name), cleaned(each, secrets)]),
  )
}
