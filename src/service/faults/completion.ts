import type { Behaviour, StreamEvent } from '../behaviour.ts'
import type { Call } from '../call.ts'
import { type ChatChunk, type ChatCompletion, isChunk } from '../format/chat.ts'
import type { Message } from '../format/messages.ts'

export function editChat(
  honest: Behaviour,
  edit: <Part extends ChatCompletion | ChatChunk>(part: Part, call: Call) => object,
): Pick<Behaviour, 'completion' | 'events'> {
  return {
    completion(call, answer, usage) {
      const body = honest.completion(call, answer, usage)
      return call.endpoint === 'chat' ? edit(body as ChatCompletion, call) : body
    },
    events: editChunks(honest, edit),
  }
}

/** Changes the chunks of chat streams. */
export function editChunks(
  honest: Behaviour,
  edit: (chunk: ChatChunk, call: Call) => object,
): Behaviour['events'] {
  return (call, moment) =>
    honest
      .events(call, moment)
      .map(
        (event): StreamEvent =>
          isChunk(event.data) ? { ...event, data: edit(event.data, call) } : event,
      )
}

/** Changes whole messages. */
export function editMessage(
  honest: Behaviour,
  edit: (message: Message, call: Call) => object,
): Pick<Behaviour, 'completion'> {
  return {
    completion(call, answer, usage) {
      const body = honest.completion(call, answer, usage)
      return call.endpoint === 'messages' ? edit(body as Message, call) : body
    },
  }
}
