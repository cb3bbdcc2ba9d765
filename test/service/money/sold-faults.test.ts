import { expect, test } from 'vitest'
import { contractWith, gateway, user } from './gateway.ts'

/** A plain price of tokens alone: 4 USD for a million of input, 20 of output. */
const priced = contractWith(
  {},
  {
    ...{ price: { input: 4, output: 20 }, tiers: undefined, service: undefined },
    ...{ hours: undefined, changes: undefined, times: undefined, reasoning: false },
  },
)

const seenWith = async (...faults: readonly string[]) => {
  const target = await gateway({ contract: priced, faults })
  const { body, stated } = await target.ask({
    max_tokens: 20,
    messages: user('Count from 1 to 900, please, with a comma after each number.'),
  })
  const text: string = body.choices[0].message.content
  return { ...(body.usage as { prompt_tokens: number; completion_tokens: number }), text, stated }
}

// With prices, usage is written by the bill: a fault that changed what generation reports did nothing.
test.each([
  ['token-inflation:1.5', (tokens: number) => Math.round(tokens * 1.5)],
  ['token-rounding', (tokens: number) => Math.ceil(tokens / 64) * 64],
  ['hidden-prompt', (tokens: number) => tokens + 30],
])('under a contract with prices, %s is counted and charged', async (fault, counted) => {
  const honest = await seenWith()
  const faulty = await seenWith(fault)
  expect(faulty.prompt_tokens).toBe(counted(honest.prompt_tokens))
  const more = (faulty.prompt_tokens - honest.prompt_tokens) * 4
  expect(faulty.stated! - honest.stated!).toBeCloseTo(more / 1e6, 12)
})

test('under a contract with prices, output-inflation charges all tokens for a shorter text', async () => {
  const honest = await seenWith()
  const faulty = await seenWith('output-inflation:2')
  expect(faulty.completion_tokens).toBe(honest.completion_tokens)
  expect(faulty.stated).toBe(honest.stated)
  expect(faulty.text.length).toBeLessThan(honest.text.length * 0.6)
})
