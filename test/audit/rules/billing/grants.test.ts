import { expect } from 'vitest'
import type { Verdict } from '../../../../src/audit/verdict.ts'
import { inTurn, testStored } from './in-turn.ts'

const template = {
  ...{ runId: 'a', template: 1, step: 's', method: 'GET', path: '/user/credits' },
  ...{ headers: '{}', body: null, maxTokens: null, n: null, promptHash: null },
}
const asked = { endpoint: 'credits', model: null, template: 1 } as const
/** One answer of the credits endpoint, in December, with this body. */
const told = (body: object) => ({
  templates: [template],
  bodies: [
    {
      ...{ runId: 'a', slot: 1, retry: 0, truncated: false },
      headers: 'date: Wed, 16 Dec 2026 00:00:00 GMT',
      body: JSON.stringify(body),
    },
  ],
})
const rows = inTurn(100, asked).slice(1)

/** Movements, a second apart by default, which add up to the balance. */
const movements = (
  ...list: readonly (readonly [credits: number, kind: string, note?: string, atMs?: number])[]
) =>
  told({
    remaining: list.reduce((sum, [credits]) => sum + credits, 0),
    movements: list.map(([credits, kind, note = '', atMs], at) => ({
      credits,
      kind,
      note,
      at: new Date(atMs ?? 1000 * at).toISOString(),
    })),
  })
const own = [100, 'grant', 'new account'] as const
const invited = [50, 'grant', 'registered by invitation'] as const
const reward = [500, 'grant', 'first payment of an invited account'] as const
const reason = 'one reward for the first payment of each invited account'
const fails = (observations: number, observed: string) => ({
  verdict: 'fail',
  observations,
  expected: reason,
  observed,
  witnesses: [{ slot: 1, retry: 0, shows: observed }],
})
const silent = {
  verdict: 'not-observed',
  requires: 'a grant during the run, or a list of all changes at the credits endpoint',
}

/** The rest of each purchase, and its time. @param remaining the balance, to which a list of all changes adds up */
const lots = (
  lot: {
    readonly source: string
    readonly credits: number
    readonly remaining?: number
    readonly expires_at: string | null
  },
  boughtAt?: string,
  kind = 'purchase',
  remaining = 0,
) =>
  told({
    remaining,
    lots: [lot],
    movements: boughtAt === undefined ? [] : [{ credits: lot.credits, kind, at: boughtAt }],
  })
const standard = (expires_at: string | null, remaining = 5) => ({
  ...{ source: 'package Standard', credits: 5_000, remaining, expires_at },
})
const priceList = (observed: string) => ({
  verdict: 'fail',
  observations: 1,
  expected: 'packages that expire as the price list says',
  observed,
})
const passes = { verdict: 'pass', observations: 1 }
/** A pass in which the time from purchase to expiry was compared, or was not. */
const compared = expect.toSatisfy(
  ({ verdict, note }: Verdict & { note?: string }) => verdict === 'pass' && note === undefined,
)
const undated = { ...passes, note: 'not tested: how long Standard is valid' }

testStored('BILL-18', [
  [
    'a rise by the size of a grant is a grant',
    inTurn(100, 100, 150, 650, 750, 749),
    {
      verdict: 'pass',
      observations: 3,
      note: 'Whether each was due is not seen from outside.',
    },
  ],
  ['a rise by another size is not a grant', inTurn(100, 100, 160), silent],
  ['a correct invitation grant passes', rows, passes, movements(own, invited, reward)],
  [
    'a grant for a registration by invitation of another size fails',
    rows,
    fails(1, '60 credits for a registration by invite code'),
    movements(own, [60, 'grant', 'registered by invitation']),
  ],
  [
    'the first grant of an account may be its own, with the same words',
    rows,
    passes,
    movements([100, 'grant', 'registered by invitation'], invited),
  ],
  [
    'the second grant of an account is not its own',
    rows,
    fails(1, '100 credits for a registration by invite code'),
    movements(own, [100, 'grant', 'registered by invitation']),
  ],
  [
    'a first grant that is not the size of a new account fails',
    rows,
    fails(1, '99 credits for a registration by invite code'),
    movements([99, 'bonus', 'joined by referral'], invited),
  ],
  [
    'more rewards than invited accounts fail',
    rows,
    fails(1, '2 rewards for a first payment, 1 invited'),
    movements(own, invited, reward, reward),
  ],
  [
    'a gift of the size of a reward is not a reward without a payment',
    rows,
    passes,
    movements(own, invited, reward, [500, 'grant', 'happy new year']),
  ],
  [
    "a reward within a millisecond of a purchase is for the account's own payment",
    rows,
    fails(1, '500 credits for its own payment'),
    movements(own, invited, [5_000, 'purchase', '', 5_000], [...reward, 5_001]),
  ],
  [
    'a reward right before a purchase is also for the own payment',
    rows,
    fails(1, '500 credits for its own payment'),
    movements(own, invited, [...reward, 5_000], [5_000, 'purchase', '', 5_001]),
  ],
  [
    'a purchase two milliseconds away belongs to another account',
    rows,
    passes,
    movements(own, invited, [5_000, 'purchase', '', 5_000], [...reward, 5_002]),
  ],
  [
    'a change between a reward and the own purchase in the same millisecond hides neither',
    rows,
    fails(1, '500 credits for its own payment'),
    movements(
      ...([own, invited, [5_000, 'purchase', '', 5_000], [-1, 'charge', '', 5_000]] as const),
      [...reward, 5_001],
    ),
  ],
  [
    'a list that does not add up to the balance is no evidence',
    rows,
    silent,
    told({
      remaining: 161,
      movements: [
        { credits: 100, kind: 'grant', note: 'new', at: '1970-01-01T00:00:00Z' },
        {
          credits: 60,
          kind: 'grant',
          note: 'registered by invitation',
          at: '1970-01-02T00:00:00Z',
        },
      ],
    }),
  ],
  ['an account that invited nobody is no evidence', rows, silent, movements(own)],
])

testStored('BILL-19', [
  [
    'a rise by a package is a purchase',
    inTurn(100, 100, 600, 5_600),
    { verdict: 'pass', observations: 2, note: 'Expiry was not seen.' },
  ],
  [
    'a rise that nearly is a package fails',
    inTurn(100, 100, 580),
    {
      verdict: 'fail',
      observations: 1,
      expected: 'a rise by a package or grant: 500, 5000, 20000, 100, 50, 500',
      observed: 'a rise by 480',
      witnesses: [{ slot: 2, shows: '480 more than before' }],
    },
  ],
  ...(
    [
      ['after', inTurn(1000, 1000, 1480, 1480, 2257), 2],
      ['before', inTurn(1000, 1000, 1777, 1777, 2257), 4],
    ] as const
  ).map(
    ([when, steps, slot]) =>
      [
        `a rise that nearly is a package fails whatever is added by hand ${when} it`,
        steps,
        {
          verdict: 'fail',
          observations: 2,
          observed: 'a rise by 480',
          witnesses: [{ slot, shows: '480 more than before' }],
        },
      ] as const,
  ),
  [
    'a rise that is far from any package or grant may have been made by hand',
    inTurn(100, 100, 126),
    {
      verdict: 'inconclusive',
      observations: 1,
      why: 'account main: the balance rose by 26, which no charge, package or grant explains. Credits were added by hand, or wrongly.',
      witnesses: [{ slot: 2, shows: '26 more than before' }],
    },
  ],
  [
    'a rise of half the smallest grant is too small to count',
    inTurn(100, 100, 125),
    { verdict: 'not-observed' },
  ],
  ['a rise by a grant is not a purchase', inTurn(100, 100, 150), { verdict: 'not-observed' }],
  [
    'Starter without an expiry passes',
    rows,
    passes,
    lots({ source: 'Starter', credits: 500, expires_at: null }),
  ],
  [
    'Starter with an expiry fails',
    rows,
    {
      ...priceList('Starter that expires'),
      witnesses: [{ slot: 1, shows: 'Starter that expires' }],
    },
    lots({ source: 'Starter', credits: 500, expires_at: '2027-01-01T00:00:00Z' }),
  ],
  [
    'Standard without an expiry fails',
    rows,
    priceList('Standard that never expires'),
    lots(standard(null)),
  ],
  [
    'a lot of another size or name is not a package',
    rows,
    {
      verdict: 'not-observed',
      requires:
        'a purchase during the run, and a list of what expires when at the credits endpoint',
    },
    lots({ source: 'Starter', credits: 400, expires_at: '2027-01-01T00:00:00Z' }),
  ],
  [
    'credits that remain a day after their expiry fail',
    rows,
    priceList('Standard left after its expiry'),
    lots(standard('2026-12-14T23:59:59Z')),
  ],
  ['credits may remain for one day', rows, undated, lots(standard('2026-12-15T00:00:00Z'))],
  [
    'an expired lot without remaining credits passes',
    rows,
    undated,
    lots(standard('2026-12-14T23:59:59Z', 0)),
  ],
  [
    'an expiry is not compared with a purchase of a kind that is not known as one',
    rows,
    undated,
    lots(standard('2099-01-01T00:00:00Z'), '2026-12-01T00:00:00Z', 'credit_pack'),
  ],
  [
    'an expiry is not compared with a later purchase, if its own may be older than the list',
    rows,
    undated,
    lots(standard('2026-12-20T00:00:00Z'), '2026-12-10T00:00:00Z'),
  ],
  [
    'an expiry that fits no purchase of a list of all changes fails',
    rows,
    priceList('Standard not valid for 1 month'),
    lots(standard('2026-12-20T00:00:00Z'), '2026-12-10T00:00:00Z', 'purchase', 5_000),
  ],
  ...(
    [
      ['at', '2026-11-18T00:00:00Z', priceList('Standard not valid for 1 month')],
      ['a second behind', '2026-11-18T00:00:01Z', undated],
    ] as const
  ).map(
    ([when, beginsAt, verdict]) =>
      [
        `a list that begins ${when} the earliest time of a purchase`,
        rows,
        verdict,
        told({
          remaining: 0,
          lots: [standard('2026-12-20T00:00:00Z')],
          movements: [
            { credits: 100, kind: 'grant', at: beginsAt },
            { credits: 5_000, kind: 'purchase', at: '2026-12-10T00:00:00Z' },
          ],
        }),
      ] as const,
  ),
  [
    'an expiry that is too late for each purchase fails by any list',
    rows,
    priceList('Standard not valid for 1 month'),
    lots(standard('2099-01-01T00:00:00Z'), '2026-12-01T00:00:00Z'),
  ],
  ...(
    [
      ['27 days', '2026-12-28T00:00:00Z', compared],
      ['32 days', '2027-01-02T00:00:00Z', compared],
      ['less than 27 days', '2026-12-27T23:59:59Z', priceList('Standard not valid for 1 month')],
      ['more than 32 days', '2027-01-02T00:00:01Z', priceList('Standard not valid for 1 month')],
    ] as const
  ).map(
    ([days, expires, verdict]) =>
      [
        `a month of ${days} after the purchase`,
        rows,
        verdict,
        lots(standard(expires), '2026-12-01T00:00:00Z', 'purchase', 5_000),
      ] as const,
  ),
])
