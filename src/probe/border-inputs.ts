import { BudgetError } from './budget.ts'
import { at } from './probe-response.ts'
import type { Prober } from './prober.ts'

/** What may be a border input, in the order of asking, and how many are wanted. */
export interface BorderSearch {
  readonly words: readonly string[]
  readonly wanted: number
}

export interface BorderInputs {
  readonly found: readonly string[]
  /** Words that were asked, until enough were found or the budget ended. */
  readonly asked: number
}

/** Answers to a word; two that differ end the search for it. */
const asks = 3

export const mostRequests = ({ words }: BorderSearch): number => asks * words.length

/**
 * Words, as many as wanted or fewer, with different first tokens at temperature 0: two are about as likely, so a change of the
 * model shows there first. Sessions of a watch ask them (SOLD-05).
 *
 * @throws Interrupted when the user stopped the probe
 */
export async function borderInputs(
  prober: Prober,
  { words, wanted }: BorderSearch,
  onWord: (asked: number, found: number) => void = () => {},
): Promise<BorderInputs> {
  const found: string[] = []
  let asked = 0
  try {
    for (const word of words) {
      if (found.length >= wanted) break
      onWord(asked, found.length)
      if (await isBorder(prober, word)) found.push(word)
      asked++
      prober.mustGoOn()
    }
  } catch (error) {
    if (!(error instanceof BudgetError)) throw error
  }
  return { found, asked }
}

async function isBorder(prober: Prober, word: string): Promise<boolean> {
  const tokens = new Set<string>()
  for (let nth = 0; nth < asks; nth++) {
    const answer = await prober.chat({
      messages: [{ role: 'user', content: word }],
      maxTokens: 1,
      body: { temperature: 0 },
    })
    const token = at(answer.json, 'choices', 0, 'message', 'content')
    // What is refused once is refused again.
    if (answer.status !== 200 || typeof token !== 'string') return false
    tokens.add(token)
    if (tokens.size > 1) return true
  }
  return false
}
