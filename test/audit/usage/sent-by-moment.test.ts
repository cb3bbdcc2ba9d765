import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type Moments,
  SentByMoment,
  sentSums,
} from '../../../src/audit/evidence/usage/sent-by-moment.ts'

interface Drawn {
  readonly sentUs: number
  readonly endUs: number
  readonly kind: 'success' | 'empty' | 'read' | 'open read' | 'ambiguous' | 'failure'
  readonly price: number
}

const time = fc.integer({ min: 0, max: 30 })
const span = fc.tuple(time, fc.integer({ min: 0, max: 4 }))
const attempt = fc
  .record({
    span,
    kind: fc.constantFrom(
      ...(['success', 'empty', 'read', 'open read', 'ambiguous', 'failure'] as const),
    ),
    price: fc.integer({ min: 1, max: 3 }),
  })
  .map(
    ({ span: [sentUs, tookUs], kind, price }): Drawn => ({
      ...{ sentUs, kind, price },
      endUs: sentUs + tookUs,
    }),
  )
const pair = fc.tuple(span, span).map(([a, b]): Moments => {
  const [first, second] = a[0] <= b[0] ? [a, b] : [b, a]
  return [momentOf(first), momentOf(second)]
})
const momentOf = ([sentUs, tookUs]: readonly [number, number]) => ({
  sentUs,
  closedUs: sentUs + tookUs,
})

const valuesOf = ({ kind, price }: Drawn) => {
  const isSuccess = kind === 'success' || kind === 'empty'
  const by = {
    requests: isSuccess,
    credits: isSuccess ? price : 0,
    reads: kind === 'read',
    readCredits: kind === 'read' ? price : 0,
    openReads: kind === 'open read',
    ambiguous: kind === 'ambiguous',
    openCosts: kind === 'empty',
    refused: kind === 'failure',
  }
  return sentSums.map((name) => Float64Array.of(Number(by[name])))
}

/** What is sent between two responses, by looking at each attempt. */
function looked(attempts: readonly Drawn[], [from, to]: Moments) {
  const fromEndUs = from.closedUs!
  const endUs = to.closedUs!
  const successes = attempts.filter(({ kind }) => kind === 'success' || kind === 'empty')
  const touches = ({ sentUs, endUs: ownEndUs }: Drawn, aUs: number, bUs: number) =>
    sentUs <= bUs && ownEndUs >= aUs
  const isUncertain =
    successes.some((each) => touches(each, from.sentUs, fromEndUs)) ||
    successes.some((each) => each.sentUs < endUs && each.endUs >= to.sentUs) ||
    attempts.some(({ kind, sentUs }) => kind === 'ambiguous' && sentUs < to.sentUs) ||
    attempts.some(
      ({ kind, sentUs }) => kind === 'empty' && sentUs >= from.sentUs && sentUs <= endUs,
    )
  if (isUncertain) return null
  const within = successes.filter((each) => each.sentUs > fromEndUs && each.endUs < to.sentUs)
  const reads = attempts.filter(({ sentUs }) => sentUs > from.sentUs && sentUs <= to.sentUs)
  const paid = reads.filter(({ kind }) => kind === 'read')
  const sum = (list: readonly Drawn[]) => list.reduce((total, { price }) => total + price, 0)
  return {
    ...{ requests: within.length, credits: sum(within) },
    ...{ reads: paid.length, readCredits: sum(paid) },
    openReads: reads.filter(({ kind }) => kind === 'open read').length,
    refused: reads.filter(({ kind }) => kind === 'failure').length,
  }
}

test('the sums between two responses are those of looking at each attempt, in any order', () => {
  let certain = 0
  fc.assert(
    fc.property(
      fc.array(attempt, { maxLength: 6 }),
      fc.array(pair, { minLength: 1, maxLength: 4 }),
      (attempts, pairs) => {
        const sent = new SentByMoment(pairs)
        for (const each of attempts) sent.add(each.sentUs, each.endUs, valuesOf(each), 0)
        sent.accumulate()
        for (const each of pairs) {
          const found = sent.between(each)
          expect(found).toEqual(looked(attempts, each))
          if (found !== null && found.requests > 0) certain++
        }
      },
    ),
    { numRuns: 3_000 },
  )
  expect(certain).toBeGreaterThan(100)
})
