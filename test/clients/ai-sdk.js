import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { generateObject, generateText, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'
import { apiKey, baseUrl, calls, model } from './said.js'

const chat = createOpenAI({ apiKey, baseURL: `${baseUrl}/v1` }).chat(model)
const messages = createAnthropic({ apiKey, baseURL: `${baseUrl}/v1` })(model)
const schema = z.object({ name: z.string(), age: z.number().int().min(3).max(3) })
const add = tool({
  description: 'Adds two numbers',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
})

const of = (name, languageModel) => ({
  [`${name} text`]: async () => {
    const { text, finishReason, usage } = await generateText({
      model: languageModel,
      instructions: 'Be brief.',
      prompt: 'Say: one two',
      maxOutputTokens: 20,
    })
    return { text, finishReason, input: usage.inputTokens > 5, output: usage.outputTokens }
  },
  [`${name} stream`]: async () => {
    const result = streamText({ model: languageModel, prompt: 'Say: one two' })
    let text = ''
    for await (const part of result.textStream) text += part
    return { text, finishReason: await result.finishReason }
  },
  [`${name} object`]: async () =>
    (await generateObject({ model: languageModel, schema, prompt: 'Say hello' })).object,
  [`${name} agent`]: async () => {
    const { steps, text } = await generateText({
      model: languageModel,
      tools: { add },
      stopWhen: stepCountIs(3),
      prompt: 'Use add on two numbers',
    })
    return { steps: steps.map(({ finishReason }) => finishReason), text: text !== '' }
  },
  [`${name} tool stream`]: async () => {
    const result = streamText({
      model: languageModel,
      tools: { add },
      toolChoice: 'required',
      prompt: 'Go',
    })
    return (await result.toolCalls).map(({ toolName, input }) => [toolName, Object.keys(input)])
  },
})

await calls({ ...of('chat', chat), ...of('messages', messages) })
