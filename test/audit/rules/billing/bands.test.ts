import type { AttemptRow } from '../../../../src/attempt/columns.ts'
import { firstUniqueTemplate } from '../../../../src/attempt/evidence.ts'
import { bill04 } from '../../../../src/audit/rules/billing/bands.ts'
import { inFlight, read } from '../../in-flight.ts'
import { inTurn, type Step, shows, testCases, testStored } from './in-turn.ts'

/** Sequential requests, each with the credits that it took. */
function taking(...requests: readonly (readonly [took: number, request: Partial<AttemptRow>])[]) {
  let balance = 900
  const steps: Step[] = [balance]
  for (const [took, request] of requests) {
    balance -= took
    steps.push(request, balance)
  }
  return inTurn(...steps)
}
const times = (count: number, took: number, request: Partial<AttemptRow> = {}) =>
  Array.from({ length: count }, () => [took, request] as const)
const streamed = { streamed: 1 } as const

/** Three requests that cost 2 each, down to this balance and further. */
const twice = (balance: number): readonly Step[] =>
  [balance, balance - 2, balance - 4].flatMap((left) => [shows(left), left])

const inconclusive = (wrong: number, observations: number) => ({
  verdict: 'inconclusive',
  observations,
  why: `${wrong === 1 ? '1 request costs other than its price' : `${wrong} requests cost other than their price`}, and no factor explains which`,
})
const template = (nth: number, body: object) => ({
  ...{ runId: 'a', template: nth, step: 's', method: 'POST', path: '/v1/chat/completions' },
  ...{ headers: '{}', body: JSON.stringify(body), maxTokens: null, n: null, promptHash: null },
})

/** Accounts, each of which shows its balance before and after two requests, at the same times. */
const accounts = (...balances: readonly (readonly [number, number, number])[]) =>
  balances.flatMap(([before, between, after], nth) =>
    inTurn(before, shows(between), between, shows(after), after).map((row) => ({
      ...row,
      slot: row.slot + 100 * nth,
      account: `account-${nth}`,
      keyFp: `key-${nth}`,
    })),
  )

/**
 * Plain requests and streams in turn, each of which shows the balance that is left, and reads beside plain ones only.
 * At the end a stream is shown its head while a plain request that was called before it is not charged yet.
 *
 * @param prices what a plain request takes, and what a stream takes
 * @param shown what the head of a stream has beyond the balance after the stream
 */
function interleaved(prices: { readonly plain: number; readonly stream: number }, shown = 0) {
  let balance = 900
  const steps: Step[] = []
  for (let turn = 0; turn < 6; turn++) {
    balance -= prices.plain
    steps.push(balance + prices.plain, shows(balance))
    balance -= prices.stream
    steps.push(shows(balance + shown, streamed))
    balance -= prices.plain
    steps.push(shows(balance))
  }
  const [at, left] = [steps.length, balance - prices.plain - prices.stream]
  return [
    ...inTurn(...steps, balance),
    inFlight(at + 1, 1000, 1009, left),
    inFlight(at + 2, 1001, 1003, left + prices.plain + shown, streamed),
    read(at + 3, 1010, left),
  ]
}

testCases([
  [
    'an equal price in two bands passes, and the bands are named',
    bill04,
    inTurn(103, shows(102), 102, shows(101), 101, shows(100), 100, shows(99), 99),
    { verdict: 'pass', observations: 4, note: 'seen in 101-1000, 1-100' },
  ],
  [
    'accounts in one band cannot be compared',
    bill04,
    inTurn(99, shows(98), 98, shows(97), 97),
    { verdict: 'not-observed', requires: 'requests one at a time on balances in two bands' },
  ],
  [
    'rich accounts that are not charged fail',
    bill04,
    accounts([500, 500, 500], [50, 49, 48]),
    {
      verdict: 'fail',
      observations: 4,
      expected: 'the same price at a balance of 501 as at 50',
      observed: '2 of 2 requests on that side cost other than their price',
      witnesses: [
        { slot: 1, shows: 'cost 0 credits instead of 1' },
        { slot: 101, shows: 'cost 1 credit' },
      ],
    },
  ],
  [
    'poor accounts that pay double fail',
    bill04,
    accounts([500, 499, 498], [50, 48, 46]),
    {
      verdict: 'fail',
      observations: 4,
      expected: 'the same price at a balance of 49 as at 499',
      observed: '2 of 2 requests on that side cost other than their price',
    },
  ],
  [
    'one wrong price does not depend on the balance',
    bill04,
    accounts([500, 500, 499], [50, 49, 48]),
    {
      verdict: 'inconclusive',
      observations: 4,
      why: 'some requests cost other than their price, and the band does not explain which',
    },
  ],
  [
    'wrong prices on both sides do not depend on the balance',
    bill04,
    accounts([500, 498, 497], [50, 48, 46]),
    { verdict: 'inconclusive', observations: 4 },
  ],
  [
    'a price that changed at one time, within a band, does not depend on the balance',
    bill04,
    inTurn(103, shows(102), 102, shows(101), 101, shows(100), 100, shows(99), 99, ...twice(97)),
    {
      verdict: 'inconclusive',
      observations: 7,
      why: '3 requests cost other than their price, all of them on one side of a balance of 100, which is no edge of a band, and all of them on one side of a time: a price that changed then looks the same',
    },
  ],
  [
    'a price that differs within a band, of accounts that send at the same times, depends on the balance',
    bill04,
    accounts([500, 498, 496], [300, 299, 298], [50, 49, 48]),
    { verdict: 'fail', observed: '2 of 2 requests on that side cost other than their price' },
  ],
  [
    'a price that changed at the edge of a band depends on the balance',
    bill04,
    inTurn(103, shows(102), 102, shows(101), 101, ...twice(99)),
    { verdict: 'fail', observed: '3 of 3 requests on that side cost other than their price' },
  ],
  [
    'requests without a balance are in no band',
    bill04,
    inTurn(103, shows(102), 102, {}, 101, {}, 100, shows(99), 99),
    { verdict: 'pass', observations: 2, note: 'seen in 101-1000, 1-100' },
  ],
])

testStored('BILL-03', [
  [
    'streams that cost double while plain requests do not fail',
    taking(...times(2, 1), ...times(2, 2, streamed)),
    {
      verdict: 'fail',
      observations: 4,
      expected: 'the same price with streamed as with plain',
      observed: '2 credits instead of 1; 2 of 2 requests with streamed',
      witnesses: [
        { slot: 5, shows: 'cost 2 credits, streamed' },
        { slot: 1, shows: 'cost 1 credit, plain' },
      ],
    },
  ],
  [
    'free streams fail though one seems to show the balance before its charge',
    interleaved({ plain: 1, stream: 0 }),
    {
      verdict: 'fail',
      observations: 18,
      expected: 'the same price with streamed as with plain',
      observed: '0 credits instead of 1; 6 of 6 requests with streamed',
    },
  ],
  [
    'plain requests that cost double fail though streams show the balance before their charge',
    interleaved({ plain: 2, stream: 1 }, 1),
    {
      verdict: 'fail',
      expected: 'the same price with plain as with streamed',
      observed: '2 credits instead of 1; 12 of 12 requests with plain',
    },
  ],
  ...([0, 1] as const).map(
    (shown) =>
      [
        `right charges pass where the head of a stream shows ${shown === 0 ? 'what is left' : 'what was there'}`,
        interleaved({ plain: 1, stream: 1 }, shown),
        { verdict: 'pass' },
      ] as const,
  ),
  [
    'requests that are free when they repeat an earlier one fail, whatever else they have in common',
    taking(
      [1, { template: 0 }],
      [1, { template: 1 }],
      ...times(3, 0, { template: 0 }),
      [1, { template: 2 }],
      ...times(2, 0, { template: 1 }),
    ),
    {
      verdict: 'fail',
      expected: 'the same price with a request like an earlier one as with a first request',
      observed: '0 credits instead of 1; 5 of 5 requests with a request like an earlier one',
    },
    {
      templates: [
        template(0, { max_tokens: 8 }),
        template(1, { max_tokens: 16 }),
        template(2, { max_tokens: 40 }),
      ],
    },
  ],
  [
    'prompts of their own that share a template are no requests like an earlier one',
    taking(
      [1, { template: firstUniqueTemplate }],
      ...times(5, 0, { template: firstUniqueTemplate }),
    ),
    { verdict: 'not-observed' },
    { templates: [template(firstUniqueTemplate, {})] },
  ],
  [
    'a price that rises at one time accuses no factor, though one of its levels came only before',
    [
      ...taking(
        ...times(3, 1),
        ...times(2, 1, { endpoint: 'messages' }),
        ...times(2, 1, streamed),
        ...times(6, 2),
        ...times(3, 2, { endpoint: 'messages' }),
      ),
      // Reads are free.
      read(100, 1000, 875),
      read(101, 1001, 875),
    ],
    {
      verdict: 'inconclusive',
      observations: 16,
      why: 'the price changed at one time: the first 7 requests cost their price, and the 9 after them cost 2 credits instead of 1. BILL-01 and BILL-02 are about that; which factor matters does not show.',
    },
  ],
  [
    'each factor with two levels is named, with the prompt lengths',
    taking(
      [1, { promptTokens: 12 }],
      [1, { endpoint: 'messages', promptTokens: 30 }],
      [1, { ...streamed, promptTokens: 20 }],
      [1, { template: 1, promptTokens: 20 }],
    ),
    {
      verdict: 'pass',
      observations: 4,
      note: 'seen at two levels: format, stream, n, max_tokens, prompt length, user; prompts of 12 to 30 tokens; no success had: svc-k2 with messages streamed, n of 3 or more, a system prompt; svc-k2-0905; svc-k2-thinking; svc-k2.5',
    },
    {
      templates: [
        template(0, {}),
        template(1, { n: 2, max_tokens: 5, user: 'u', prompt: 'x'.repeat(1000) }),
      ],
    },
  ],
  [
    'a constant parameter is not a factor, nor is a prompt that is short enough',
    taking([1, {}], [1, streamed], [1, { template: 1 }]),
    {
      verdict: 'pass',
      note: 'seen at two levels: stream; prompts of 10 to 10 tokens; no success had: svc-k2 with messages plain, messages streamed, n of 3 or more, a system prompt; svc-k2-0905; svc-k2-thinking; svc-k2.5',
    },
    { templates: [template(0, { n: 1 }), template(1, { p: 'x'.repeat(992) })] },
  ],
  [
    'requests that are all alike cannot be compared',
    taking(...times(3, 1)),
    {
      verdict: 'not-observed',
      requires:
        'requests one at a time that differ in format, stream, n, max_tokens, prompt length, user, system prompt',
    },
  ],
  [
    'one stream that cost double is inconclusive',
    taking(...times(2, 1), [2, streamed]),
    inconclusive(1, 3),
  ],
  [
    'a level fails if half of it is wrong and a tenth of the other level is not',
    taking(...times(9, 1), [2, {}], ...times(2, 1, streamed), ...times(2, 2, streamed)),
    { verdict: 'fail', observed: '2 credits instead of 1; 2 of 4 requests with streamed' },
  ],
  [
    'a level of which less than half is wrong is inconclusive',
    taking(...times(2, 1), ...times(3, 1, streamed), ...times(2, 2, streamed)),
    inconclusive(2, 7),
  ],
  [
    'a level of which more than a tenth is wrong is not the right one',
    taking(...times(8, 1), [2, {}], ...times(2, 2, streamed)),
    inconclusive(3, 11),
  ],
])
