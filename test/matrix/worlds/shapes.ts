import { type Ask, answeredBy, outputTokens, type Pass, promptTokens } from './asks.ts'

/** An answer without text, which counts no output. */
export const isMute = ({ ended }: Pick<Ask, 'ended'>) => ended === 'empty' || ended === 'filtered'

/** A usage as each dialect writes it. @param isBare without the details that are 0 */
export function usageOf(ask: Ask, isBare: boolean): Record<string, unknown> {
  if (ask.other === 'transcriptions')
    return { type: 'duration', seconds: (ask.soundTenths ?? 0) / 10 }
  if (ask.other === 'embeddings') {
    const prompt = promptTokens(ask.counts)
    // Some gateways count an output of embeddings, which is 0.
    const output = isBare ? {} : { completion_tokens: 0 }
    return { prompt_tokens: prompt, ...output, total_tokens: prompt }
  }
  const { passes } = ask
  const usage = textUsage(ask, isBare)
  return passes === undefined
    ? usage
    : { ...usage, iterations: passes.map((pass) => iteration(ask, pass, isBare)) }
}

const iteration = (ask: Ask, { kind, model, counts }: Pass, isBare: boolean) => ({
  type: kind,
  ...(model === null ? {} : { model }),
  ...textUsage({ ...ask, counts, searches: 0 }, isBare),
})

function textUsage(
  { counts, dialect, searches, ended, silent = [] }: Ask,
  isBare: boolean,
): Record<string, unknown> {
  const isEmpty = isMute({ ended })
  const { input, cache_read, cache_write, cache_write_1h } = counts
  const output = isEmpty ? 0 : outputTokens(counts)
  const calls = searches === 0 ? {} : { server_tool_use: { web_search_requests: searches } }
  const some = (of: Readonly<Record<string, number>>) =>
    Object.fromEntries(
      Object.entries(of).filter(
        ([name, count]) => !silent.includes(name) && (!isBare || count > 0),
      ),
    )
  if (dialect === 'chat')
    return {
      ...{ prompt_tokens: promptTokens(counts), completion_tokens: output },
      total_tokens: promptTokens(counts) + output,
      prompt_tokens_details: some({ cached_tokens: cache_read, cache_write_tokens: cache_write }),
      completion_tokens_details: some({ reasoning_tokens: isEmpty ? 0 : counts.reasoning }),
      ...calls,
    }
  return {
    input_tokens: input,
    ...some({
      cache_read_input_tokens: cache_read,
      cache_creation_input_tokens: cache_write + cache_write_1h,
    }),
    ...(isBare && cache_write + cache_write_1h === 0
      ? {}
      : {
          cache_creation: {
            ephemeral_5m_input_tokens: cache_write,
            ephemeral_1h_input_tokens: cache_write_1h,
          },
        }),
    output_tokens: output,
    ...calls,
  }
}

/** The answer as its bytes came. @param cost what its usage states, or null */
export function answerText(
  ask: Ask,
  usage: Readonly<Record<string, unknown>>,
  id: string,
  cost: string | null,
): string {
  if (ask.ended === 'refused') return JSON.stringify({ error: { message: 'no' } })
  if (ask.other !== undefined) return otherAnswer(ask, usage, cost)
  const head = { id, model: answeredBy(ask), ...(ask.isFlex ? { service_tier: 'flex' } : {}) }
  const priced = (of: object) => (cost === null ? of : { ...of, cost: 'the cost' })
  const write = (document: object) =>
    JSON.stringify(document).replace('"the cost"', cost ?? '"the cost"')
  const answer = isMute(ask) ? '' : `answer to ${ask.prompt}`
  const isChat = ask.dialect === 'chat'
  if (!ask.isStream) {
    const said = isChat
      ? { choices: [{ message: { role: 'assistant', content: answer } }] }
      : { type: 'message', content: [{ type: 'text', text: answer }] }
    return write({ ...head, ...said, usage: priced(usage) })
  }
  const event = (data: object) => `data: ${write(data)}\n\n`
  const { output_tokens, iterations, ...start } = usage
  const first = isChat
    ? event({ ...head, choices: [{ delta: { content: answer } }] })
    : event({
        type: 'message_start',
        message: {
          ...head,
          usage: { ...start, output_tokens: Math.min(3, Number(output_tokens)) },
        },
      })
  if (ask.ended === 'broken') return `${first}${event({ error: { message: 'broke off' } })}`
  if (ask.ended === 'abort') return first
  return isChat
    ? `${first}${event({ ...head, choices: [], usage: priced(usage) })}data: [DONE]\n\n`
    : `${first}${event({ type: 'message_delta', usage: priced({ output_tokens, iterations }) })}${event({ type: 'message_stop' })}`
}

/** Answers of other endpoints have no id. */
function otherAnswer(
  { other, model }: Ask,
  usage: Readonly<Record<string, unknown>>,
  cost: string | null,
): string {
  const said =
    other === 'embeddings'
      ? { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5] }], model }
      : { text: 'Hello.' }
  const priced = cost === null ? usage : { ...usage, cost: 'the cost' }
  return JSON.stringify({ ...said, usage: priced }).replace('"the cost"', cost ?? '"the cost"')
}
