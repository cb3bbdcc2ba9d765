import type { Call } from '../call.ts'

/** A streamed piece, after the <think> tag that opens or closes the reasoning there, if any. */
export function inlineThinking(
  call: Call,
  choice: number,
  text: string,
  reasoning: boolean,
): string {
  if (reasoning === call.thinking.has(choice)) return text
  const thinking = new Set(call.thinking)
  if (reasoning) thinking.add(choice)
  else thinking.delete(choice)
  call.thinking = thinking
  return `${reasoning ? '<think>' : '</think>'}${text}`
}
