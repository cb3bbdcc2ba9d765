import { ChatAnthropic } from '@langchain/anthropic'
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'
import { apiKey, baseUrl, calls, model } from './said.js'

const chat = new ChatOpenAI({
  model,
  apiKey,
  maxTokens: 50,
  maxRetries: 0,
  configuration: { baseURL: `${baseUrl}/v1` },
})
const messages = new ChatAnthropic({
  model,
  apiKey,
  maxTokens: 50,
  maxRetries: 0,
  anthropicApiUrl: baseUrl,
})
const schema = z.object({ name: z.string(), age: z.number().int() })
const add = tool(({ a, b }) => a + b, {
  name: 'add',
  description: 'Adds two numbers',
  schema: z.object({ a: z.number(), b: z.number() }),
})

const of = (name, llm) => ({
  [`${name} invoke`]: async () => {
    const system = new SystemMessage({ content: [{ type: 'text', text: 'Be brief.' }] })
    const { content, usage_metadata: usage } = await llm.invoke([
      system,
      new HumanMessage('Say: one two'),
    ])
    return { content, total: usage.total_tokens === usage.input_tokens + usage.output_tokens }
  },
  [`${name} stream`]: async () => {
    let whole
    for await (const part of await llm.stream('Say: one two')) whole = whole?.concat(part) ?? part
    return { text: whole.text, output: whole.usage_metadata.output_tokens }
  },
  [`${name} structured`]: async () =>
    Object.keys(await llm.withStructuredOutput(schema).invoke('Say hello')),
  [`${name} tools`]: async () => {
    const bound = llm.bindTools([add], { tool_choice: 'any' })
    return (await bound.invoke('Go')).tool_calls.map(({ name, args }) => [name, Object.keys(args)])
  },
  [`${name} tool result`]: async () => {
    const question = new HumanMessage('Use add')
    const first = await llm.bindTools([add]).invoke([question])
    const [call] = first.tool_calls
    const result = new ToolMessage({ content: '5', tool_call_id: call.id })
    const before = new AIMessage({ content: first.content, tool_calls: first.tool_calls })
    const last = await llm.bindTools([add]).invoke([question, before, result])
    return { called: call.name, calls: last.tool_calls.length, text: last.text !== '' }
  },
})

await calls({ ...of('chat', chat), ...of('messages', messages) })
