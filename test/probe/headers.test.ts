import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { parseContract } from '../../src/contract/load.ts'
import { windowShown } from '../../src/probe/questions/headers.ts'
import { defaultProfile } from '../../src/service/profile.ts'
import { probeService } from './probing.ts'

const minute = { status: 200, limit: 60, remaining: 40 }
const hour = { status: 200, limit: 2_000, remaining: 1_900 }
const day = { status: 200, limit: 20_000, remaining: 19_900 }
const byMinute = { status: 429, limit: 60, remaining: 0 }
const byHour = { status: 429, limit: 2_000, remaining: 0 }

test.each([
  ['one answer with the minute', [minute], ['minute', 'failed', 'tightest', 'rotate']],
  ['only the minute', [minute, minute, byMinute], ['minute', 'failed', 'tightest']],
  ['an hour that rejects', [minute, minute, byMinute, byHour], ['failed', 'tightest']],
  ['an hour that rejects right after a minute with room', [minute, minute, byHour], ['failed']],
  ['only the hour', [hour, hour, hour], ['hour', 'tightest']],
  ['the hour, then the minute', [hour, minute], ['tightest', 'rotate']],
  ['the hour after a rest', [minute, minute, minute, minute, hour], ['tightest']],
  ['three in rotation, a few times', [minute, hour, day, minute], ['tightest', 'rotate']],
  ['three in rotation, often', [minute, hour, day, minute, hour, day, minute], ['rotate']],
])('rate headers that show %s', (_, answers, fits) => {
  expect(windowShown([answers], defaultContract)).toMatchObject(
    fits.length === 1
      ? { status: 'answered', is: { window: fits[0] } }
      : { status: 'ambiguous', between: { window: fits } },
  )
})

const bands = [
  { name: 'free', max_balance: 99, requests: { minute: 10, hour: 100, day: 500 } },
  { name: 'pro', min_balance: 100, requests: { minute: 100, hour: 1000, day: 5000 } },
]
const twoBands = {
  ...defaultContract,
  ...parseContract({ bands }, 'c.yaml'),
} as typeof defaultContract

test('a limit that is of a minute in one band and of an hour in another shows no window', () => {
  const shown = { status: 200, limit: 100, remaining: 40 }
  expect(windowShown([[shown, shown]], twoBands)).toEqual({
    status: 'not-askable',
    why: 'no answer names a limit of the table',
  })
  const day = { status: 200, limit: 5000, remaining: 40 }
  expect(windowShown([[shown, day, day]], twoBands)).toMatchObject({
    ...{ status: 'ambiguous', between: { window: ['day', 'tightest'] } },
  })
})

test('windows of other keys and routes are not counted as alternation', () => {
  const routes = [
    [minute, minute, minute, minute],
    [hour, hour, hour, hour],
  ]
  expect(windowShown(routes, defaultContract)).toMatchObject({
    ...{ status: 'answered', is: { window: 'tightest' } },
  })
})

test.each(['minute', 'failed', 'tightest', 'rotate'] as const)(
  'the true answer is among those that fit if a service shows its windows by %s',
  async (window) => {
    const { profile } = await probeService({
      profile: { ...defaultProfile, window },
      balance: 950,
      only: ['G-20', 'G-21'],
    })
    const answer = profile.answers['G-20']
    expect(answer).toMatchObject(
      window === 'rotate'
        ? { status: 'answered', is: { window } }
        : { status: 'ambiguous', between: { window: ['minute', 'failed', 'tightest'] } },
    )
  },
)
