import { describe, expect, test } from 'vitest'
import { contractWith, type Gateway, gateway, long, type Seen, user } from './gateway.ts'

const chat = [
  ...['openai-chat', 'deepseek', 'gemini', 'xai-chat', 'openrouter', 'litellm', 'moonshot'],
  ...['mistral', 'groq', 'new-api'],
]
const marked = [
  {
    ...{ type: 'text', cache_control: { type: 'ephemeral' } },
    text: long(2000, 'a')[0]!.content as string,
  },
]

/** The cost of the second of two equal long prompts. */
async function second(target: Gateway, path: string): Promise<Seen> {
  const body = { stream: true, messages: path === '/v1/messages' ? user(marked) : long(2000, 'a') }
  await target.ask(body, { path })
  return target.ask(body, { path })
}

const faults = [
  ...['cached-double', 'cached-full', 'cached-negative', 'stream-cached-full'],
  ...['reasoning-double', 'reasoning-free', 'reasoning-at-output'],
]
const places = [
  ...chat.map((usage) => [usage, '/v1/chat/completions'] as const),
  ['anthropic', '/v1/messages'] as const,
]

describe.each(places)('with usage as %s on %s', (usage, path) => {
  test('each fault of cached tokens and of reasoning changes the cost', async () => {
    const contract = contractWith({}, { usage })
    const honest = await second(await gateway({ contract }), path)
    expect(honest.logged).toEqual([honest.spent])
    const costs = new Set([honest.spent])
    for (const fault of faults) {
      const where = 'stated+logged+balance'
      const target = await gateway({ contract, faults: [`${fault}@${where}`] })
      const { spent, logged } = await second(target, path)
      expect([fault, logged]).toEqual([fault, [spent]])
      expect([fault, spent === honest.spent]).toEqual([fault, false])
      costs.add(spent)
    }
    // Cached tokens cost the same whether a fault takes all of them or those of streams.
    expect(costs.size).toBe(faults.length)
  })
})
