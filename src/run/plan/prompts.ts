import { z } from 'zod'
import type { Message } from '../../client/call/request.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import type { Step } from '../../scenario/steps.ts'
import { tokensOf } from '../../schedule/draw.ts'
import { RandomStream } from '../../schedule/random.ts'
import { jsonOf } from '../../user/json.ts'
import { readTextOr } from '../../user/read-text.ts'
import { userError } from '../../user/user-error.ts'
import { ScriptText } from './script-text.ts'
import { TokenText } from './token-text.ts'

/** The prompts that a step draws from; null for a step whose requests have one each. */
export type PromptPool = readonly PooledPrompt[] | null

/** A user message, or a whole conversation with its images and tools. */
export type PooledPrompt =
  | string
  | {
      readonly messages: readonly Message[]
      /** Fields of the body, such as `tools` and `response_format`. */
      readonly fields: Readonly<Record<string, unknown>>
      /** What the user says in each turn of a conversation, if a file has whole ones. */
      readonly turns?: readonly string[]
    }

/** Prompt of a request that is wrong on purpose, and the only one of a pool without prompts. */
const plainPrompt = 'Write one sentence about the sea.'

/**
 * The prompts that each step draws from; null for a step whose requests have one each.
 *
 * @throws UserError for a file that cannot be read or has no prompts
 */
export const promptPools = (scenario: Scenario, seed: number): readonly PromptPool[] =>
  scenario.steps.map((step) => poolOf(step, seed))

function poolOf(step: Step, seed: number): PromptPool {
  const { prompt } = step
  switch (prompt.kind) {
    case 'text':
      return [prompt.text]
    case 'file':
      return linesOf(step, prompt.path)
    case 'sentence':
      return step.wrong === null ? null : [plainPrompt]
    case 'synthetic': {
      const pool = prompt.pool ?? (step.wrong === null ? null : 1)
      if (pool === null) return null
      const lengths = new RandomStream(seed, `lengths of ${step.name}`)
      const { script, between } = prompt
      const text = new TokenText(seed)
      const scripts = new ScriptText(seed)
      return Array.from({ length: pool }, (_, index) => {
        const size = tokensOf(prompt.tokens, lengths, index)
        return script === 'words'
          ? text.text(size, index)
          : scripts.text(script, size, index, between)
      })
    }
    case 'function':
      return null
  }
}

function linesOf({ name: step, session }: Step, path: string): readonly PooledPrompt[] {
  const unread = `Step ${step} takes its prompts from ${path}, which cannot be read. Its path is relative to the scenario's folder.`
  const text = readTextOr(path, () => userError.run(unread))
  const prompts =
    conversationsOf(text, path, session !== null) ??
    text
      .split(/\r?\n/)
      .filter((line) => line.trim() !== '')
      .map((line, at) => promptOf(line, `${path}, line ${at + 1}`, session !== null))
  if (prompts.length === 0) {
    throw userError.run(`Step ${step} takes its prompts from ${path}, which has none.`)
  }
  return prompts
}

/** Fields of a prompt that go into the body with its messages. */
const fieldNames = ['tools', 'tool_choice', 'parallel_tool_calls', 'response_format'] as const

/** A turn of a conversation: ShareGPT has `from` and `value`, others `role` and `content`. */
const said = z
  .looseObject({
    from: z.string().optional(),
    role: z.string().optional(),
    value: z.string().optional(),
    content: z.string().optional(),
  })
  .transform(({ from, role, value, content }) => ({ by: from ?? role, text: value ?? content }))

/** A prompt, a conversation of ShareGPT's form, or messages with their fields. */
const promptRecord = z.looseObject({
  prompt: z.string().optional(),
  conversations: z.array(said).optional(),
  messages: z.array(z.looseObject({ role: z.string() })).optional(),
})

/** @param isWhole whether all questions of a conversation are said, or only its first @returns null without a question */
function pooled(
  { prompt, conversations = [], messages = [], ...rest }: z.infer<typeof promptRecord>,
  isWhole: boolean,
): PooledPrompt | null {
  if (prompt !== undefined) return prompt
  const turns = conversations.flatMap(({ by, text }) =>
    (by === 'human' || by === 'user') && text !== undefined && text.trim() !== '' ? [text] : [],
  )
  if (turns.length > 0) {
    const system = conversations[0]!.by === 'system' ? conversations[0]!.text : undefined
    if (!isWhole) return turns[0]!
    const before = system === undefined ? [] : [{ role: 'system', content: system }]
    return { messages: [...before, { role: 'user', content: turns[0]! }], fields: {}, turns }
  }
  // Messages of the model at the end are the response that the request asks for.
  const to = messages.findLastIndex(({ role }) => role !== 'assistant') + 1
  const fields = Object.fromEntries(
    fieldNames.flatMap((name) => (Object.hasOwn(rest, name) ? [[name, rest[name]]] : [])),
  )
  return to === 0 ? null : { messages: messages.slice(0, to), fields }
}

/**
 * The prompts of a ShareGPT file, one list of conversations; null for any other file.
 *
 * @throws UserError for a list that is cut off, or of other things
 */
function conversationsOf(
  text: string,
  path: string,
  isWhole: boolean,
): readonly PooledPrompt[] | null {
  // A prompt may begin with a bracket, such as [INST].
  if (!/^\s*\[\s*\{/.test(text)) return null
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw userError.run(
      `${path} begins as a JSON list, and is none: it is cut off, or has a comma too many.`,
    )
  }
  const list = z.array(promptRecord).safeParse(value)
  if (!list.success) {
    throw userError.run(
      `${path}: expected a list of objects with a text "prompt", or a list "conversations" or "messages".`,
    )
  }
  // A conversation without a user message has no prompt.
  return list.data.map((record) => pooled(record, isWhole)).filter((prompt) => prompt !== null)
}

/** A line is a prompt; a JSON object gives its `prompt` or its messages. */
function promptOf(line: string, place: string, isWhole: boolean): PooledPrompt {
  if (!line.trimStart().startsWith('{')) return line
  const { data } = promptRecord.safeParse(jsonOf(line))
  const prompt = data === undefined ? null : pooled(data, isWhole)
  if (prompt !== null) return prompt
  throw userError.run(
    `${place}: expected a prompt, or a JSON object with a text "prompt" or a list "messages".`,
  )
}
