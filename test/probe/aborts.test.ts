import { expect, test } from 'vitest'
import { probeService } from './probing.ts'

test.each([
  ['G-15', 'abortedPlain', 'free', ['charge']],
  ['G-15', 'abortedPlain', 'charged', ['charge']],
  ['G-14', 'abortedStream', 'free', ['before headers', 'after four events']],
  ['G-14', 'abortedStream', 'charged', ['before headers', 'after four events']],
  ['G-14', 'abortedStream', 'after-first-token', ['before headers']],
] as const)(
  '%s of a service far away with %s %s: what is left while it works is not taken for finished',
  async (gap, setting, policy, facets) => {
    const { profile } = await probeService({
      ...{ profile: { [setting]: policy }, only: [gap], awayMs: 40 },
      shape: {
        timeToFirstUs: { kind: 'constant', value: 30_000 },
        betweenTokensUs: { kind: 'constant', value: 15_000 },
      },
    })
    const is = policy === 'charged' ? 'charged' : 'free'
    expect(profile.answers[gap]).toMatchObject({
      is: Object.fromEntries(facets.map((facet) => [facet, is])),
    })
  },
)

test('a stream that is over before the service can hear that it was left tells no policy', async () => {
  const { profile } = await probeService({
    ...{ profile: { abortedStream: 'free' }, only: ['G-14'], awayMs: 40 },
    shape: { betweenTokensUs: { kind: 'constant', value: 100 } },
  })
  expect(profile.answers['G-14']).toMatchObject({
    status: 'ambiguous',
    between: { 'after four events': ['charged', 'free'] },
  })
})

test.each(['fixed-aligned', 'sliding-counter', 'gcra'] as const)(
  'requests that the limit of a %s turned away unseen are not taken for free ones',
  async (algorithm) => {
    const { profile } = await probeService({
      ...{ balance: 95, only: ['G-14', 'G-15'], awayMs: 40 },
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
