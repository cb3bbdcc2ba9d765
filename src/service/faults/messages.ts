import type { Behaviour } from '../behaviour.ts'
import type { Call } from '../call.ts'
import type { RequestRules } from '../request/rules.ts'
import { editMessage } from './completion.ts'
import { type Fault, fault } from './fault.ts'

const messagesRules = (honest: Behaviour, bend: Partial<RequestRules>) => ({
  rules(call: Call) {
    const rules = honest.rules(call)
    return call.endpoint === 'messages' ? { ...rules, ...bend } : rules
  },
})

export const messagesFaults: readonly Fault[] = [
  fault('message-content-string', 'MSG-01', 'content is a string', (honest) =>
    editMessage(honest, (message) => ({
      ...message,
      content: message.content.map((block) => ('text' in block ? block.text : '')).join(''),
    })),
  ),
  fault('stop-sequence-echo', 'MSG-02', 'stop_sequence is the list of the request', (honest) =>
    editMessage(honest, (message, { request }) =>
      request!.stop.length === 0 ? message : { ...message, stop_sequence: request!.stop },
    ),
  ),
  fault('messages-max-tokens-defaulted', 'MSG-03', 'max_tokens may be missing', (honest) =>
    messagesRules(honest, { required: ['model', 'messages'] }),
  ),
  fault('messages-system-role', 'MSG-04', 'the role system is accepted', (honest) =>
    messagesRules(honest, { roles: ['system', 'user', 'assistant'] }),
  ),
  fault('messages-temperature-2', 'MSG-05', 'temperature goes up to 2', (honest) =>
    messagesRules(honest, { temperature: { min: 0, max: 2 } }),
  ),
  fault('messages-five-stops', 'MSG-06', 'five stop sequences are accepted', (honest) =>
    messagesRules(honest, { maxStops: 5 }),
  ),
  fault('system-dropped', 'MSG-07', 'the system prompt lowers input_tokens', (honest) => ({
    promptTokens: (call, request) =>
      request.system === null
        ? honest.promptTokens(call, request)
        : honest.promptTokens(call, { ...request, system: null }) - 1,
  })),
]
