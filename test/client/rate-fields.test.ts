import { expect, test } from 'vitest'
import { durationS, firstLimit, structuredState } from '../../src/client/head/rate-fields.ts'

test.each([
  ['6m0s', 360],
  ['12.5s', 12.5],
  ['250ms', 0.25],
  ['1h2m3s', 3723],
  ['1d', 86_400],
  ['6', Number.NaN],
  ['6x', Number.NaN],
  ['s', Number.NaN],
  ['', Number.NaN],
  ['6m 0s', Number.NaN],
])('a duration %j is %d seconds', (text, seconds) => {
  expect(durationS(text)).toBe(seconds)
})

test.each([
  ['60, 60;w=60', 60],
  ['100, 100;w=60, 1000;w=3600', 100],
  ['60, 60', Number.NaN],
  ['60', Number.NaN],
  ['60, 1000', Number.NaN],
])('a limit with policies %j is %d', (text, limit) => {
  expect(firstLimit(text)).toBe(limit)
})

const state = (limit: number, remaining: number, resetS: number) => ({ limit, remaining, resetS })

test.each([
  ['"minute";r=59;t=30', '"minute";q=60;w=60', state(60, 59, 30), null],
  ['"a";r=9;t=3, "b";r=2;t=500', '"a";q=10;w=60,"b";q=20;w=3600', state(20, 2, 500), null],
  ['limit=100, remaining=50, reset=5', '100;w=60', state(100, 50, 5), null],
  ['"a";r=5', '', state(Number.NaN, 5, Number.NaN), null],
  [
    '"rpm";r=7;t=10, "tpm";r=900;t=10',
    '"rpm";q=10;w=60, "tpm";q=1000;qu="tokens";w=60',
    state(10, 7, 10),
    state(1000, 900, 10),
  ],
  ['"a \\", b";r=4;t=1', '"a \\", b";q=8;w=1', state(8, 4, 1), null],
  ['nonsense', 'more', null, null],
  ['', '', null, null],
])('RateLimit %j with the policy %j', (limits, policies, requests, tokens) => {
  expect(structuredState(limits, policies)).toEqual({ requests, tokens })
})
