import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { Scenario, Step } from '../scenario/scenario.ts'
import { tokensOf } from '../schedule/draw.ts'
import { RandomStream } from '../schedule/random.ts'
import { UserError } from '../user/user-error.ts'
import type { PromptPool } from './messages.ts'
import { TokenText } from './token-text.ts'

/**
 * The prompts that each step draws from.
 *
 * @throws UserError for a file that cannot be read or holds none
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
    case 'synthetic': {
      const lengths = new RandomStream(seed, `lengths of ${step.name}`)
      const text = new TokenText(seed)
      return Array.from({ length: prompt.pool }, (_, index) =>
        text.text(tokensOf(prompt.tokens, lengths, index), index),
      )
    }
    case 'function':
      return null
  }
}

function linesOf(step: string, path: string): readonly string[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    throw new UserError(
      'run',
      `Step ${step} takes its prompts from ${path}, which cannot be read. Its path starts from the folder of the scenario.`,
    )
  }
  const prompts =
    conversationsOf(text) ??
    text
      .split(/\r?\n/)
      .filter((line) => line.trim() !== '')
      .map((line, at) => promptOf(line, `${path}, line ${at + 1}`))
  if (prompts.length === 0) {
    throw new UserError('run', `Step ${step} takes its prompts from ${path}, which holds none.`)
  }
  return prompts
}

/** What the person of a conversation asks first: of ShareGPT, and of a list of messages. */
const firstAsked = z
  .object({
    prompt: z.string().optional(),
    conversations: z.array(z.object({ from: z.string(), value: z.string() })).optional(),
    messages: z.array(z.object({ role: z.string(), content: z.unknown() })).optional(),
  })
  .transform(({ prompt, conversations, messages }) => {
    const turn = conversations?.find(({ from }) => from === 'human' || from === 'user')?.value
    const content = messages?.find(({ role }) => role === 'user')?.content
    return prompt ?? turn ?? (typeof content === 'string' ? content : null)
  })

/** The prompts of a file in the manner of ShareGPT, one list of conversations; null for any other. */
function conversationsOf(text: string): readonly string[] | null {
  if (!text.trimStart().startsWith('[')) return null
  try {
    const list = z.array(firstAsked).safeParse(JSON.parse(text))
    // A conversation that a model begins holds nothing to ask.
    return list.success ? list.data.filter((prompt) => prompt !== null) : null
  } catch {
    return null
  }
}

/** A line is a prompt; one that is a JSON object gives its `prompt`, or the first user message. */
function promptOf(line: string, place: string): string {
  if (!line.trimStart().startsWith('{')) return line
  try {
    const { data } = firstAsked.safeParse(JSON.parse(line))
    if (typeof data === 'string') return data
  } catch {
    // Told below.
  }
  throw new UserError(
    'run',
    `${place}: expected a prompt, or a JSON object with a text "prompt" or a list "messages".`,
  )
}
