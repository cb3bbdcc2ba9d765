import { flags } from '../../../../src/attempt/flags.ts'
import { failed, inTurn, shows, testStored } from './in-turn.ts'

const read = { endpoint: 'credits', model: null } as const
const fails = (observations: number, observed: string, ...witnesses: readonly object[]) => ({
  verdict: 'fail',
  observations,
  expected: 'an integer of 0 or more on every success',
  observed,
  witnesses,
})
const answer = (headers: string) => ({
  bodies: [{ ...{ runId: 'a', slot: 0, retry: 0, truncated: false, body: '' }, headers }],
})
const malformed = { flags: flags.malformedCredits } as const

testStored('BILL-09', [
  [
    'a header on each success passes, and failures and reads do not need it',
    inTurn(shows(0), shows(5, { streamed: 1 }), failed(500), read),
    { verdict: 'pass', observations: 2 },
  ],
  [
    'each kind of request without a header is reported with its count',
    inTurn(shows(9), {}, {}, { streamed: 1 }),
    fails(
      4,
      'missing on 2 of chat; missing on 1 of chat stream',
      { slot: 1, shows: 'no header' },
      { slot: 3, shows: 'no header' },
    ),
  ],
  [
    'a negative balance fails, also on a failure and on a read',
    inTurn(shows(1), failed(500, shows(-1)), shows(-2, read)),
    fails(
      3,
      'negative on 1 of chat; negative on 1 of credits',
      { slot: 1, shows: 'negative: -1' },
      { slot: 2, shows: 'negative: -2' },
    ),
  ],
  [
    'half a credit is not an integer',
    inTurn(shows(1.5)),
    fails(1, 'malformed on 1 of chat', { slot: 0, shows: 'malformed: 1.5' }),
  ],
  [
    'a header that is not a number is shown as sent',
    inTurn(malformed),
    fails(1, 'malformed on 1 of chat', { slot: 0, shows: 'malformed: 1e3' }),
    answer('date: today\nX-Credits-Remaining:  1e3'),
  ],
  [
    'a malformed header without a stored value also fails',
    inTurn(malformed),
    fails(1, 'malformed on 1 of chat', { slot: 0, shows: 'malformed' }),
  ],
  [
    'a service without any balance promises no header',
    inTurn({}, {}),
    {
      verdict: 'not-observed',
      requires:
        'a service that shows its balance, in X-Credits-Remaining or at the credits endpoint',
    },
  ],
  [
    'a service with a credits endpoint promises the header',
    inTurn({}, read),
    fails(1, 'missing on 1 of chat', { slot: 0 }),
  ],
  [
    'a credits endpoint that fails does not count',
    inTurn({}, { ...read, ...failed(404) }),
    { verdict: 'not-observed' },
  ],
  [
    'failures alone are no evidence',
    inTurn(failed(500)),
    { verdict: 'not-observed', requires: 'a success on a generation endpoint' },
  ],
])
