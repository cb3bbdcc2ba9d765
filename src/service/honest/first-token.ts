import { hashText, normal, type Random, seededRandom } from '../random.ts'
import type { GenerationRequest } from '../request/generation-request.ts'
import { openings } from '../vocabulary.ts'

/** How far apart models are: the spread of the log-odds of one of two first tokens against the other. */
const spread = 1.2

/** The one word of a request for one token, whose answer shows the model; null for any other request. */
export function wordAsked({ messages, system, maxTokens }: GenerationRequest): string | null {
  const [only] = messages
  const isOne = messages.length === 1 && maxTokens === 1 && system === null
  return isOne && /^\p{L}+$/u.test(only!.text) ? only!.text : null
}

/**
 * The answer of one token to one word: one of two, whose log-odds are those of the model and the word.
 *
 * @param moved added to the log-odds: by rounding, batching or quantization
 */
export function firstToken(model: string, word: string, draw: Random, moved = 0): string {
  const own = hashText(word, hashText(model))
  const odds = spread * normal(seededRandom(own)) + moved
  const isFirst = draw() < 1 / (1 + Math.exp(-odds))
  return openings[(own + (isFirst ? 0 : 1)) % openings.length]!
}
