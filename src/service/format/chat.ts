import { createHash } from 'node:crypto'
import { onceForEach } from '../../user/once.ts'
import type { Piece, StreamEvent, StreamMoment, Usage } from '../behaviour.ts'
import type { Call } from '../call.ts'
import { type Answer, type Choice, textOf } from '../generate.ts'
import type { Profile } from '../profile.ts'
import { inlineThinking } from './thinking.ts'

const fingerprintOf = onceForEach(
  (model: string) => `fp_${createHash('sha256').update(model).digest('hex').slice(0, 10)}`,
)

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
    readonly message: { readonly role: 'assistant'; readonly content: string | null }
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

export const isChunk = (data: object): data is ChatChunk => 'choices' in data

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
      message: { role: 'assistant' as const, ...chatMessage(call, choice, index, profile) },
      finish_reason: finishReason(choice),
    })),
    usage: usageObject(usage),
  }
}

/** A tool call that the limit cut off ends as any other text does. */
const finishReason = ({ finish, tool }: Choice): string =>
  tool !== undefined && finish === 'stop' ? 'tool_calls' : finish

function toolCall(call: Call, index: number, name: string, given: string) {
  const id = `call_${call.incoming.id}_${index}`
  return { id, type: 'function', function: { name, arguments: given } }
}

function chatMessage(call: Call, choice: Choice, index: number, profile: Profile) {
  if (choice.tool === undefined) return chatContent(choice, profile)
  const { content, ...thought } = chatContent({ ...choice, pieces: [] }, profile)
  const calls = [toolCall(call, index, choice.tool, textOf(choice.pieces))]
  return { content: content === '' ? null : content, ...thought, tool_calls: calls }
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
      const last = moment.answer.choices.map((choice, index) =>
        chunk([{ index, delta: {}, finish_reason: finishReason(choice), ...inside }]),
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

function deltaOf(call: Call, { text, reasoning, choice, tool }: Piece, profile: Profile): object {
  if (tool !== undefined) return toolDelta(call, choice, tool, text)
  if (profile.reasoning === 'inline') {
    return { content: inlineThinking(call, choice, text, reasoning) }
  }
  if (!reasoning) return { content: text }
  return profile.reasoning === 'field' ? { reasoning_content: text } : { reasoning: text }
}

/** The first part of a call names it. */
function toolDelta(call: Call, choice: number, name: string, given: string): object {
  if (call.calling.has(choice)) {
    return { tool_calls: [{ index: 0, function: { arguments: given } }] }
  }
  call.calling = new Set(call.calling).add(choice)
  const thought = call.thinking.has(choice)
    ? { content: inlineThinking(call, choice, '', false) }
    : {}
  return { ...thought, tool_calls: [{ index: 0, ...toolCall(call, choice, name, given) }] }
}
