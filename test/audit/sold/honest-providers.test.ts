import * as o200k from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import type { AttemptRow } from '../../../src/attempt/columns.ts'
import { audit } from '../../../src/audit/audit.ts'
import { parseContract } from '../../../src/contract/load.ts'
import { attempt } from '../../report/attempts.ts'
import { inEmptyStore } from '../../store/opened.ts'
import { verdictIn } from '../verdict-over.ts'
import { audited, repeated, textOf, words } from './texts.ts'

/** An honest provider, by how it counts: its prompts, its answers, and what its usage says beside. */
interface Provider {
  readonly promises?: object
  readonly prompt?: (text: string) => Partial<AttemptRow>
  readonly answer?: (tokens: number) => { readonly completion_tokens: number } & object
  /** Verdicts of SOLD-01, 02 and 09. */
  readonly told: readonly [string, string, string]
}

const tokensOf = (text: string) => o200k.countTokens(text)
const answers = Array.from({ length: 10 }, (_, seed) => textOf('words', 200, seed))
const asked = [
  ...audited,
  ...repeated,
  ...words.slice(0, 5),
  ...answers.map((_, at) => `Count from ${at}.`),
]
const firstAnswer = asked.length - answers.length

/** What the rules SOLD say of texts, repeated words, single words and ten long answers. */
async function verdictsOn({ promises = {}, prompt, answer }: Provider) {
  const model = { id: 'svc-k2', tokenizer: 'o200k', template_tokens: 12, ...promises }
  const contract = parseContract({ name: 'sold', models: [model] }, 'c.yaml')
  const usageOf = (at: number) => {
    const own = at < firstAnswer ? 1 : tokensOf(answers[at - firstAnswer]!)
    return answer?.(own) ?? { completion_tokens: own }
  }
  const rows = asked.map((text, at) =>
    attempt(at, {
      ...{ template: at, finishReason: 'length', promptTokens: tokensOf(text) + 7 },
      ...prompt?.(text),
      completionTokens: usageOf(at).completion_tokens,
    }),
  )
  return inEmptyStore(async (store) => {
    await verdictIn(store, 'SOLD-01', rows, {
      contract,
      templates: asked.map((content, template) => ({
        ...{ runId: 'a', template, step: 'chat', method: 'POST', path: '/v1/chat/completions' },
        ...{ headers: '{}', maxTokens: 300, n: null, promptHash: content },
        body: JSON.stringify({ model: 'svc-k2', messages: [{ role: 'user', content }] }),
      })),
      bodies: asked.flatMap((_, slot) => {
        const content = answers[slot - firstAnswer]
        const usage = { prompt_tokens: 10, ...usageOf(slot) }
        const choices = [{ index: 0, message: { role: 'assistant', content } }]
        return content === undefined
          ? []
          : [
              {
                ...{ runId: 'a', slot, retry: 0, headers: '', truncated: false },
                body: JSON.stringify({ choices, usage }),
              },
            ]
      }),
    })
    const { findings } = await audit(store, { contract, rules: ['SOLD'], keeps: false })
    return new Map(findings.map(({ rule, verdict }) => [rule, verdict.verdict]))
  })
}

/** A gateway that never counts a long text whole, as LiteLLM: pieces that begin within a word have one token more. */
function inPieces(text: string) {
  const pieces = text.match(/[\s\S]{1,1024}/g) ?? []
  return { promptTokens: 7 + pieces.reduce((sum, piece) => sum + tokensOf(piece), 0) }
}

const thinking = (tokens: number) => ({
  completion_tokens: tokens + 60,
  completion_tokens_details: { reasoning_tokens: 60 },
})

const providers: Readonly<Record<string, Provider>> = {
  'counts its chat template': {
    prompt: (text) => ({ promptTokens: tokensOf(text) + 12 }),
    told: ['pass', 'pass', 'pass'],
  },
  'adds a system prompt of 200 tokens that its contract names': {
    promises: { template_tokens: 200 },
    prompt: (text) => ({ promptTokens: tokensOf(text) + 200 }),
    told: ['pass', 'pass', 'pass'],
  },
  'counts each text in pieces of 1,024 characters': {
    prompt: inPieces,
    told: ['inconclusive', 'pass', 'pass'],
  },
  'counts reasoning tokens, and says so': {
    promises: { reasoning: true, max_reasoning_tokens: 100 },
    answer: thinking,
    told: ['pass', 'pass', 'not-observed'],
  },
  'counts reasoning tokens of a model that its contract does not call one that reasons': {
    answer: thinking,
    told: ['pass', 'pass', 'not-observed'],
  },
  'counts five tokens of a template at the end of each answer': {
    answer: (tokens) => ({ completion_tokens: tokens + 5 }),
    told: ['pass', 'pass', 'inconclusive'],
  },
  'counts what it read from a cache beside the prompt': {
    prompt: (text) =>
      // A word 1,500 times begins as the same word 500 times.
      repeated.includes(text) && tokensOf(text) > 1_000
        ? { promptTokens: tokensOf(text) + 7 - 384, cachedTokens: 384 }
        : {},
    told: ['inconclusive', 'pass', 'pass'],
  },
}

test.each(Object.entries(providers))(
  'an honest provider that %s breaks no promise of what is sold',
  async (_, provider) => {
    const verdicts = await verdictsOn(provider)
    expect([...verdicts].filter(([, verdict]) => verdict === 'fail')).toEqual([])
    expect(['SOLD-01', 'SOLD-02', 'SOLD-09'].map((rule) => verdicts.get(rule))).toEqual(
      provider.told,
    )
  },
)
