import fc from 'fast-check'
import { expect, test } from 'vitest'
import { flags } from '../../src/attempt/flags.ts'
import { linesOf } from '../../src/client/head/headers.ts'
import { type HeadFields, ResponseHead } from '../../src/client/head/response-head.ts'
import { defaultContract } from '../../src/contract/default.ts'

const head = new ResponseHead(defaultContract)

/** @param shape of the head, by which a connection knows it again; 0 for none. `varying`: the lines that it does not repeat */
function read(
  lines: readonly string[],
  reader = head,
  shape = 0,
  varying: readonly number[] = [],
): HeadFields {
  const bytes = Buffer.from(lines.map((line) => `${line}\r\n`).join(''), 'latin1')
  const none = Number.NaN
  const said: HeadFields = {
    creditsRemaining: none,
    rateLimit: none,
    rateRemaining: none,
    rateReset: none,
    tokenLimit: none,
    tokenRemaining: none,
    tokenReset: none,
    retryAfter: none,
    dateS: none,
    contentLength: none,
    encoding: null,
    flags: 0,
  }
  reader.read(bytes, { ...linesOf(bytes), shape, varying: varying.map((line) => line * 3) }, said)
  return said
}

test.each([
  ['X-Credits-Remaining: 99', 99, 0],
  ['x-credits-remaining:99', 99, 0],
  ['X-CREDITS-REMAINING:   99  ', 99, 0],
  ['X-Credits-Remaining: -3', -3, 0],
  ['X-Credits-Remaining: 99.0', 99, flags.malformedCredits],
  ['X-Credits-Remaining: 1e3', Number.NaN, flags.malformedCredits],
  ['X-Credits-Remaining: 9 9', Number.NaN, flags.malformedCredits],
  ['X-Credits-Remaining: 0x10', Number.NaN, flags.malformedCredits],
  ['X-Credits-Remaining:', Number.NaN, flags.malformedCredits],
  ['X-Credits-Remaining: 9007199254740991', Number.MAX_SAFE_INTEGER, 0],
  ['X-Credits-Remaining: 9007199254740992', Number.NaN, flags.malformedCredits],
  [`X-Credits-Remaining: ${'9'.repeat(5_000)}`, Number.NaN, flags.malformedCredits],
  [`X-Credits-Remaining: -${'9'.repeat(5_000)}`, Number.NaN, flags.malformedCredits],
  [`X-Credits-Remaining: ${'9'.repeat(5_000)}.5`, Number.NaN, flags.malformedCredits],
  ['X-Credits-Remaining: unlimited', Number.NaN, flags.malformedCredits],
  ['X-Credits-Remainin: 99', Number.NaN, 0],
  ['X-Credits-Remainingg: 99', Number.NaN, 0],
])('%.60s', (line, credits, bits) => {
  const { creditsRemaining, flags: found } = read(['Server: x', line, 'Vary: Origin'])
  expect([creditsRemaining, found]).toEqual([credits, bits])
})

test('a duplicate header is flagged as malformed', () => {
  const { creditsRemaining, flags: found } = read([
    'X-Credits-Remaining: 5',
    'x-credits-remaining: 6',
  ])
  expect([creditsRemaining, found]).toEqual([5, flags.malformedCredits])
})

test('rate limit headers may have fractions, and words are flagged as malformed', () => {
  const said = read([
    'X-RateLimit-Limit: 20',
    'X-RateLimit-Remaining: 0',
    'X-RateLimit-Reset: 0.25',
  ])
  expect([said.rateLimit, said.rateRemaining, said.rateReset, said.flags]).toEqual([20, 0, 0.25, 0])
  const odd = read(['X-RateLimit-Limit: 20;w=60', 'X-RateLimit-Reset: 1s'])
  expect([odd.rateLimit, odd.rateRemaining, odd.rateReset]).toEqual([Number.NaN, Number.NaN, 1])
  expect(odd.flags).toBe(flags.malformedRateLimit | flags.malformedRateReset)
})

test.each([
  [['Retry-After: 7'], 7, 0],
  [['Retry-After: 0'], 0, 0],
  [['Retry-After: 1.5'], 1.5, flags.retryAfterNotSeconds],
  [['Retry-After: Thu, 01 Jan 2026 00:00:30 GMT'], 30, flags.retryAfterNotSeconds],
  [['Retry-After: Thursday, 01-Jan-26 00:00:30 GMT'], 30, flags.retryAfterNotSeconds],
  [['Retry-After: Thu Jan  1 00:00:30 2026'], 30, flags.retryAfterNotSeconds],
  [['Retry-After: Wed, 31 Dec 2025 23:59:59 GMT'], 0, flags.retryAfterNotSeconds],
  [['Retry-After: soon'], Number.NaN, flags.retryAfterNotSeconds],
  [['Retry-After:'], Number.NaN, flags.retryAfterNotSeconds],
  [['Retry-After-Ms: 1500'], 1.5, 0],
  [['retry-after-ms: 250.5'], 0.2505, 0],
  [['retry-after-ms: 1500', 'Retry-After: 2'], 1.5, 0],
  [['retry-after-ms: soon', 'Retry-After: 2'], 2, 0],
  [['retry-after-ms: -5', 'Retry-After: 2'], 2, 0],
])(
  '%s is a wait of %d s, in any order, and whether or not the head is known',
  (lines, waitS, bits) => {
    const whole = ['Date: Thu, 01 Jan 2026 00:00:00 GMT', ...lines]
    for (const order of [whole, whole.toReversed()]) {
      for (const [shape, varying] of [
        [0, []],
        [1, []],
        ...whole.map((_, at) => [2 + at, [at]] as const),
      ] as const) {
        const own = new ResponseHead(defaultContract)
        for (let time = 0; time < 2; time++) {
          const { retryAfter, flags: found } = read(order, own, shape, varying)
          expect([retryAfter, found]).toEqual([waitS, bits])
          expect(read(['Server: x'], own).retryAfter).toBeNaN()
        }
      }
    }
  },
)

test('a Retry-After date without Date is counted from the clock of this machine', () => {
  const own = new ResponseHead(defaultContract, () => 1_767_225_600)
  expect(read(['Retry-After: Thu, 01 Jan 2026 00:00:30 GMT'], own).retryAfter).toBe(30)
})

test('the media type is recognised in any case and with parameters', () => {
  expect(read(['Content-Type: application/json; charset=utf-8']).flags).toBe(flags.jsonType)
  expect(read(['content-type: Text/Event-Stream;charset=utf-8']).flags).toBe(flags.sseType)
  expect(read(['Content-Type: text/html']).flags).toBe(0)
})

test('dates are read, also in sequence', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 4e9 }), { minLength: 1 }), (seconds) => {
      for (const second of seconds) {
        const date = new Date(second * 1000).toUTCString()
        expect(read([`Date: ${date}`]).dateS).toBe(second)
      }
    }),
  )
  expect(read(['Date: yesterday']).dateS).toBeNaN()
})

test.each([
  ['Sunday, 06-Nov-94 08:49:37 GMT', 784_111_777],
  ['Sun Nov  6 08:49:37 1994', 784_111_777],
  ['5', Number.NaN],
  ['2026-03-01 10:00:00', Number.NaN],
  // As long as the usual form.
  ['March of the year 2026, 10:00', Number.NaN],
])('a Date of %s is %d, whatever the zone of this machine', (text, seconds) => {
  expect(read([`Date: ${text}`]).dateS).toBe(seconds)
})

test('a last line that is not closed is no line', () => {
  const { count, offsets } = linesOf(Buffer.from('Server: x\r\nVary: Origin', 'latin1'))
  expect([count, ...offsets]).toEqual([1, 0, 6, 9])
})

const date = 'Date: Thu, 01 Jan 2026 00:00:00 GMT'

test.each([
  ['6m0s', 360],
  ['2026-01-01T00:00:30.400Z', 30],
  ['Thu, 01 Jan 2026 00:00:30 GMT', 30],
  ['2025-12-31T23:59:59Z', 0],
])('a reset of %s is %d seconds from Date, and no plain number', (reset, seconds) => {
  const lines = [`X-RateLimit-Reset: ${reset}`, date]
  for (const order of [lines, lines.toReversed()]) {
    const { rateReset, flags: found } = read(order)
    expect([rateReset, found]).toEqual([seconds, flags.malformedRateReset])
  }
})

test('a time without Date is in Unix seconds, and does not reach into the next head', () => {
  expect(read(['X-RateLimit-Reset: 2026-01-01T00:00:30Z']).rateReset).toBe(1_767_225_630)
  expect(read([date]).rateReset).toBeNaN()
})

test('a limit before its policies is the limit', () => {
  const { rateLimit, flags: found } = read(['X-RateLimit-Limit: 60, 60;w=60'])
  expect([rateLimit, found]).toEqual([60, flags.malformedRateLimit])
})

test('structured fields are read if no other header shows a limit', () => {
  const fields = ['RateLimit: "minute";r=59;t=30', 'RateLimit-Policy: "minute";q=60;w=60']
  expect(read(fields)).toMatchObject({
    ...{ rateLimit: 60, rateRemaining: 59, rateReset: 30, flags: flags.structuredRateLimit },
  })
  expect(read([...fields, 'X-RateLimit-Limit: 7'])).toMatchObject({ rateLimit: 7, flags: 0 })
  expect(read([date]).rateLimit).toBeNaN()
})

test('a header may have several names, of which the first that is sent counts', () => {
  const names = ['x-rate', 'ratelimit-limit'] as const
  const own = new ResponseHead({ name: 'mine', headers: { rateLimit: names } })
  const said = read([])
  const limitOf = (lines: readonly string[]) => {
    const bytes = Buffer.from(lines.map((line) => `${line}\r\n`).join(''), 'latin1')
    own.read(bytes, linesOf(bytes), said)
    return said.rateLimit
  }
  expect(limitOf(['RateLimit-Limit: 5', 'X-Rate: 6'])).toBe(6)
  expect(limitOf(['RateLimit-Limit: 5'])).toBe(5)
  expect(said.flags).toBe(0)
})

test.each([
  ['application/json', true],
  ['Application/JSON; charset=utf-8', true],
  ['application/problem+json', true],
  ['application/vnd.api+json;v=1', true],
  ['text/json', true],
  ['application/json5', false],
  ['application/jsonl', false],
  ['text/html', false],
])('content type %s is JSON: %s', (type, isJson) => {
  expect((read([`content-type: ${type}`]).flags & flags.jsonType) !== 0).toBe(isJson)
})
