import { createHash } from 'node:crypto'
import type { Piece, StreamEvent, StreamMoment, Usage } from '../behaviour.ts'
import type { Call } from '../call.ts'
import { type Answer, type Choice, textOf } from '../generate.ts'
import type { Profile } from '../profile.ts'
import { inlineThinking } from './thinking.ts'

const fingerprints = new Map<string, string>()

function fingerprintOf(model: string): string {
  let fingerprint = fingerprints.get(model)
  if (fingerprint === undefined) {
    fingerprint = `fp_${createHash('sha256').update(model).digest('hex').slice(0, 10)}`
    fingerprints.set(model, fingerprint)
  }
  return fingerprint
}

function envelope(call: Call, id: string, object: string): Envelope {
  const model = call.model?.id ?? ''
  return {
    id,
    object,
    created: Math.floor(call.incoming.atUs / 1e6),
    model,
    system_fingerprint: fingerprintOf(model),
  }
}

export function usageObject({ promptTokens, completionTokens, totalTokens }: Usage) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: totalTokens,
  }
}

interface Envelope {
  readonly id: string
  readonly object: string
  /** Unix seconds. */
  readonly created: number
  readonly model: string
  readonly system_fingerprint: string
}

/** A chat completion (§2.5). */
export interface ChatCompletion extends Envelope {
  readonly choices: readonly {
    readonly index: number
    readonly message: { readonly role: 'assistant'; readonly content: string }
    readonly finish_reason: string | null
  }[]
  readonly usage: ReturnType<typeof usageObject>
}

/** A chunk of a chat stream (§6). */
export interface ChatChunk extends Envelope {
  readonly choices: readonly {
    readonly index: number
    readonly delta: object
    readonly finish_reason: string | null
    readonly usage?: ReturnType<typeof usageObject>
  }[]
  readonly usage?: ReturnType<typeof usageObject>
}

export function isChunk(data: object): data is ChatChunk {
  return 'choices' in data
}

export function chatCompletion(
  call: Call,
  id: string,
  answer: Answer,
  usage: Usage,
  profile: Profile,
): ChatCompletion {
  return {
    ...envelope(call, id, 'chat.completion'),
    choices: answer.choices.map((choice, index) => ({
      index,
      message: { role: 'assistant' as const, ...chatContent(choice, profile) },
      finish_reason: choice.finish,
    })),
    usage: usageObject(usage),
  }
}

function chatContent({ reasoning, pieces }: Choice, profile: Profile) {
  const content = textOf(pieces)
  if (reasoning.length === 0) return { content }
  const thought = reasoning.join('')
  switch (profile.reasoning) {
    case 'field':
      return { content, reasoning_content: thought }
    case 'short-field':
      return { content, reasoning: thought }
    case 'inline':
      return { content: `<think>${thought}</think>${content}` }
    case 'nowhere':
      return { content }
  }
}

/** Chunks of a chat stream (§6). */
export function chatEvents(
  call: Call,
  id: string,
  moment: StreamMoment,
  profile: Profile,
): readonly StreamEvent[] {
  const chunk = (
    choices: ChatChunk['choices'],
    more: Pick<ChatChunk, 'usage'> = {},
  ): StreamEvent => {
    const data: ChatChunk = { ...envelope(call, id, 'chat.completion.chunk'), choices, ...more }
    return { name: null, data }
  }
  switch (moment.at) {
    case 'start':
      return Array.from({ length: call.request?.n ?? 1 }, (_, index) =>
        chunk([{ index, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
      )
    case 'pieces':
      return moment.pieces.map((piece) =>
        chunk([{ index: piece.choice, delta: deltaOf(call, piece, profile), finish_reason: null }]),
      )
    case 'end': {
      const inside = profile.streamUsage === 'in-choice' ? { usage: usageObject(moment.usage) } : {}
      const last = moment.answer.choices.map(({ finish }, index) =>
        chunk([{ index, delta: {}, finish_reason: finish, ...inside }]),
      )
      const asked = profile.streamUsage === 'when-asked' && call.request?.includeUsage === true
      return asked || profile.streamUsage === 'always'
        ? [...last, chunk([], { usage: usageObject(moment.usage) })]
        : last
    }
    case 'failure':
      return []
  }
}

function deltaOf(call: Call, { text, reasoning, choice }: Piece, profile: Profile): object {
  if (profile.reasoning === 'inline') {
    return { content: inlineThinking(call, choice, text, reasoning) }
  }
  if (!reasoning) return { content: text }
  return profile.reasoning === 'field' ? { reasoning_content: text } : { reasoning: text }
}
