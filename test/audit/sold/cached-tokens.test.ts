import { expect, test } from 'vitest'
import { parseContract } from '../../../src/contract/load.ts'
import { attempt } from '../../report/attempts.ts'
import { verdictOver } from '../verdict-over.ts'

const contract = parseContract(
  {
    ...{ extends: 'none', name: 'caches' },
    models: [{ id: 'svc-k2', cache: { least_tokens: 1_024 } }],
  },
  'caches.yaml',
)

interface Cache {
  readonly promptTokens?: number
  /** Time to the first token of a repeat that is not credited, as a share of that of a fresh prompt. */
  readonly takes: number
  /** Repeats that are credited, of 48. */
  readonly credited?: number
}

/** Blocks of a prompt, and in turn the same again and a fresh one. */
function verdictOn({ promptTokens = 1_200, takes, credited = 0 }: Cache) {
  const prompts = Array.from({ length: 48 }, (_, block) => {
    const [same, fresh] = [`${block}`, `${block} fresh`]
    return block % 2 === 0 ? [same, same, fresh] : [same, fresh, same]
  }).flat()
  const seen = new Set<string>()
  let repeats = 0
  const rows = prompts.map((prompt, slot) => {
    const isRepeat = seen.has(prompt)
    seen.add(prompt)
    const isCredited = isRepeat && repeats++ < credited
    const { sentUs } = attempt(slot)
    // The times of a service vary.
    const freshUs = 100_000 + ((slot * 7_919) % 13) * 1_000
    const firstContentUs = sentUs! + Math.round(freshUs * (isRepeat ? takes : 1))
    return attempt(slot, {
      ...{ template: slot, promptTokens, cachedTokens: isCredited ? 1_024 : 0 },
      ...{ firstContentUs, lastContentUs: firstContentUs, closedUs: firstContentUs + 9_000 },
    })
  })
  return verdictOver('SOLD-04', rows, {
    contract,
    templates: prompts.map((content, template) => ({
      ...{ runId: 'a', template, step: 'chat', method: 'POST', path: '/v1/chat/completions' },
      ...{ headers: '{}', maxTokens: 1, n: null, promptHash: content },
      body: JSON.stringify({ model: 'svc-k2', messages: [{ role: 'user', content }] }),
    })),
  })
}

test('repeats that are fast and not credited fail, also where a few others are credited', async () => {
  expect(await verdictOn({ takes: 0.5 })).toMatchObject({
    verdict: 'fail',
    observed: expect.stringMatching(
      /\d\.\d times as fast \(p 0\.001, 48 repeats\) and all were counted as not cached/,
    ),
  })
  expect(await verdictOn({ takes: 0.5, credited: 3 })).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining(
      '(p 0.001, 45 repeats) and these were counted as not cached, beside 3 that were credited: the cache is used and not credited.',
    ),
  })
})

test('misses beside hits that are credited are honest: they are as slow as fresh prompts', async () => {
  const verdict = await verdictOn({ takes: 1, credited: 20 })
  expect(['pass', 'inconclusive']).toContain(verdict.verdict)
})

test('prompts below least_tokens need no credit, however fast they are', async () => {
  expect(await verdictOn({ promptTokens: 700, takes: 0.5 })).toMatchObject({
    verdict: 'not-observed',
  })
})
