import { chatEvents } from '../format/chat.ts'
import type { AnswerLayer } from './answer.ts'

/**
 * Two other ways to stream in the messages format, which the specification leaves open (G-10):
 * chunks of the chat format, or no stream. Then one JSON body answers `stream: true`.
 */
export const messagesStream: AnswerLayer = (below, { profile }) => {
  switch (profile.messagesStream) {
    case 'named-events':
      return {}
    case 'chat-chunks':
      return {
        events: (call, moment) =>
          call.endpoint === 'messages'
            ? chatEvents(call, below.responseId(call), moment, profile)
            : below.events(call, moment),
        ending: () => 'data: [DONE]\n\n',
      }
    case 'json':
      return {
        rules: (call) => {
          const rules = below.rules(call)
          return call.endpoint === 'messages' ? { ...rules, streams: false } : rules
        },
      }
  }
}
