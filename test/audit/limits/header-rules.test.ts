import { describe, expect, test } from 'vitest'
import { flags } from '../../../src/attempt/flags.ts'
import { rate07 } from '../../../src/audit/limits/rate-07.ts'
import { rate08 } from '../../../src/audit/limits/rate-08.ts'
import { evidenceOf, rowOf } from './evidence.ts'

const headers = { rateLimit: 60, rateRemaining: 59, rateReset: 12 }

describe('RATE-07', () => {
  test('passes when successes and rejections carry three numbers, and counts both', async () => {
    const verdict = await rate07.decide(
      await evidenceOf([rowOf(0, 0, headers), rowOf(1, 10, { ...headers, status: 429 })]),
    )
    expect(verdict).toEqual({
      verdict: 'pass',
      observations: 2,
      note: '1 successes, 1 rejections',
    })
  })

  test('fails with the rejection that lacks a header, and names the header', async () => {
    const verdict = await rate07.decide(
      await evidenceOf([
        rowOf(0, 0, headers),
        rowOf(1, 10, { ...headers, status: 429, rateReset: null }),
      ]),
    )
    expect(verdict).toMatchObject({
      verdict: 'fail',
      came: 'x-ratelimit-reset is missing',
      witnesses: [{ slot: 1 }],
      note: 'so on 0 of 1 successes, 1 of 1 rejections',
    })
  })

  test('fails on a header that is there and is no number', async () => {
    const verdict = await rate07.decide(
      await evidenceOf([
        rowOf(0, 0, { ...headers, rateReset: null, flags: flags.malformedRateReset }),
      ]),
    )
    expect(verdict).toMatchObject({ verdict: 'fail', came: 'x-ratelimit-reset is not a number' })
  })

  test('lets other errors go without the headers, which the specification leaves open', async () => {
    const verdict = await rate07.decide(await evidenceOf([rowOf(0, 0, { status: 400 })]))
    expect(verdict).toMatchObject({ verdict: 'not-observed' })
  })
})

describe('RATE-08', () => {
  test.each([
    [-1, 'fail'],
    [61, 'fail'],
    [1.5, 'fail'],
    [0, 'pass'],
    [60, 'pass'],
  ])('remaining %d of 60 is a %s', async (rateRemaining, expected) => {
    const verdict = await rate08.decide(
      await evidenceOf([rowOf(0, 0, headers), rowOf(1, 1, { ...headers, rateRemaining })]),
    )
    expect(verdict.verdict).toBe(expected)
    if (verdict.verdict === 'fail') expect(verdict.witnesses[0].slot).toBe(1)
  })

  test('says not-observed without headers, never pass', async () => {
    const verdict = await rate08.decide(await evidenceOf([rowOf(0, 0)]))
    expect(verdict.verdict).toBe('not-observed')
  })
})
