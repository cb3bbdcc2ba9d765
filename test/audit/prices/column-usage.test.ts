import { expect, test } from 'vitest'
import { usageOfColumns } from '../../../src/price/attempts/column-usage.ts'
import type { DialectName } from '../../../src/tokens/dialects.ts'
import { readUsage } from '../../../src/tokens/read-usage.ts'
import { columnsOf } from './columns.ts'
import { play } from './gateway.ts'

const usages: readonly (readonly [DialectName, object])[] = [
  ['openai-chat', { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 }],
  [
    'openai-chat',
    {
      prompt_tokens: 900,
      completion_tokens: 500,
      total_tokens: 1400,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 70 },
      completion_tokens_details: { reasoning_tokens: 320, audio_tokens: 11 },
    },
  ],
  [
    'anthropic',
    {
      input_tokens: 100,
      cache_read_input_tokens: 3000,
      cache_creation_input_tokens: 700,
      cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 500 },
      output_tokens: 60,
    },
  ],
  ['anthropic', { input_tokens: 100, output_tokens: 60 }],
  [
    'gemini',
    {
      promptTokenCount: 800,
      cachedContentTokenCount: 300,
      candidatesTokenCount: 40,
      thoughtsTokenCount: 210,
      totalTokenCount: 1050,
    },
  ],
]

for (const [dialect, usage] of usages) {
  test(`columns of an answer hold its parts in ${dialect}: ${JSON.stringify(usage)}`, () => {
    const columns = columnsOf(usage, dialect === 'anthropic' ? 'messages' : 'chat')
    expect(usageOfColumns({ ...columns, severalPasses: false }, dialect)!.parts).toEqual(
      readUsage(usage, dialect).parts,
    )
  })
}

test('columns without usage are no usage', () => {
  expect(usageOfColumns({ ...columnsOf({}, 'chat'), severalPasses: false }, null)).toBeNull()
})

test('a dialect that the client reads as another one is unknown', () => {
  const usage = {
    prompt_tokens: 900,
    completion_tokens: 90,
    total_tokens: 1310,
    completion_tokens_details: { reasoning_tokens: 320 },
  }
  expect(
    usageOfColumns({ ...columnsOf(usage, 'chat'), severalPasses: false }, 'xai-chat'),
  ).toBeNull()
})

const both = ['chat', 'messages'] as const

test('an honest gateway raises no alarm if no answer was stored, and its log passes', {
  tags: 'whole',
}, async () => {
  for (const dialect of both) {
    const { failed, of } = await play({}, [], { dialect, stored: false })
    expect(failed).toEqual([])
    expect(of('PRICE-04').verdict.verdict).toBe('pass')
  }
})

test('cached tokens at the full price are told from the log if no answer was stored', {
  tags: 'whole',
}, async () => {
  for (const dialect of both) {
    const { failed } = await play(
      {
        charge: (right, { counts }, { input, read }) =>
          right + BigInt(counts.read) * BigInt(input - read),
      },
      ['log'],
      { dialect, stored: false },
    )
    expect([dialect, failed]).toEqual([
      dialect,
      expect.arrayContaining(['PRICE-03:big:cache_read', 'PRICE-04']),
    ])
  }
})
