import { flags } from '../../../../src/attempt/flags.ts'
import { failed, inTurn, shows, testStored } from './in-turn.ts'

const read = { endpoint: 'credits', model: null } as const
const fails = (observations: number, came: string, ...witnesses: readonly object[]) => ({
  verdict: 'fail',
  observations,
  expected: 'an integer of 0 or more on every success',
  came,
  witnesses,
})
const answer = (headers: string) => ({
  bodies: [{ ...{ runId: 'a', slot: 0, retry: 0, truncated: false, body: '' }, headers }],
})
const malformed = { flags: flags.malformedCredits } as const

testStored('BILL-09', [
  [
    'a header on each success passes, and one that is missing on a failure or a read is none',
    inTurn(shows(0), shows(5, { streamed: 1 }), failed(500), read),
    { verdict: 'pass', observations: 2 },
  ],
  [
    'each kind that lacks it is told with how many of it do',
    inTurn(shows(9), {}, {}, { streamed: 1 }),
    fails(
      4,
      'missing on 2 of chat; missing on 1 of chat stream',
      { slot: 1, shows: 'no header' },
      { slot: 3, shows: 'no header' },
    ),
  ],
  [
    'a balance below zero fails, on a failure and on a read as well',
    inTurn(shows(1), failed(500, shows(-1)), shows(-2, read)),
    fails(
      3,
      'negative on 1 of chat; negative on 1 of credits',
      { slot: 1, shows: 'negative: -1' },
      { slot: 2, shows: 'negative: -2' },
    ),
  ],
  [
    'half a credit is no integer',
    inTurn(shows(1.5)),
    fails(1, 'malformed on 1 of chat', { slot: 0, shows: 'malformed: 1.5' }),
  ],
  [
    'a header that is no number is shown as it came',
    inTurn(malformed),
    fails(1, 'malformed on 1 of chat', { slot: 0, shows: 'malformed: 1e3' }),
    answer('date: today\nX-Credits-Remaining:  1e3'),
  ],
  [
    'one of which nothing was kept is malformed all the same',
    inTurn(malformed),
    fails(1, 'malformed on 1 of chat', { slot: 0, shows: 'malformed' }),
  ],
  [
    'a service that shows no balance anywhere promises none',
    inTurn({}, {}),
    {
      verdict: 'not-observed',
      takes: 'a service that shows its balance, in X-Credits-Remaining or at the credits endpoint',
    },
  ],
  [
    'one that has a credits endpoint promises the header, too',
    inTurn({}, read),
    fails(1, 'missing on 1 of chat', { slot: 0 }),
  ],
  [
    'a credits endpoint that fails is none',
    inTurn({}, { ...read, ...failed(404) }),
    { verdict: 'not-observed' },
  ],
  [
    'failures alone show nothing of it',
    inTurn(failed(500)),
    { verdict: 'not-observed', takes: 'a success on a generation endpoint' },
  ],
])
