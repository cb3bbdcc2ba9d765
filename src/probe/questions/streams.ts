import { pricesOf } from '../prices.ts'
import { at, isRefused, type ProbeResponse, textOf } from '../probe-response.ts'
import { answered, notAskable, ofFacets, oneGap, type Question } from '../question.ts'

/** G-10: how the messages format streams. */
export const messagesStream = oneGap('G-10', {
  price: ({ contract }) => pricesOf(contract).least,
  async ask(prober) {
    const response = await prober.messages({ stream: true }, { expects: 'any' })
    if (isRefused(response))
      return answered({ framing: `status ${response.status}` }, 'stream: true refused')
    if (response.columns.outcome !== 'ok') return notAskable(notServed(response))
    const types = [...new Set(response.chunks.map((chunk) => at(chunk, 'type')))].filter(
      (type) => typeof type === 'string',
    )
    const framing =
      types.length > 0
        ? 'named events'
        : response.chunks.some((chunk) => at(chunk, 'choices') !== undefined)
          ? 'chat chunks'
          : response.events.length === 0
            ? 'JSON'
            : 'other'
    return answered({ framing, events: types as string[] }, `${response.events.length} events`)
  },
})

/** G-11: what a chat stream carries, with and without a request for usage. */
export const chatStream = oneGap('G-11', {
  price: ({ contract }) => 2 * pricesOf(contract).least,
  async ask(prober) {
    const plain = await prober.chat({ stream: true })
    if (plain.columns.outcome !== 'ok') return notAskable(notServed(plain))
    const asked = await prober.chat(
      { stream: true, body: { stream_options: { include_usage: true } } },
      { expects: 'any' },
    )
    if (asked.columns.outcome !== 'ok' && !isRefused(asked)) return notAskable(notServed(asked))
    const has = (...path: readonly (string | number)[]) =>
      plain.chunks.some((chunk) => ![undefined, null].includes(at(chunk, ...path) as null))
    return ofFacets(
      {
        usage: usageIn(plain),
        'usage when asked': isRefused(asked) ? `status ${asked.status}` : usageIn(asked),
        role: has('choices', 0, 'delta', 'role'),
        finish_reason: has('choices', 0, 'finish_reason'),
        object: [...new Set(plain.chunks.map((chunk) => String(at(chunk, 'object') ?? 'absent')))],
      },
      `${plain.chunks.length} chunks unasked, ${asked.chunks.length} asked`,
    )
  },
})

function usageIn(response: ProbeResponse): string {
  const bearing = response.chunks.filter((chunk) => {
    const usage = at(chunk, 'usage')
    return typeof usage === 'object' && usage !== null
  })
  const [first] = bearing
  if (first === undefined) {
    const inside = response.chunks.some((chunk) => at(chunk, 'choices', 0, 'usage') != null)
    return inside ? 'inside a choice' : 'none'
  }
  if (bearing.length > 1) return 'several chunks'
  const choices = at(first, 'choices')
  if (Array.isArray(choices) && choices.length === 0) return 'chunk without choices'
  return first === response.chunks.at(-1) ? 'last chunk' : 'chunk before the last'
}

/** G-01, G-05: where reasoning appears, and which blocks a message has. */
export const reasoning: Question = {
  gaps: ['G-01', 'G-05'],
  price: ({ contract }) => 5 * pricesOf(contract).most,
  async ask(prober) {
    const model = prober.contract.models.find((candidate) => candidate.reasoning)?.id
    if (model === undefined) {
      const why = 'the contract has no reasoning model'
      return { 'G-01': notAskable(why), 'G-05': notAskable(why) }
    }
    const ask = {
      model,
      maxTokens: 256,
      messages: [{ role: 'user', content: 'What is 17 times 23? Think step by step.' }],
    }
    const responses = {
      chat: await prober.chat(ask),
      'chat stream': await prober.chat({ ...ask, stream: true }),
      messages: await prober.messages(ask),
      'messages stream': await prober.messages({ ...ask, stream: true }),
    }
    const plain = await prober.messages()
    const blocks = [responses.messages, plain].flatMap((response) => {
      const content = at(response.json, 'content')
      return Array.isArray(content) ? content.map((block) => String(at(block, 'type'))) : []
    })
    const streamed = responses['messages stream'].chunks
      .map((chunk) => at(chunk, 'content_block', 'type'))
      .filter((type) => typeof type === 'string')
    const places = Object.entries(responses).flatMap(([name, response]) => {
      const place = placeOf(response)
      return place === null ? [] : [[name, place] as const]
    })
    const served = [responses.messages, responses['messages stream'], plain].some(
      ({ columns }) => columns.outcome === 'ok',
    )
    return {
      'G-01':
        places.length > 0
          ? ofFacets(Object.fromEntries(places), `model ${model}`)
          : notAskable(notServed(responses.chat)),
      'G-05': served
        ? answered(
            { types: [...new Set([...blocks, ...(streamed as string[])])].sort() },
            `${blocks.length} blocks of messages, ${streamed.length} of a stream`,
          )
        : notAskable(notServed(plain)),
    }
  },
}

/** Where the reasoning is; null if this response does not show it. */
function placeOf(response: ProbeResponse): string | { oneOf: readonly string[] } | null {
  if (isRefused(response)) return `status ${response.status}`
  if (response.columns.outcome !== 'ok') return null
  const all = response.spec.stream ? response.chunks : [response.json]
  const found = (...path: readonly (string | number)[]) =>
    all.some((value) => {
      const text = at(value, ...path)
      return typeof text === 'string' && text !== ''
    })
  for (const holder of ['message', 'delta']) {
    for (const field of ['reasoning_content', 'reasoning', 'thinking']) {
      if (found('choices', 0, holder, field)) return field
    }
  }
  const blocks = all.flatMap((value) => {
    const content = at(value, 'content')
    return Array.isArray(content) ? content : [at(value, 'content_block'), at(value, 'delta')]
  })
  if (blocks.some((block) => /thinking|reasoning/.test(String(at(block, 'type')))))
    return 'thinking block'
  // A template may open the thought itself, so the text may have only its end.
  if (/<\/?think/i.test(textOf(response))) return 'inline <think>'
  const cutOff = ['length', 'max_tokens'].includes(response.columns.finishReason ?? '')
  return cutOff ? { oneOf: ['inline <think>', 'nowhere'] } : 'nowhere'
}

const notServed = ({ status, columns }: ProbeResponse): string =>
  `it was not served: ${status === null ? 'no status' : `status ${status}`}, ${columns.outcome}`
