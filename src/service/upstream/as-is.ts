import type { Behaviour, StreamEvent } from '../behaviour.ts'
import type { Message } from '../format/messages.ts'
import type { Choice } from '../generate.ts'
import { toolEvents, withToolEnd, withToolUses } from './tools.ts'

type Shapes = Pick<Behaviour, 'completion' | 'events'>

interface ChatBody {
  readonly choices: readonly { readonly index: number }[]
}

/**
 * Passes the upstream's chat answers on in our own envelope. Messages and deltas may hold more than
 * text (tool calls, log probabilities) and have other finish reasons. In the messages format they
 * are translated, with their tool calls.
 */
export function asIs(honest: Shapes): Shapes {
  const messageEvents: Shapes['events'] = (call, moment) => {
    if (moment.at === 'pieces') {
      return moment.pieces.flatMap((piece) => [
        ...(piece.text === '' ? [] : honest.events(call, { at: 'pieces', pieces: [piece] })),
        ...toolEvents(call, piece),
      ])
    }
    const usesTools = call.block?.kind === 'tool_use'
    const made = honest.events(call, moment)
    return usesTools && moment.at === 'end' ? withToolEnd(made, moment.answer.choices[0]) : made
  }
  return {
    completion(call, answer, usage) {
      const made = honest.completion(call, answer, usage)
      if (call.endpoint !== 'chat') return withToolUses(made as Message, answer.choices[0])
      const choices = (made as ChatBody).choices.map((choice, at) => ({
        ...choice,
        ...relayedEnd(answer.choices[at]),
      }))
      return { ...made, choices }
    },
    events(call, moment) {
      if (call.endpoint !== 'chat') return messageEvents(call, moment)
      const made = honest.events(call, moment)
      switch (moment.at) {
        case 'pieces':
          // One chunk for each piece.
          return made.map((event, at) => {
            const delta = moment.pieces[at]?.relayed
            return delta === undefined ? event : withChoice(event, { delta })
          })
        case 'end':
          // The first chunks end one choice each.
          return made.map((event, at) => {
            const { finish_reason } = relayedEnd(moment.answer.choices[at])
            return finish_reason === undefined ? event : withChoice(event, { finish_reason })
          })
        default:
          return made
      }
    },
  }
}

/** The message and the reason of the upstream, for a choice that is passed on. */
function relayedEnd(choice: Choice | undefined): { message?: object; finish_reason?: string } {
  if (choice?.relayed === undefined) return {}
  const { message, finishReason } = choice.relayed
  return { finish_reason: finishReason, ...(message === null ? {} : { message }) }
}

/** A chunk has one choice. */
function withChoice({ name, data }: StreamEvent, fields: object): StreamEvent {
  const { choices } = data as ChatBody
  return { name, data: { ...data, choices: choices.map((choice) => ({ ...choice, ...fields })) } }
}
