import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import type { Prober } from '../../src/probe/prober.ts'
import { countedClasses } from '../../src/probe/questions/counted.ts'

/**
 * A service that takes time for each answer, and refills this many of 60 per second.
 *
 * @param edgeAfter answers after which a window ends
 */
function service({
  answerS = 0.01,
  perS = 0,
  countsAll = false,
  changed = {},
  remaining = 40,
  edgeAfter = Number.NaN,
}) {
  const statuses: Readonly<Record<string, number>> = {
    ...{ right: 200, models: 200, credits: 200, 'invalid-key': 401 },
    ...changed,
  }
  let nowS = 1_000
  const responses: unknown[] = []
  const answer = (isPaid: boolean, status: number) => {
    nowS += answerS
    if (responses.length === edgeAfter) remaining = 60
    remaining += perS * answerS - (isPaid || countsAll ? 1 : 0)
    const response = { status, columns: { rateLimit: 60, rateRemaining: Math.floor(remaining) } }
    responses.push(response)
    return response
  }
  return {
    contract: defaultContract,
    ...{ limited: [], responses },
    options: { timeScale: 1 },
    now: () => nowS * 1e6,
    chat: async ({ wrong }: { readonly wrong?: string } = {}) =>
      answer(wrong === undefined, statuses[wrong ?? 'right'] ?? 400),
    read: async (endpoint: string) => answer(false, statuses[endpoint]!),
  } as unknown as Prober
}

const told = async (prober: Prober) => (await countedClasses.ask(prober))['G-18']

test('a request after which remaining does not fall is not counted', async () => {
  expect(await told(service({}))).toMatchObject({
    is: { '400': 'not counted', models: 'not counted' },
  })
})

test('a request class stays open if as much may have been refilled, and is answered otherwise', async () => {
  const bucket = { answerS: 0.67, perS: 1 }
  const open = {
    between: { '400': ['counted', 'not counted'], models: ['counted', 'not counted'] },
  }
  expect(await told(service({ ...bucket, countsAll: true }))).toMatchObject(open)
  const fixed = { answerS: 0.67 }
  expect(await told(service(fixed))).toMatchObject({ is: { models: 'not counted' } })
  expect(await told(service({ ...fixed, countsAll: true }))).toMatchObject({
    is: { models: 'counted' },
  })
})

test('a request class with another status is open, and its statuses are shown', async () => {
  const changed = { 'invalid-parameter': 200, models: 404 }
  const answer = await told(service({ countsAll: true, changed }))
  const either = ['counted', 'not counted']
  expect(answer).toMatchObject({
    is: { 'unknown model': 'counted', credits: 'counted' },
    between: { '400': either, models: either },
  })
  expect(JSON.stringify(answer)).toContain('400: statuses 200, 200, 200, 200')
})

test('without a served paid request, the question is not askable', async () => {
  expect(await told(service({ changed: { right: 503 } }))).toMatchObject({
    status: 'not-askable',
    why: expect.stringContaining('400: statuses 503, 400, 400, 503'),
  })
})

test.each([true, false])(
  'a window that ends between two requests does not change the answer: %s',
  async (countsAll) => {
    // One was counted before: what remains after both is as if nothing had been in between.
    const prober = service({ countsAll, remaining: 59, edgeAfter: 1 })
    expect(await told(prober)).toMatchObject({
      is: { '400': countsAll ? 'counted' : 'not counted' },
    })
  },
)
