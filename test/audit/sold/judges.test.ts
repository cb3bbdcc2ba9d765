import { expect, test } from 'vitest'
import { judgeUnderLoad } from '../../../src/audit/evidence/sold/apart.ts'
import { overModels } from '../../../src/audit/evidence/sold/by-model.ts'
import { judgeCacheTimes, wrongCached } from '../../../src/audit/evidence/sold/cache.ts'
import { chanceOfMore, drawsOf, flippedP } from '../../../src/audit/evidence/sold/chance.ts'
import { judgeOutputs } from '../../../src/audit/evidence/sold/output.ts'
import { areMixed, type Pair, pairsOf } from '../../../src/audit/evidence/sold/pairs.ts'
import { saidOfPart } from '../../../src/audit/evidence/sold/parts.ts'
import { judgeTier } from '../../../src/audit/evidence/sold/tier.ts'
import {
  judgeIntact,
  judgeSchemas,
  type ToolCall,
} from '../../../src/audit/evidence/sold/tool-calls.ts'
import { inconclusive } from '../../../src/audit/verdict.ts'
import { parseContract } from '../../../src/contract/load.ts'

test('the tail of a binomial is that of the tables', () => {
  // R: pbinom(7, 100, 0.03, lower = FALSE), pbinom(1, 10, 0.5, lower = FALSE), and none of none.
  expect(chanceOfMore(8, 100, 0.03)).toBeCloseTo(0.010_633, 4)
  expect(chanceOfMore(2, 10, 0.5)).toBeCloseTo(1 - 11 / 1024, 12)
  expect(chanceOfMore(0, 10, 0.5)).toBe(1)
  expect(chanceOfMore(1, 10, 0)).toBe(0)
})

test('draws of one text are the same, and in [0, 1)', () => {
  const [a, b] = [drawsOf('run 7'), drawsOf('run 7')]
  const all = Array.from({ length: 1_000 }, () => [a(), b()] as const)
  expect(all.every(([x, y]) => x === y && x >= 0 && x < 1)).toBe(true)
  expect(drawsOf('run 8')()).not.toBe(drawsOf('run 7')())
})

test('differences of one sign are beyond chance, and those of both are not', () => {
  const draw = drawsOf('signs')
  expect(flippedP(Array(24).fill(1), draw)).toBe(0.001)
  expect(
    flippedP(
      Array.from({ length: 24 }, (_, at) => (at % 2 === 0 ? 1 : -1)),
      draw,
    ),
  ).toBeGreaterThan(0.3)
})

test('the worst model is told with each other model that is as bad, once', async () => {
  const { models } = parseContract({ name: 'sold', models: [{ id: 'a' }, { id: 'b' }] }, 'c.yaml')
  const byModel = new Map(models!.map((model) => [model, [1, 2]]))
  const found = await overModels(byModel, 'requests', (_, own) =>
    own.map((nth) => inconclusive(3, `too few of tier ${nth}`)),
  )
  expect(found).toMatchObject({ observations: 12, why: 'a: too few of tier 1. So are b.' })
})

test('a sentence about a part begins small, unless with an abbreviation', () => {
  const part = { said: 'In streams', column: 'streamed', value: '1' } as const
  expect(saidOfPart(part, 'Each word has two.')).toBe('In streams: each word has two.')
  expect(saidOfPart(part, 'TTFT is less.')).toBe('In streams: TTFT is less.')
  expect(saidOfPart(undefined, 'TTFT is less.')).toBe('TTFT is less.')
})

const timed = (isOther: boolean, ttftUs: number, promptTokens = 100) => ({
  ...{ isOther, ttftUs, promptTokens },
})

test('neighbours of different kinds and like sizes are pairs, each request in one at most', () => {
  const pairs = pairsOf([
    ...[timed(false, 100), timed(true, 200), timed(false, 100), timed(false, 100)],
    ...[timed(true, 50), timed(false, 100, 200)],
  ])
  expect(pairs).toEqual([
    { logRatio: Math.log(2), isOtherFirst: false },
    { logRatio: Math.log(0.5), isOtherFirst: false },
  ])
  expect(areMixed(pairs)).toBe(false)
})

test('neighbours are paired first, then requests that are left, up to five apart', () => {
  const ratios = (kinds: string) =>
    pairsOf([...kinds].map((kind, at) => timed(kind === 'p', 2 ** at))).map(({ logRatio }) =>
      Math.round(logRatio / Math.log(2)),
    )
  expect(ratios('dppd')).toEqual([1, -1])
  expect(ratios('ddpp')).toEqual([1, 3])
  expect(ratios('dddppp')).toEqual([1, 3, 5])
  expect(ratios('ddddpppp')).toEqual([1, 3, 5])
})

test('paired in both orders, a load that grows is on no side', () => {
  const pairs = pairsOf(Array.from({ length: 40 }, (_, at) => timed((at >> 1) % 2 === 0, 100 + at)))
  expect(pairs.length).toBe(19)
  expect(areMixed(pairs)).toBe(true)
})

const pairsAt = (ratio: number, count = 24): readonly Pair[] =>
  Array.from({ length: count }, (_, at) => ({
    logRatio: Math.log(ratio) + (at % 3) * 0.02 - 0.02,
    isOtherFirst: at % 2 === 0,
  }))

test.each([
  [0.6, 'pass'],
  [0.8, 'inconclusive'],
  [1, 'fail'],
])('a tier at %d of the default time, sold as 0.8: %s', (ratio, verdict) => {
  expect(judgeTier(pairsAt(ratio), 0.8, drawsOf('t'))).toMatchObject({ is: verdict })
})

test('of a thousand tiers that are exactly as fast as sold one fails', { tags: 'whole' }, () => {
  const draw = drawsOf('exactly as sold')
  const verdicts = Array.from({ length: 1_000 }, () => {
    const pairs = Array.from({ length: 48 }, (_, at) => ({
      logRatio: Math.log(0.8) + draw() + draw() - draw() - draw(),
      isOtherFirst: at % 2 === 0,
    }))
    return judgeTier(pairs, 0.8, draw).is
  })
  expect(verdicts.filter((each) => each === 'fail').length).toBeLessThanOrEqual(2)
})

test('few pairs, and pairs in one order, decide nothing', () => {
  expect(judgeTier(pairsAt(1, 19), 0.8, drawsOf('t'))).toMatchObject({ is: 'few' })
  const oneAfterTheOther = pairsAt(1).map((pair) => ({ ...pair, isOtherFirst: true }))
  expect(judgeTier(oneAfterTheOther, 0.8, drawsOf('t'))).toMatchObject({ is: 'unmixed' })
})

test.each([
  [0.5, 'fail'],
  [0.9, 'inconclusive'],
  [1.01, 'pass'],
])('repeated prompts that take %d of the time and are not credited: %s', (ratio, verdict) => {
  expect(judgeCacheTimes(pairsAt(ratio), drawsOf('c'))).toMatchObject({ is: verdict })
})

test.each([
  [{ promptTokens: 100, cachedTokens: 101 }, '101 cached of 100 tokens'],
  [{ promptTokens: 1_000, cachedTokens: 128 }, 'prompts below 1024 are not cached'],
  [{ promptTokens: 2_000, cachedTokens: 1_100 }, 'no multiple of 128'],
])('a count of cached tokens is impossible: %j', (prompt, said) => {
  expect(wrongCached(prompt, { leastTokens: 1_024, stepTokens: 128 })).toContain(said)
})

test('a miss and a hit as promised are both honest', () => {
  const promise = { leastTokens: 1_024, stepTokens: 128 }
  expect(wrongCached({ promptTokens: 2_000, cachedTokens: 0 }, promise)).toBe(null)
  expect(wrongCached({ promptTokens: 2_000, cachedTokens: 1_152 }, promise)).toBe(null)
})

const calls = (broken: number, n: number): readonly ToolCall[] =>
  Array.from({ length: n }, (_, at) => ({ fits: at >= broken, rewritten: [], isVerbatim: false }))

test.each([
  [0, 'pass'],
  [3, 'pass'],
  [5, 'inconclusive'],
  [10, 'fail'],
])('%d broken of 100 calls, sold as 97 %%: %s', (broken, verdict) => {
  expect(judgeSchemas(calls(broken, 100), 0.97)).toMatchObject({ is: verdict, broken })
})

test('an argument that is another one once is inconclusive, twice a fail, and twice in two arguments neither', () => {
  const call = (...names: readonly string[]): ToolCall => ({
    ...{ fits: true, isVerbatim: true },
    rewritten: names.map((name) => ({ name, asked: 'requests', received: 'reqests' })),
  })
  const intact = Array.from({ length: 18 }, () => call())
  expect(judgeIntact(intact)).toEqual({ is: 'pass', of: 18 })
  expect(judgeIntact([...intact, call('command')])).toMatchObject({ is: 'inconclusive', of: 19 })
  expect(judgeIntact([...intact, call('command'), call('folder')])).toMatchObject({
    ...{ is: 'inconclusive', times: 1 },
  })
  expect(judgeIntact([...intact, call('command'), call('command')])).toMatchObject({
    ...{ is: 'fail', times: 2, of: 20, first: { asked: 'requests', received: 'reqests' } },
  })
})

test('nine calls with arguments word by word are too few for a pass, and calls without any are not observed', () => {
  const asked = (isVerbatim: boolean) => ({ fits: true, rewritten: [], isVerbatim })
  expect(judgeIntact(Array.from({ length: 9 }, () => asked(true)))).toEqual({ is: 'few', of: 9 })
  expect(judgeIntact(Array.from({ length: 40 }, () => asked(false)))).toEqual({ is: 'unseen' })
})

test('sessions at rest and under load that were asked other prompts are not compared', () => {
  const ofFirst = Array.from({ length: 10 }, () => [0.2, 0.4, 0.6, 0.8, null, null, null, null])
  const ofLast = Array.from({ length: 10 }, () => [null, null, null, 0.8, 0.2, 0.4, 0.6, 0.8])
  expect(judgeUnderLoad([{ rest: ofFirst, load: ofLast }], drawsOf('other'))).toEqual({
    ...{ is: 'unlike', common: 1 },
  })
})

test.each([1.05, 1.1, 1.5, 2, 5])(
  'a service that counts %d times the output and stops early is told, however its 200 tokens are rounded',
  (factor) => {
    for (const round of [Math.floor, Math.round, Math.ceil]) {
      const counted = Math.floor(200 / factor)
      const reported = Math.min(200, round(counted * factor))
      const points = Array.from({ length: 10 }, () => ({ reported, counted }))
      expect(judgeOutputs(points).is).toBe('fail')
    }
  },
)

/** Answers of so many counted tokens, of which the texts lack some. */
const outputs = (count: number, reported: number, lacking: number) =>
  Array.from({ length: count }, () => ({ reported, counted: reported - lacking }))

test.each([
  ['five tokens of a template in short answers accuse nobody', outputs(40, 100, 5), 'inconclusive'],
  ['nor beside nine long ones', [...outputs(40, 100, 5), ...outputs(9, 200, 20)], 'inconclusive'],
  ['ten long answers with a tenth too many fail', outputs(10, 200, 20), 'fail'],
  [
    'a tenth too many in every tenth answer is no pass',
    [...outputs(90, 200, 0), ...outputs(10, 200, 20)],
    'inconclusive',
  ],
  ['a single such answer is one', [...outputs(99, 200, 0), ...outputs(1, 200, 20)], 'pass'],
] as const)('output tokens: %s', (_, points, verdict) => {
  expect(judgeOutputs(points)).toMatchObject({ is: verdict })
})
