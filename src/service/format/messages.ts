import type { StreamEvent, StreamMoment, Usage } from '../behaviour.ts'
import type { Call } from '../call.ts'
import { type Answer, type Choice, textOf } from '../generate.ts'
import type { Profile } from '../profile.ts'
import { inlineThinking } from './thinking.ts'

const stopReasons = { length: 'max_tokens', stop: 'end_turn' } as const

function stopReason({ finish, stopSequence, tool }: Choice): string {
  if (tool !== undefined && finish === 'stop') return 'tool_use'
  return stopSequence === null ? stopReasons[finish] : 'stop_sequence'
}

/** A content block. Text blocks are the specification's; thinking blocks are one answer to G-01. */
export type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | {
      readonly type: 'tool_use'
      readonly id: string
      readonly name: string
      readonly input: unknown
    }

/** A message (§2.6). */
export interface Message {
  readonly id: string
  readonly type: 'message'
  readonly role: 'assistant'
  readonly content: readonly Block[]
  readonly model: string
  readonly stop_reason: string
  readonly stop_sequence: string | null
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number }
}

export function message(
  call: Call,
  id: string,
  answer: Answer,
  usage: Usage,
  profile: Profile,
): Message {
  const choice = answer.choices[0]!
  return {
    id,
    type: 'message',
    role: 'assistant',
    content: blocksOf(call, choice, profile),
    model: call.model?.id ?? '',
    stop_reason: stopReason(choice),
    stop_sequence: choice.stopSequence,
    usage: { input_tokens: usage.promptTokens, output_tokens: usage.completionTokens },
  }
}

function blocksOf(call: Call, choice: Choice, profile: Profile): readonly Block[] {
  if (choice.tool === undefined) return textBlocks(choice, profile)
  const before = textBlocks({ ...choice, pieces: [] }, profile)
  return [
    ...before.filter((block) => !('text' in block && block.text === '')),
    { ...toolUse(call, choice.tool), input: inputOf(choice) },
  ]
}

function toolUse(call: Call, name: string) {
  return { type: 'tool_use' as const, id: `toolu_${call.incoming.id}`, name, input: {} }
}

/** Half a call has no input that could be read. */
const inputOf = ({ finish, pieces }: Choice): unknown =>
  finish === 'length' ? {} : JSON.parse(textOf(pieces))

function textBlocks({ reasoning, pieces }: Choice, profile: Profile): readonly Block[] {
  const text = textOf(pieces)
  const thought = reasoning.join('')
  if (thought === '' || profile.reasoning === 'nowhere') return [{ type: 'text', text }]
  return profile.reasoning === 'inline'
    ? [{ type: 'text', text: `<think>${thought}</think>${text}` }]
    : [
        { type: 'thinking', thinking: thought, signature: '' },
        { type: 'text', text },
      ]
}

/**
 * Events of a messages stream. The specification leaves its format open (G-10):
 *
 *     message_start  (content_block_start  content_block_delta*  content_block_stop)+
 *     message_delta  message_stop
 */
export function messageEvents(
  call: Call,
  id: string,
  moment: StreamMoment,
  profile: Profile,
): readonly StreamEvent[] {
  switch (moment.at) {
    case 'start':
      return [
        named('message_start', {
          message: {
            id,
            type: 'message',
            role: 'assistant',
            content: [],
            model: call.model?.id ?? '',
            stop_reason: null,
            stop_sequence: null,
            usage: { input_tokens: call.promptTokens, output_tokens: 0 },
          },
        }),
      ]
    case 'pieces':
      return moment.pieces.flatMap((piece) =>
        piece.tool === undefined
          ? delta(call, piece.text, piece.reasoning, profile)
          : toolDelta(call, piece.tool, piece.text, profile),
      )
    case 'end': {
      const choice = moment.answer.choices[0]!
      return [
        ...(call.block === null ? openBlock(call, 'text', emptyBlocks.text) : []),
        // An empty text opens no block, so the reasoning may still be open.
        ...closeBlock(call),
        named('message_delta', {
          delta: { stop_reason: stopReason(choice), stop_sequence: choice.stopSequence },
          usage: { output_tokens: moment.usage.completionTokens },
        }),
        named('message_stop', {}),
      ]
    }
    case 'failure':
      return [named('error', { error: { type: 'api_error', message: moment.refusal.message } })]
  }
}

export function named(name: string, fields: object): StreamEvent {
  return { name, data: { type: name, ...fields } }
}

function delta(
  call: Call,
  text: string,
  reasoning: boolean,
  profile: Profile,
): readonly StreamEvent[] {
  const inline = profile.reasoning === 'inline'
  const kind = reasoning && !inline ? 'thinking' : 'text'
  const opening =
    call.block?.kind === kind
      ? []
      : [...closeBlock(call), ...openBlock(call, kind, emptyBlocks[kind])]
  const shown = inline ? inlineThinking(call, 0, text, reasoning) : text
  return [
    ...opening,
    named('content_block_delta', {
      index: call.block!.index,
      delta:
        kind === 'text'
          ? { type: 'text_delta', text: shown }
          : { type: 'thinking_delta', thinking: shown },
    }),
  ]
}

function toolDelta(
  call: Call,
  name: string,
  given: string,
  profile: Profile,
): readonly StreamEvent[] {
  const thought = call.thinking.size > 0 ? delta(call, '', false, profile) : []
  const opening =
    call.block?.kind === 'tool_use'
      ? []
      : [...closeBlock(call), ...openBlock(call, 'tool_use', toolUse(call, name))]
  return [
    ...thought,
    ...opening,
    named('content_block_delta', {
      index: call.block!.index,
      delta: { type: 'input_json_delta', partial_json: given },
    }),
  ]
}

/** @param tool the index of the call of a tool_use block */
export function openBlock(
  call: Call,
  kind: NonNullable<Call['block']>['kind'],
  content_block: object,
  tool?: number,
): readonly StreamEvent[] {
  call.block = { kind, index: call.nextBlock++, ...(tool === undefined ? {} : { tool }) }
  return [named('content_block_start', { index: call.block.index, content_block })]
}

const emptyBlocks = {
  text: { type: 'text', text: '' },
  thinking: { type: 'thinking', thinking: '', signature: '' },
}

export function closeBlock(call: Call): readonly StreamEvent[] {
  if (call.block === null) return []
  const { index } = call.block
  call.block = null
  return [named('content_block_stop', { index })]
}
