import { z } from 'zod'
import type { Scenario, Step } from '../scenario/scenario.ts'
import { tokensOf } from '../schedule/draw.ts'
import { RandomStream } from '../schedule/random.ts'
import { readText } from '../user/read-text.ts'
import { UserError } from '../user/user-error.ts'
import type { PooledPrompt, PromptPool } from './messages.ts'
import { TokenText } from './token-text.ts'

/** Prompt of a request that is wrong on purpose, and the only one of a pool without prompts. */
const plainPrompt = 'Write one sentence about the sea.'

/**
 * The prompts that each step draws from; null for a step whose requests have one each.
 *
 * @throws UserError for a file that cannot be read or has no prompts
 */
export function promptPools(scenario: Scenario, seed: number): readonly PromptPool[] {
  return scenario.steps.map((step) => poolOf(step, seed))
}

function poolOf(step: Step, seed: number): PromptPool {
  const { prompt } = step
  switch (prompt.kind) {
    case 'text':
      return [prompt.text]
    case 'file':
      return linesOf(step.name, prompt.path)
    case 'sentence':
      return step.wrong === null ? null : [plainPrompt]
    case 'synthetic': {
      const pool = prompt.pool ?? (step.wrong === null ? null : 1)
      if (pool === null) return null
      const lengths = new RandomStream(seed, `lengths of ${step.name}`)
      const text = new TokenText(seed)
      return Array.from({ length: pool }, (_, index) =>
        text.text(tokensOf(prompt.tokens, lengths, index), index),
      )
    }
    case 'function':
      return null
  }
}

function linesOf(step: string, path: string): readonly PooledPrompt[] {
  let text: string
  try {
    text = readText(path)
  } catch (error) {
    if (error instanceof UserError) throw error
    throw new UserError(
      'run',
      `Step ${step} takes its prompts from ${path}, which cannot be read. Its path is relative to the scenario's folder.`,
    )
  }
  const prompts =
    conversationsOf(text) ??
    text
      .split(/\r?\n/)
      .filter((line) => line.trim() !== '')
      .map((line, at) => promptOf(line, `${path}, line ${at + 1}`))
  if (prompts.length === 0) {
    throw new UserError('run', `Step ${step} takes its prompts from ${path}, which has none.`)
  }
  return prompts
}

/** Fields of a prompt that go into the body with its messages. */
const fieldNames = ['tools', 'tool_choice', 'parallel_tool_calls', 'response_format'] as const

/** A prompt, the first question of a ShareGPT conversation, or messages with their fields. */
const promptRecord = z
  .looseObject({
    prompt: z.string().optional(),
    conversations: z.array(z.object({ from: z.string(), value: z.string() })).optional(),
    messages: z.array(z.looseObject({ role: z.string() })).optional(),
  })
  .transform(({ prompt, conversations, messages = [], ...rest }): PooledPrompt | null => {
    if (prompt !== undefined) return prompt
    const turn = conversations?.find(({ from }) => from === 'human' || from === 'user')?.value
    if (turn !== undefined) return turn
    // Messages of the model at the end are the response that the request asks for.
    const to = messages.findLastIndex(({ role }) => role !== 'assistant') + 1
    const fields = Object.fromEntries(
      fieldNames.flatMap((name) => (name in rest ? [[name, rest[name]]] : [])),
    )
    return to === 0 ? null : { messages: messages.slice(0, to), fields }
  })

/** The prompts of a ShareGPT file, one list of conversations; null for any other file. */
function conversationsOf(text: string): readonly PooledPrompt[] | null {
  if (!text.trimStart().startsWith('[')) return null
  try {
    const list = z.array(promptRecord).safeParse(JSON.parse(text))
    // A conversation without a user message has no prompt.
    return list.success ? list.data.filter((prompt) => prompt !== null) : null
  } catch {
    return null
  }
}

/** A line is a prompt; a JSON object gives its `prompt` or its messages. */
function promptOf(line: string, place: string): PooledPrompt {
  if (!line.trimStart().startsWith('{')) return line
  try {
    const { data } = promptRecord.safeParse(JSON.parse(line))
    if (data !== undefined && data !== null) return data
  } catch {
    // The error below names the line.
  }
  throw new UserError(
    'run',
    `${place}: expected a prompt, or a JSON object with a text "prompt" or a list "messages".`,
  )
}
