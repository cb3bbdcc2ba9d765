import { expect, test } from 'vitest'
import { audited, chat, contractOf, type Sent } from './paid.ts'

/** Sums between values of a balance that are late, so that a request may be charged on either side of one. */

const contract = contractOf({
  models: [{ id: 'big', price: { input: 4, cache_read: '0.4', output: 20 } }],
  evidence: { balance: { get: '/key/info', value: 'spend', moves: 'up', within: '5s' } },
})
const page = (micro: number): Sent => ({
  ...{ path: '/key/info', method: 'GET', model: null, endpoint: 'other' },
  answer: `{"spend": ${(micro / 1e6).toFixed(9)}}`,
})
const asked = (id: string, prompt: number, cached: number, output: number): Sent => ({
  ...chat(id),
  body: JSON.stringify({ model: 'big', messages: id }),
  answer: JSON.stringify({
    id,
    usage: {
      ...{ prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output },
      prompt_tokens_details: { cached_tokens: cached },
    },
  }),
})

test('a cause that right sums contradict is not told of those that are wrong', async () => {
  // 50 cached tokens at 4 in place of 0.4 are 180 too much, and so are 9 tokens of output that are counted twice.
  const [plain, cached] = [asked('plain', 1, 0, 1), asked('cached', 60, 50, 9)]
  const [right, wrong] = [4 + 20, 10 * 4 + 50 * 4 + 9 * 20]
  const found = await audited(
    [page(0), plain, page(right), cached, page(right + wrong), plain, page(2 * right + wrong)],
    null,
    { contract },
  )
  expect(found['PRICE-06']).toMatchObject({
    verdict: 'fail',
    observed: expect.stringMatching(
      /wrong: cache_read at the price of input \(only these requests\)$/,
    ),
  })
})

test('a cause that strikes one request alone is told of these requests only', async () => {
  const [plain, other] = [asked('plain', 1, 0, 1), asked('other', 11, 0, 7)]
  const [right, wrong] = [4 + 20, 2 * (11 * 4 + 7 * 20)]
  const found = await audited(
    [page(0), plain, page(right), other, page(right + wrong), plain, page(2 * right + wrong)],
    null,
    { contract },
  )
  expect(found['PRICE-06']).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining('charged twice (only these requests)'),
  })
})
