import { jsonOf } from '../../user/json.ts'
import type { Behaviour, Piece, StreamEvent } from '../behaviour.ts'
import type { Call } from '../call.ts'
import { closeBlock, type Message, named, openBlock } from '../format/messages.ts'
import type { Choice } from '../generate.ts'
import type { Profile } from '../profile.ts'
import { BrokenStream } from './events.ts'
import { faultInTools } from './tool-question.ts'

/**
 * The upstream decides about everything that chat bodies ask for. Tools of the messages format are
 * sent to it in the chat format. What cannot be translated is refused as an invalid request, because to drop it
 * silently would charge for another request.
 */
export function toolRequests(
  honest: Pick<Behaviour, 'fits' | 'rules'>,
  { messagesStream }: Profile,
): Pick<Behaviour, 'fits' | 'rules'> {
  return {
    rules(call) {
      const rules = { ...honest.rules(call), relayed: true }
      return call.endpoint === 'messages' ? { ...rules, images: false } : rules
    },
    fits(call) {
      // Most requests have no tools. The search saves them a second parse.
      if (call.endpoint !== 'messages' || !call.body.includes('"tool')) return honest.fits(call)
      const body = JSON.parse(call.body.toString('utf8')) as Readonly<Record<string, unknown>>
      const fault =
        messagesStream === 'chat-chunks' && call.request?.stream === true && body.tools
          ? 'tools: not translated into streams of chat chunks'
          : faultInTools(body)
      return fault === null ? honest.fits(call) : { kind: 'request', message: fault }
    },
  }
}

/** A tool call in the chat format, or a part of one. */
interface ToolCall {
  readonly index?: number
  readonly id?: string
  readonly function?: { readonly name?: string; readonly arguments?: string }
}

function callsIn(from: object | null | undefined): readonly ToolCall[] {
  const calls = (from as { readonly tool_calls?: unknown } | null | undefined)?.tool_calls
  return Array.isArray(calls) ? (calls as readonly ToolCall[]) : []
}

/** The names and arguments of the tool calls in a message or a delta, whose tokens are counted. */
export function calledText(from: object): string {
  return callsIn(from)
    .map(({ function: called }) => `${called?.name ?? ''}${called?.arguments ?? ''}`)
    .join('')
}

/**
 * The tool_use blocks of a whole answer.
 *
 * @throws BrokenStream for arguments that are not JSON
 */
export function toolUsesOf(choice: Choice | undefined): readonly object[] {
  return callsIn(choice?.relayed?.message).map(({ id, function: called }) => {
    const input = jsonOf(called?.arguments || '{}')
    if (input === undefined) throw new BrokenStream('arguments of a tool that are not JSON')
    return { type: 'tool_use', id, name: called?.name, input }
  })
}

/** Adds the tool calls to a message. */
export function withToolUses(made: Message, choice: Choice | undefined): object {
  const uses = toolUsesOf(choice)
  if (uses.length === 0) return made
  const content = made.content.filter((block) => block.type !== 'text' || block.text !== '')
  const stop_reason = choice?.finish === 'length' ? made.stop_reason : 'tool_use'
  return { ...made, content: [...content, ...uses], stop_reason }
}

/** Events of the tool calls in a piece. Each call is a block of its own. */
export function toolEvents(call: Call, piece: Piece): readonly StreamEvent[] {
  return callsIn(piece.relayed).flatMap(({ index = 0, id, function: called }) => {
    const { name, arguments: more = '' } = called ?? {}
    const opening =
      call.block?.tool === index
        ? []
        : [
            ...closeBlock(call),
            ...openBlock(call, 'tool_use', { type: 'tool_use', id, name, input: {} }, index),
          ]
    if (more === '') return opening
    const delta = { type: 'input_json_delta', partial_json: more }
    return [...opening, named('content_block_delta', { index: call.block!.index, delta })]
  })
}

/** The end of a stream. Its stop reason depends on whether the last block is a tool call. */
export function withToolEnd(
  events: readonly StreamEvent[],
  choice: Choice | undefined,
): readonly StreamEvent[] {
  if (choice?.finish === 'length') return events
  return events.map((event) => {
    if (event.name !== 'message_delta') return event
    const { delta } = event.data as { readonly delta: object }
    return { ...event, data: { ...event.data, delta: { ...delta, stop_reason: 'tool_use' } } }
  })
}
