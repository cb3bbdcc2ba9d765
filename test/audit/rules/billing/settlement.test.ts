import { expect } from 'vitest'
import type { AttemptRow } from '../../../../src/attempt/columns.ts'
import { bill11 } from '../../../../src/audit/rules/billing/concurrent-history.ts'
import { bill10 } from '../../../../src/audit/rules/billing/conservation.ts'
import { bill08 } from '../../../../src/audit/rules/billing/settlement.ts'
import { inFlight, read } from '../../in-flight.ts'
import { aborted, dear, failed, inTurn, shows, testCases, testStored } from './in-turn.ts'

const streamed = { streamed: 1 } as const
/** A stream from second one to second six, the given rows during it, and a read after it. */
const whileOpen = (balanceAfter: number, ...meanwhile: readonly AttemptRow[]) => [
  read(0, 0, 100),
  inFlight(1, 1, 6, null, streamed),
  ...meanwhile,
  read(9, 8, balanceAfter),
]

const broken = { outcome: 'broken', reason: 'error-in-stream', ...streamed } as const
/** Two pairs of requests whose values leave out the cost of the pair, and the total at the end. */
const late = [
  read(0, 0, 100),
  inFlight(1, 1, 2, 100),
  inFlight(2, 1.5, 2.5, 100),
  inFlight(3, 3, 4, 99),
  inFlight(4, 3.2, 4.2, 99),
  read(5, 60, 96),
]

/** The same without the total at the end: both values in turn are before the load. */
const unread = [read(9, -1, 100), ...late.slice(0, -1)]

const answers = (path = '/user/credits') => ({
  ...{ runId: 'a', template: 1, step: 's', method: 'GET', path },
  ...{ headers: '{}', body: null, maxTokens: null, n: null, promptHash: null },
})
/** An answer of the credits endpoint, with its header or without. */
const answer = (slot: number, remaining: number | string, header?: string) => ({
  ...{ runId: 'a', slot, retry: 0, truncated: false },
  headers: header === undefined ? '' : `X-Credits-Remaining: ${header}`,
  body: JSON.stringify({ remaining }),
})
const bodies = (...kept: readonly ReturnType<typeof answer>[]) => ({
  templates: [answers()],
  bodies: kept,
})
/** A read of the balance whose body is kept. */
const asked = { endpoint: 'credits', model: null, template: 1 } as const

testCases([
  [
    'charges that come after their response fail, with the delay',
    bill08,
    late,
    {
      verdict: 'fail',
      observations: 6,
      expected: 'account main: every charge in every later value',
      observed: 'charges that show up to 1 s after their response',
      witnesses: [
        { slot: 3, shows: 'does not show what had been charged before' },
        { slot: 2, shows: 'was over by then' },
      ],
    },
  ],
  ...[bill08, bill10, bill11].map(
    (rule) =>
      [
        'charges that no final balance shows may be late, or wrong',
        rule,
        unread,
        {
          verdict: 'inconclusive',
          why: expect.stringContaining('a wrong charge would look the same'),
        },
      ] as const,
  ),
  [
    'charges in the next value have settled',
    bill08,
    inTurn(100, {}, 99, shows(98), 98),
    { verdict: 'pass', observations: 4 },
  ],
  [
    'balances that charges do not explain are no evidence',
    bill08,
    inTurn(100, {}, 92, {}, 104),
    { verdict: 'not-observed', requires: 'a success, and a value of the balance after it' },
  ],
  ['reads alone are no evidence', bill08, inTurn(100, 100), { verdict: 'not-observed' }],
  ['a single value is no evidence', bill08, inTurn(shows(99)), { verdict: 'not-observed' }],
])

testStored('BILL-07', [
  [
    'a stream during which the balance was read must take its price at its end',
    whileOpen(99, read(2, 3, 100)),
    { verdict: 'pass', observations: 1 },
  ],
  [
    'a stream that takes more than its price fails',
    whileOpen(98, read(2, 3, 100)),
    {
      verdict: 'fail',
      observations: 1,
      expected: '1 credit charged once the stream was over',
      observed: '2 credits charged',
      witnesses: [{ slot: 1, shows: 'the stream during which the balance was read' }],
    },
  ],
  [
    'a stream that takes nothing fails',
    whileOpen(100, read(2, 3, 100)),
    { verdict: 'fail', observations: 1, observed: '0 credits charged' },
  ],
  [
    'credits that came in while the stream was open are no charge',
    whileOpen(876, read(2, 2, 100), read(3, 3, 877)),
    { verdict: 'not-observed' },
  ],
  [
    'a package that expired while the stream was open is no charge',
    [read(0, 0, 600), inFlight(1, 1, 6, null, streamed), read(2, 2, 600), read(3, 8, 99)],
    { verdict: 'not-observed' },
  ],
  [
    'a read that ends after the stream does not count as during it',
    whileOpen(98, inFlight(2, 3, 7, 98, { endpoint: 'credits', model: null })),
    {
      verdict: 'not-observed',
      requires: 'a read of the balance while a slow stream is open, and one after',
    },
  ],
  [
    'a request that shows the balance during the stream is not a read',
    whileOpen(97, inFlight(2, 3, 5, 99)),
    { verdict: 'not-observed' },
  ],
  [
    'a read without a balance does not count',
    whileOpen(98, read(2, 3, null)),
    { verdict: 'not-observed' },
  ],
  [
    'credits that a failure next to the stream may have cost belong to another rule',
    whileOpen(98, read(2, 3, 100), inFlight(3, 4, 5, null, failed(500))),
    { verdict: 'not-observed' },
  ],
  [
    'a failure next to a stream that took its price does not matter',
    whileOpen(99, read(2, 3, 100), inFlight(3, 4, 5, null, failed(500))),
    { verdict: 'pass', observations: 1 },
  ],
  [
    'an abandoned request next to the stream leaves its price open',
    whileOpen(98, read(2, 3, 100), inFlight(3, 4, 5, null, aborted)),
    { verdict: 'not-observed' },
  ],
  [
    'a stream that the service cut off must cost nothing',
    inTurn(100, 100, broken, 99),
    {
      verdict: 'fail',
      observations: 1,
      expected: 'nothing charged for a stream that failed midway',
      observed: '1 credit charged',
      witnesses: [{ slot: 2, shows: 'ended with an error event' }],
    },
  ],
  [
    'all streams that the service cut off among successes took a credit',
    inTurn(100, {}, broken, broken, 97),
    { verdict: 'fail', observed: '2 credits charged', witnesses: [{ slot: 2 }] },
  ],
  [
    'one cut stream and one success: either may have taken the credit',
    inTurn(100, {}, broken, 98),
    {
      verdict: 'inconclusive',
      why: 'account main: 1 credit too much in a stretch of 1 streams that failed midway and 1 successes; either may have been charged wrongly',
    },
  ],
  [
    'where a stretch without a cut stream took too much, a double charge is as likely',
    inTurn(100, dear, 97, {}, broken, broken, 94),
    {
      verdict: 'inconclusive',
      why: 'account main: 2 credits too much in a stretch of 2 streams that failed midway and 1 successes; either may have been charged wrongly',
    },
  ],
  [
    'a stream that only ended may have been cut in transit',
    inTurn(100, 100, { ...broken, reason: 'cut' }, 99),
    { verdict: 'not-observed' },
  ],
  [
    'each stream that the service cut off without a charge counts',
    inTurn(100, broken, { ...broken, reason: 'cut', errorType: 'api_error' }, 100),
    { verdict: 'pass', observations: 2 },
  ],
])

testStored('BILL-12', [
  [
    'a page after requests that took another price may be right',
    inTurn(100, {}, {}, { ...asked, creditsRemaining: null }),
    {
      verdict: 'inconclusive',
      why: 'remaining 100 in the body, 98 by the prices of the 2 successes since the header before it; either the body is wrong, or they took another price',
    },
    bodies(answer(3, 100)),
  ],
  [
    'a body that agrees with its header passes',
    inTurn(100, {}, shows(99, asked)),
    { verdict: 'pass', observations: 1 },
    bodies(answer(2, 99, '99')),
  ],
  ...['1,499', '98 credits', '$98.00', '98/100', '٩٨'].map(
    (remaining) =>
      [
        `a body whose remaining credits are ${remaining} is no pass`,
        inTurn(100, {}, shows(99, asked)),
        /\d/.test(remaining)
          ? {
              verdict: 'inconclusive',
              why: `the remaining credits of 1 bodies are no number: "${remaining}"`,
            }
          : { verdict: 'not-observed' },
        bodies(answer(2, remaining, '99')),
      ] as const,
  ),
  [
    'a body that disagrees with its header fails',
    inTurn(100, {}, shows(99, asked)),
    {
      verdict: 'fail',
      observations: 1,
      expected: '99 remaining, as its header tells',
      observed: '98',
      witnesses: [{ slot: 2, retry: 0, shows: 'remaining 98 in the body, 99 by the header' }],
    },
    bodies(answer(2, 98, '99')),
  ],
  [
    'a body without a header is compared with the previous value',
    inTurn(100, 100, dear, asked),
    { verdict: 'pass', observations: 1 },
    bodies(answer(3, 98)),
  ],
  [
    'a body without a header that disagrees with the previous value may be right, if nothing later shows the charge',
    inTurn(100, 100, dear, asked),
    { verdict: 'inconclusive', why: expect.stringContaining('they took another price') },
    bodies(answer(3, 99)),
  ],
  [
    'a body without a header that disagrees with the values before and after it fails',
    inTurn(100, 100, dear, asked, 98),
    {
      verdict: 'fail',
      observations: 1,
      expected: '98 remaining, by the header before it and what was charged since',
      observed: '99',
      witnesses: [{ slot: 3, shows: 'remaining 99 in the body, 98 by the headers before it' }],
    },
    bodies(answer(3, 99)),
  ],
  [
    'a body is right that shows the charge of a request abandoned before the header before it; another one is not',
    inTurn(aborted, 100, asked, 99, asked, 99),
    {
      verdict: 'fail',
      observations: 1,
      expected:
        '99 remaining (give or take 1 of abandoned requests), by the header before it and what was charged since',
      observed: '500',
      witnesses: [{ slot: 4, shows: 'remaining 500 in the body, 99 by the headers before it' }],
    },
    bodies(answer(2, 99), answer(4, 500)),
  ],
  [
    'an abandoned request leaves the body undecided',
    inTurn(100, aborted, shows(99, asked)),
    {
      verdict: 'not-observed',
      requires: 'a captured answer of GET /user/credits with nothing in flight',
    },
    bodies(answer(2, 98, '99')),
  ],
  [
    'a body that was read during a request is not compared',
    [read(0, 0, 100), inFlight(1, 1, 6, 99), inFlight(2, 2, 3, 100, asked), read(3, 8, 99)],
    { verdict: 'not-observed' },
    bodies(answer(2, 99, '100')),
  ],
  [
    'an answer for a range of days is not the balance',
    inTurn(100, {}, shows(99, asked)),
    { verdict: 'not-observed' },
    { templates: [answers('/user/credits?from=1')], bodies: [answer(2, 98, '99')] },
  ],
  [
    'the first read of an account is compared with its header',
    inTurn(shows(99, asked)),
    { verdict: 'fail', observations: 1, observed: '98' },
    bodies(answer(0, 98, '99')),
  ],
  [
    'the first read of an account without a header is compared with nothing',
    inTurn(asked, {}, 98),
    { verdict: 'not-observed' },
    bodies(answer(0, 99)),
  ],
  [
    'credits that came in before a body without a header leave it undecided',
    inTurn(100, {}, asked),
    { verdict: 'not-observed' },
    bodies(answer(2, 137)),
  ],
  [
    'a package that expired before a body without a header leaves it undecided',
    inTurn(600, {}, asked),
    { verdict: 'not-observed' },
    bodies(answer(2, 99)),
  ],
  [
    'a body is compared with the values of its own account',
    [
      ...inTurn(500, {}, 499),
      read(3, 40, 100, { account: 'b' }),
      read(4, 50, 99, { ...asked, account: 'b' }),
    ],
    { verdict: 'fail', observations: 1, expected: '99 remaining, as its header tells' },
    bodies(answer(4, 98, '99')),
  ],
  [
    'a body of a request that was sent again is compared with the value before that',
    [
      read(0, 0, 100),
      read(1, 10, 100, failed(500)),
      inFlight(2, 20, 21, 99),
      read(1, 30, null, { ...asked, retry: 1 }),
      read(3, 40, 99),
    ],
    { verdict: 'pass', observations: 1 },
    bodies({ ...answer(1, 99), retry: 1 }),
  ],
  [
    'each read is compared, not only the first',
    inTurn(shows(100, asked), {}, shows(99, asked)),
    { verdict: 'fail', observations: 2, observed: '98' },
    bodies(answer(0, 100, '100'), answer(2, 98, '99')),
  ],
])
