import { expect, test } from 'vitest'
import type { GapAnswer } from '../../src/contract/profile.ts'
import { type Asked, probeService } from './probing.ts'

/** A stall of this machine may leave an answer open, but never changes it. */
async function askedUntilTold(
  gap: 'G-14' | 'G-15',
  is: Readonly<Record<string, string>>,
  asked: Asked,
): Promise<GapAnswer> {
  for (let nth = 1; ; nth++) {
    const answer = (await probeService({ ...asked, only: [gap] })).profile.answers[gap]
    const told = 'is' in answer ? answer.is : {}
    const facets = Object.keys(is)
    expect(is).toMatchObject(
      Object.fromEntries(facets.flatMap((f) => (f in told ? [[f, told[f]]] : []))),
    )
    if (nth === 3 || facets.every((facet) => facet in told)) return answer
  }
}

const policies = [
  ['G-15', 'abortedPlain', 'free', ['charge']],
  ['G-15', 'abortedPlain', 'charged', ['charge']],
  ['G-14', 'abortedStream', 'free', ['before headers', 'after four events']],
  ['G-14', 'abortedStream', 'charged', ['before headers', 'after four events']],
  ['G-14', 'abortedStream', 'after-first-token', ['before headers']],
] as const

// Those of streams take a quarter of a minute each, nearly all of it waiting: all run at once, and only one of them by day.
test.concurrent.for(process.env.NIGHTLY === undefined ? policies.slice(0, 3) : policies)(
  '%s of a distant service with %s %s: requests aborted mid-generation are not taken for finished',
  { tags: 'whole', timeout: 120_000 },
  async ([gap, setting, policy, facets], { onTestFinished }) => {
    const each = policy === 'charged' ? 'charged' : 'free'
    const is = Object.fromEntries(facets.map((facet) => [facet, each]))
    const answer = await askedUntilTold(gap, is, {
      ...{ profile: { [setting]: policy }, awayMs: 70, atEnd: onTestFinished },
      shape: {
        timeToFirstUs: { kind: 'constant', value: 60_000 },
        betweenTokensUs: { kind: 'constant', value: 20_000 },
      },
    })
    expect(answer).toMatchObject({ is })
  },
)

test.concurrent('a stream that ends before the service can detect the abort leaves its policy open', {
  tags: 'whole',
}, async ({ onTestFinished }) => {
  const { profile } = await probeService({
    ...{ profile: { abortedStream: 'free' }, only: ['G-14'], awayMs: 40, atEnd: onTestFinished },
    shape: { betweenTokensUs: { kind: 'constant', value: 100 } },
  })
  expect(profile.answers['G-14']).toMatchObject({
    status: 'ambiguous',
    between: { 'after four events': ['charged', 'free'] },
  })
})

test.concurrent.for(['fixed-aligned', 'sliding-counter', 'gcra'] as const)(
  'requests that the limit of a %s rejected unseen are not taken for free ones',
  { tags: 'whole' },
  async (algorithm, { onTestFinished }) => {
    const { profile } = await probeService({
      ...{ balance: 95, only: ['G-14', 'G-15'], awayMs: 40, atEnd: onTestFinished },
      profile: {
        ...{ algorithm, abortedStream: 'charged', abortedPlain: 'charged', charge: 'start' },
        counts: { models: true, usage: true },
      },
    })
    const told = [profile.answers['G-14'], profile.answers['G-15']].map((answer) =>
      'is' in answer ? Object.values(answer.is) : [],
    )
    expect(new Set(told.flat())).toEqual(new Set(['charged']))
  },
)
