import type { Behaviour, Kit } from '../behaviour.ts'
import { chatCompletion, chatEvents } from '../format/chat.ts'
import { message, messageEvents } from '../format/messages.ts'
import { errorBody, wireError } from '../refusal.ts'

type Wire = Pick<
  Behaviour,
  | 'responseId'
  | 'completion'
  | 'events'
  | 'frame'
  | 'ending'
  | 'wireError'
  | 'errorBody'
  | 'headers'
  | 'respond'
>

export function honestWire({ contract, profile }: Kit, responseId: Behaviour['responseId']): Wire {
  const names = Object.values(contract.headers).map(([name]) => name)
  const exposed = [...names, 'retry-after', 'date', 'x-request-id'].join(', ')
  return {
    responseId: ({ endpoint, incoming }) =>
      endpoint === 'messages' ? `msg_${incoming.id}` : `chatcmpl-${incoming.id}`,
    completion: (call, answer, usage) =>
      call.endpoint === 'messages'
        ? message(call, responseId(call), answer, usage, profile)
        : chatCompletion(call, responseId(call), answer, usage, profile),
    events: (call, moment) =>
      call.endpoint === 'messages'
        ? messageEvents(call, responseId(call), moment, profile)
        : chatEvents(call, responseId(call), moment, profile),
    frame: (_call, { name, data }) =>
      name === null
        ? `data: ${JSON.stringify(data)}\n\n`
        : `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`,
    ending: (call) => (call.endpoint === 'messages' ? '' : 'data: [DONE]\n\n'),
    wireError: (call, refusal) =>
      wireError(refusal, call.format ?? profile.sharedErrorShape, contract, profile),
    errorBody: (_call, error) => errorBody(error),
    headers(_call, _status, headers) {
      headers['access-control-allow-origin'] = '*'
      headers['access-control-expose-headers'] = exposed
      return headers
    },
    respond: (_call, response) => response,
  }
}
