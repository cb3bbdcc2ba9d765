import { readFileSync } from 'node:fs'
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
  const prompts = text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .map((line, at) => promptOf(line, `${path}, line ${at + 1}`))
  if (prompts.length === 0) {
    throw new UserError('run', `Step ${step} takes its prompts from ${path}, which holds none.`)
  }
  return prompts
}

/** A line is a prompt; one that is a JSON object gives its `prompt`. */
function promptOf(line: string, place: string): string {
  if (!line.trimStart().startsWith('{')) return line
  try {
    const { prompt } = JSON.parse(line) as { readonly prompt?: unknown }
    if (typeof prompt === 'string') return prompt
  } catch {
    // Told below.
  }
  throw new UserError('run', `${place}: expected a prompt, or a JSON object with a text "prompt".`)
}
