import { countTokens } from 'gpt-tokenizer'
import { expect, test } from 'vitest'
import { ScriptText } from '../../src/run/plan/script-text.ts'
import { TokenText, words } from '../../src/run/plan/token-text.ts'
import { run } from '../../src/run/run.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import { answerChat, key, query, startTarget, withStorePath } from './target.ts'

const keys = { default: key }

/** The prompts that a service receives from a step, in the order of their arrival. */
async function promptsOf(prompt: string, { runs = 1, step = '', requests = 40, more = '' } = {}) {
  const prompts: string[] = []
  const target = await startTarget((_, response, body) => {
    const { messages } = JSON.parse(body)
    prompts.push(messages.at(-1).content)
    answerChat(response)
  })
  const scenario = parseScenario(
    `{ name: unique, question: q, model: svc-k2, threads: 2, ${more}
       steps: { chat: { endpoint: chat${prompt === '' ? '' : `, prompt: ${prompt}`}${step} } },
       phases: [{ name: steady, load: constant, rate: 400/s, max_requests: ${requests} }] }`,
    'unique.yaml',
  )
  let templates = 0
  await withStorePath(async (dbPath) => {
    for (let each = 0; each < runs; each++) {
      await run(scenario, { baseUrl: target.baseUrl, dbPath, keys })
    }
    const [row] = await query<{ n: number }>(dbPath, 'SELECT count(*)::INTEGER AS n FROM templates')
    templates = row!.n
  })
  target.close()
  return { prompts, templates }
}

/** The words that two texts share from their start. */
function sharedWords(a: string, b: string): number {
  const [one, two] = [a.split(' '), b.split(' ')]
  const at = one.findIndex((word, index) => word !== two[index])
  return at === -1 ? one.length : at
}

const longestShared = (prompts: readonly string[]) => {
  const sorted = [...prompts].sort()
  return Math.max(...sorted.slice(1).map((prompt, at) => sharedWords(sorted[at]!, prompt)))
}

test('a scenario that captures all keeps each prompt as it was sent, for whoever counts its tokens', {
  tags: 'whole',
}, async () => {
  const { prompts, templates } = await promptsOf('{ synthetic: 50 }', {
    requests: 12,
    more: 'capture: all,',
  })
  expect(new Set(prompts).size).toBe(12)
  expect(templates).toBe(12)
})

test('no two requests start with the same six words, in one run or in two with one seed', {
  tags: 'whole',
}, async () => {
  const { prompts } = await promptsOf('{ synthetic: 50 }', { runs: 2 })
  expect(prompts).toHaveLength(80)
  expect(longestShared(prompts)).toBeLessThan(6)
  expect(prompts.map((prompt) => countTokens(prompt))).toEqual(prompts.map(() => 50))
})

test('a step without a prompt sends another one in each request, too', {
  tags: 'whole',
}, async () => {
  const { prompts } = await promptsOf('')
  expect(new Set(prompts).size).toBe(40)
  expect(longestShared(prompts)).toBeLessThan(6)
})

test('each word is one token, at the start of a text and after a space', () => {
  expect(words.filter((word) => countTokens(word) !== 1)).toEqual([])
  expect(words.filter((word) => countTokens(`time ${word}`) !== 2)).toEqual([])
})

test('each word that a run may repeat makes as many tokens as repeats', () => {
  const counts = words.map((_, seed) => countTokens(new ScriptText(seed).text('repeat', 300, 0)))
  expect(counts).toEqual(words.map(() => 300))
})

test('a million indexes have a million different marks of six words', { tags: 'whole' }, () => {
  const text = new TokenText(77)
  const marks = new Set<string>()
  for (let index = 0; index < 1e6; index++) marks.add(text.unique(6, index))
  expect(marks.size).toBe(1e6)
})

test('a prefix for all is the start of every prompt, and counts beside the tokens of the prompt', {
  tags: 'whole',
}, async () => {
  const { prompts } = await promptsOf('{ synthetic: 20, prefix: { tokens: 30 } }')
  const starts = new Set(prompts.map((prompt) => prompt.split(' ').slice(0, 30).join(' ')))
  expect(starts.size).toBe(1)
  expect(prompts.map((prompt) => countTokens(prompt))).toEqual(prompts.map(() => 50))
  expect(longestShared(prompts)).toBeLessThan(36)
})

test('a prefix of groups is one of as many texts; a prefix for none is unique', {
  tags: 'whole',
}, async () => {
  const grouped = await promptsOf(
    '{ synthetic: 20, prefix: { tokens: 30, shared: group, groups: 4 } }',
  )
  const starts = grouped.prompts.map((prompt) => prompt.split(' ').slice(0, 30).join(' '))
  expect(new Set(starts).size).toBe(4)
  const unique = await promptsOf('{ synthetic: 20, prefix: { tokens: 30, shared: none } }')
  expect(longestShared(unique.prompts)).toBeLessThan(6)
  expect(unique.prompts.map((prompt) => countTokens(prompt))).toEqual(unique.prompts.map(() => 50))
})

test('a pool is the way to ask for repetition: the same prompts in each run', {
  tags: 'whole',
}, async () => {
  const { prompts } = await promptsOf('{ synthetic: 20, pool: 3 }', { runs: 2 })
  expect(new Set(prompts).size).toBe(3)
})

test('unique prompts of one length share a template in the store', { tags: 'whole' }, async () => {
  const { templates } = await promptsOf('{ synthetic: 50 }')
  expect(templates).toBe(1)
})

test('each turn of a conversation adds a prompt of its own', { tags: 'whole' }, async () => {
  const { prompts } = await promptsOf('{ synthetic: 20 }', {
    step: ', session: { turns: 3 }',
    requests: 5,
  })
  expect(prompts).toHaveLength(15)
  expect(new Set(prompts).size).toBe(15)
})

test.each([
  ['{ synthetic: 5, pool: 2, prefix: { tokens: 3 } }', 'a pool repeats whole prompts'],
  ['{ synthetic: 5, prefix: { tokens: 3, shared: group } }', 'needs the number of groups'],
  ['{ synthetic: 5, prefix: { tokens: 3, groups: 2 } }', 'groups is for shared: group'],
])('%s is refused', (prompt, sentence) => {
  const text = `{ name: a, question: b, model: m, steps: { chat: { endpoint: chat, prompt: ${prompt} } },
    phases: [{ name: steady, load: constant, rate: 1/s, duration: 1s }] }`
  expect(() => parseScenario(text, 'a.yaml')).toThrow(sentence)
})

test('prompts of another script are kept each, and repeats of six words have two lengths', {
  tags: 'whole',
}, async () => {
  const code = await promptsOf('{ synthetic: 60, script: code }', { requests: 12 })
  expect(new Set(code.prompts).size).toBe(12)
  expect(code.templates).toBe(12)
  for (const prompt of code.prompts) expect(countTokens(prompt)).toBeGreaterThan(40)
  const { prompts } = await promptsOf('{ synthetic: 300, script: repeat }', { requests: 12 })
  const words = prompts.map((prompt) => [...new Set(prompt.split(' '))])
  expect(words.every(({ length }) => length === 1)).toBe(true)
  expect(new Set(words.flat()).size).toBe(6)
  expect(prompts.map((prompt) => countTokens(prompt))).toEqual(prompts.map(() => 300))
})
