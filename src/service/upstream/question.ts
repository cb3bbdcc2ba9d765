import type { Call } from '../call.ts'
import { chatMessages, chatTools } from './tool-question.ts'

/** The body of the request to the upstream. It is a chat completion for both formats. */
export function questionOf(call: Call, model: string, maxOutputTokens: number): object {
  const request = call.request!
  const shared = {
    model,
    // Always sent, so that the contract's defaults apply and not the upstream's.
    max_tokens: Math.min(request.maxTokens, maxOutputTokens),
    temperature: request.temperature,
    top_p: request.topP,
    stream: request.stream,
  }
  const body = JSON.parse(call.body.toString('utf8')) as Record<string, unknown>
  if (request.format === 'chat') {
    // It is in max_tokens. Many servers refuse both.
    const renamed = { max_completion_tokens: undefined }
    return { ...body, ...shared, ...renamed, ...usageWanted(request.stream, body.stream_options) }
  }
  const { metadata } = body
  const user =
    typeof metadata === 'object' && metadata !== null && 'user_id' in metadata
      ? metadata.user_id
      : undefined
  return {
    ...shared,
    messages: [
      ...(request.system === null ? [] : [{ role: 'system', content: request.system }]),
      ...chatMessages(body.messages as Parameters<typeof chatMessages>[0]),
    ],
    ...chatTools(body),
    ...(request.stop.length > 0 ? { stop: request.stop } : {}),
    ...(typeof user === 'string' ? { user } : {}),
    ...usageWanted(request.stream, null),
  }
}

/** Streams report their usage only on request. */
function usageWanted(stream: boolean, given: unknown): object {
  if (!stream) return { stream_options: undefined }
  const options = typeof given === 'object' && given !== null ? given : {}
  return { stream_options: { ...options, include_usage: true } }
}
