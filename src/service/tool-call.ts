import { seededRandom } from './random.ts'
import type { GenerationRequest, JsonSchema, Tool } from './request/generation-request.ts'
import { valueFor } from './request/schema-value.ts'

/**
 * The tool that the model calls; null if it answers with text. A choice of the client decides. Left
 * to the model, it calls the first tool that the user's last message names, once: the result of a
 * tool is answered with text.
 */
export function toolToCall({ tools, toolChoice, messages }: GenerationRequest): Tool | null {
  switch (toolChoice.kind) {
    case 'none':
      return null
    case 'required':
      return tools[0] ?? null
    case 'named':
      return tools.find(({ name }) => name === toolChoice.name) ?? null
    case 'auto': {
      if (tools.length === 0) return null
      const last = messages.at(-1)
      if (last?.role !== 'user' || last.answersTool) return null
      return tools.find(({ name }) => last.text.includes(name)) ?? null
    }
  }
}

/** After `exactly these arguments: {…}` the call has them; null if the last message asks for none. */
export function argumentsIn({ messages }: GenerationRequest): string | null {
  const text = messages.findLast(({ role }) => role === 'user')?.text ?? ''
  return /\bexactly these arguments: (\{.*\})/i.exec(text)?.[1] ?? null
}

/** A made-up value of a schema as JSON: the arguments of a call, or a structured answer. */
export const jsonOf = (schema: JsonSchema, seed: number): string =>
  JSON.stringify(valueFor(schema, seededRandom(seed)))
