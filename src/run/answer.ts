import type { Captured } from '../client/capture.ts'

/**
 * The text of a response, from which a conversation continues: of a plain body or a stream, in any
 * format. Null if it has none.
 */
export function answerOf(captured: Captured | null): string | null {
  if (captured === null) return null
  const { body } = captured
  const plain = parse(body)
  if (plain !== null) return textOf(plain)
  const pieces: string[] = []
  for (const line of body.split(/\r\n|\n|\r/)) {
    if (!line.startsWith('data:')) continue
    const event = parse(line.slice(5))
    const text = event === null ? null : textOf(event)
    if (text !== null) pieces.push(text)
  }
  return pieces.length === 0 ? null : pieces.join('')
}

interface Answer {
  readonly choices?: readonly {
    readonly message?: { readonly content?: unknown }
    readonly delta?: { readonly content?: unknown }
  }[]
  readonly content?: readonly { readonly text?: unknown }[]
  readonly delta?: { readonly text?: unknown } | string
  readonly type?: string
  /** In the Responses format. */
  readonly output?: readonly { readonly content?: Answer['content'] }[]
}

function parse(text: string): Answer | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? (value as Answer) : null
  } catch {
    return null
  }
}

function textOf(answer: Answer): string | null {
  const choice = Array.isArray(answer.choices) ? answer.choices[0] : undefined
  const candidates: readonly unknown[] = [
    choice?.message?.content,
    choice?.delta?.content,
    Array.isArray(answer.content) ? joined(answer.content) : undefined,
    Array.isArray(answer.output)
      ? joined(answer.output.flatMap((item) => item?.content ?? []))
      : undefined,
    answer.type === 'response.output_text.delta' ? answer.delta : undefined,
    typeof answer.delta === 'object' ? answer.delta?.text : undefined,
  ]
  const text = candidates.find((candidate) => typeof candidate === 'string')
  return typeof text === 'string' ? text : null
}

const joined = (blocks: NonNullable<Answer['content']>) =>
  blocks.map((block) => (typeof block?.text === 'string' ? block.text : '')).join('')
