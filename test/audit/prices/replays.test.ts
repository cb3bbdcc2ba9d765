import { describe, expect, test } from 'vitest'
import type { Verdict } from '../../../src/audit/verdict.ts'
import { audited, chat, contractOf, left, row, type Sent } from './paid.ts'

/** Answers that a service gives again, for the key of a repeated request or from a cache: what they may cost, and what they may not. */

/** An id that no other answer has by chance. */
const id = 'chatcmpl-7f3a9c41d2e8b650'
const first: Sent = { ...chat(id), once: 'k' }
/** Cost of one such answer, of its input alone. */
const [full, input] = [0.00014, 0.00004]

const charging = (gateway_cache: string, more: object = {}) =>
  contractOf({
    charged: { success: 'full', refused: 'none', abort: 'received', gateway_cache, ...more },
  })
const failedIn = (found: Readonly<Record<string, Verdict>>) =>
  Object.entries(found).flatMap(([rule, { verdict }]) => (verdict === 'fail' ? [rule] : []))
const money = (amount: number) => amount.toFixed(9)

test('answers that came again are free without a promise, and no pass if something was taken for them', async () => {
  const contract = contractOf({ charged: { success: 'full', refused: 'none' } })
  const marked: Sent = { ...first, headers: 'idempotency-replayed: true' }
  for (const again of [first, marked]) {
    const found = async (taken: number) =>
      (await audited([first, again, again], ['0', money(taken)], { contract }))['PRICE-06']
    if (again === first) expect(await found(full)).toMatchObject({ verdict: 'pass' })
    for (const taken of [2 * full, 3 * full])
      expect(await found(taken)).toMatchObject({
        verdict: 'inconclusive',
        why: 'something was taken for 2 answers that came again, and the contract does not say what those cost (charged.gateway_cache: none or full)',
      })
  }
})

describe('what a contract promises of an answer that is given again', () => {
  test.each([
    ['none', full, [full + input, 2 * full, 3 * full]],
    ['input', full + 2 * input, [full, 2 * full + input, 3 * full]],
    ['full', 3 * full, [full, 2 * full, full + 2 * input]],
  ] as const)(
    'decides what the balance takes (%s)',
    { tags: 'whole' },
    async (promised, right, wrong) => {
      const options = { contract: charging(promised) }
      const sends = [first, first, first]
      expect((await audited(sends, ['0', money(right)], options))['PRICE-06']).toMatchObject({
        verdict: 'pass',
      })
      for (const taken of wrong)
        expect([
          taken,
          (await audited(sends, ['0', money(taken)], options))['PRICE-06']!.verdict,
        ]).toEqual([taken, 'fail'])
    },
  )

  test('decides what the answer states, and names the cache', async () => {
    const stating = (cost: number): Sent => ({
      ...first,
      answer: first.answer.replace('"usage"', `"cost": ${cost}, "usage"`),
    })
    const contract = contractOf({
      charged: { success: 'full', gateway_cache: 'none' },
      evidence: { cost: [{ body: 'cost' }] },
    })
    const found = async (again: number) =>
      (await audited([stating(full), stating(again), stating(again)], null, { contract }))[
        'PRICE-03'
      ]
    expect(await found(0)).toMatchObject({ verdict: 'pass' })
    expect(await found(full)).toMatchObject({
      verdict: 'fail',
      observed: expect.stringContaining('2 of 3 costs are wrong: charged in full'),
    })
  })

  test('decides what the log charges for each row of its own', async () => {
    const log = (again: number) => [row(id, full, 1), row(id, again, 2), row(id, again, 3)]
    const found = async (again: number) =>
      audited([first, first, first], ['0', money(full + 2 * again)], {
        contract: charging('none'),
        log: log(again),
      })
    expect(failedIn(await found(0))).toEqual([])
    expect(failedIn(await found(full))).toEqual(expect.arrayContaining(['PRICE-04', 'PRICE-06']))
  })

  test('holds in a stream, in Messages, and where another model was asked for', {
    tags: 'whole',
  }, async () => {
    const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
    const stream: Sent = {
      ...first,
      ended: { streamed: 1, doneMarks: 1 },
      answer: `${event({ id, choices: [{ delta: { content: 'Hi' } }] })}${event({ id, choices: [], usage })}data: [DONE]\n\n`,
    }
    const message: Sent = {
      ...{ id, once: 'k', endpoint: 'messages', path: '/v1/messages' },
      answer: `{"id":"${id}","type":"message","model":"big","content":[{"type":"text","text":"Hi"}],"usage":{"input_tokens":10,"output_tokens":5}}`,
    }
    const asOther: Sent = { ...first, model: 'embed', ended: { responseModel: 'big' } }
    for (const again of [
      [stream, stream],
      [message, message],
      [first, asOther],
    ] as const) {
      const found = async (taken: number) =>
        (await audited(again, ['0', money(taken)], { contract: charging('none') }))['PRICE-06']!
          .verdict
      expect([await found(full), await found(2 * full)]).toEqual(['pass', 'fail'])
    }
  })

  test('holds where a header says that a cache answered, under an id of its own', {
    tags: 'whole',
  }, async () => {
    for (const headers of [
      'x-cache: HIT',
      'cf-aig-cache-status: HIT',
      'Idempotent-Replayed: true',
      'idempotency-replayed: true',
      'X-Idempotency-Status: replayed',
    ]) {
      const again = { ...first, ...chat(`${id}-2`), headers }
      const found = async (taken: number) =>
        (await audited([first, again], ['0', money(taken)], { contract: charging('none') }))[
          'PRICE-06'
        ]!.verdict
      expect([headers, await found(full), await found(2 * full)]).toEqual([headers, 'pass', 'fail'])
    }
  })

  test('leaves a charge undecided where the id is so short that two answers may have it by chance', {
    tags: 'whole',
  }, async () => {
    const short = (nth: number): Sent => ({ ...chat('chatcmpl-417'), body: `{"n":${nth}}` })
    const contract = charging('none')
    const charged = await audited([short(1), short(2)], ['0', money(2 * full)], { contract })
    expect(charged['PRICE-06']).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringContaining('has the id of an earlier one'),
    })
    const free = await audited([short(1), short(2)], ['0', money(full)], { contract })
    expect(free['PRICE-06']!.verdict).toBe('pass')
  })
})

describe('an answer that was cut and is given whole for the same key', () => {
  const whole = { ...left(1), once: 'k', isLeft: false, id, ended: { streamed: 1, doneMarks: 1 } }
  const usage = { prompt_tokens: 14, completion_tokens: 100, total_tokens: 114 }
  const cost = (14 * 4 + 100 * 20) / 1e6
  const again: Sent = {
    ...whole,
    answer: `data: {"id":"${id}","choices":[],"usage":${JSON.stringify(usage)}}\n\ndata: [DONE]\n\n`,
  }

  test.each([
    ['left by its client', { isLeft: true, id }],
    ['broken off by the service', { ended: { outcome: 'broken', streamed: 1 }, id }],
  ] as const)('is charged once, with one row (%s)', { tags: 'whole' }, async (_, how) => {
    const cut: Sent = { ...left(1), isLeft: false, once: 'k', ...how }
    for (const abort of ['none', 'received'] as const) {
      const contract = charging('none', { abort, broken: abort })
      const once = await audited([cut, again], ['0', money(cost)], {
        contract,
        log: [row(id, cost, 1, 14, 100)],
      })
      expect([abort, failedIn(once)]).toEqual([abort, []])
      const twice = await audited([cut, again], ['0', money(2 * cost)], { contract })
      expect([abort, twice['PRICE-06']!.verdict]).toEqual([abort, 'fail'])
    }
  })

  test('may be charged to the attempt that timed out, whose row is older than the answer', {
    tags: 'whole',
  }, async () => {
    const asked = { once: 'k', body: '{"model":"big","messages":"Tell.","max_tokens":400}' }
    const late: Sent = {
      ...{ ...asked, id: null, answer: '', isStored: false },
      ended: { outcome: 'timeout', promptTokens: null, completionTokens: null },
    }
    const answer: Sent = { ...asked, id, answer: JSON.stringify({ id, usage }) }
    const readBetween: Sent = {
      ...{ path: '/key/info', method: 'GET', model: null, endpoint: 'other' },
      answer: `{"spend": ${money(cost)}}`,
    }
    const found = async (
      sends: readonly Sent[],
      taken: number,
      contract = charging('none', { abort: 'none' }),
    ) =>
      audited(sends, ['0', money(taken)], {
        contract,
        log: [row(id, cost, 1, 14, 100)],
      })
    expect(failedIn(await found([late, answer], cost))).toEqual([])
    expect(failedIn(await found([late, readBetween, answer], cost))).toEqual([])
    expect((await found([late, answer], 2 * cost))['PRICE-06']!.verdict).toBe('fail')
    // Nothing was taken for the answer.
    expect((await found([late, answer], 0))['PRICE-06']!.verdict).toBe('fail')
    // Without the key, two requests are two.
    const { once: _, ...other } = late
    const apart = [other, readBetween, answer]
    const atOnce = contractOf({
      charged: { success: 'full', refused: 'none', abort: 'none' },
      evidence: { balance: { get: '/key/info', value: 'spend', moves: 'up', within: '0s' } },
    })
    expect((await found(apart, cost, atOnce))['PRICE-06']!.verdict).toBe('fail')
    // What was held back for the first one may come back late, where the contract does not say how late.
    expect((await found(apart, cost))['PRICE-06']!.verdict).toBe('inconclusive')
  })

  test('has a row of the first attempt, however long ago it was', { tags: 'whole' }, async () => {
    const asked = { once: 'k', body: '{"model":"big","messages":"Tell."}' }
    const late: Sent = {
      ...{ ...asked, id: null, answer: '', isStored: false },
      ended: { outcome: 'timeout', promptTokens: null, completionTokens: null },
    }
    const waits = Array.from(
      { length: 120 },
      (_, nth): Sent => ({
        ...{
          path: '/health',
          method: 'GET',
          model: null,
          endpoint: 'other',
          answer: `{"n":${nth}}`,
        },
      }),
    )
    const answer: Sent = { ...asked, id, answer: JSON.stringify({ id, usage }) }
    const found = await audited([late, ...waits, answer], ['0', money(cost)], {
      contract: charging('none', { abort: 'none' }),
      log: [row(id, cost, 1, 14, 100)],
    })
    expect(failedIn(found)).toEqual([])
  })
})

describe('requests under a key that was used', () => {
  test('are free where they are refused as a conflict, for another body, or while the first runs', {
    tags: 'whole',
  }, async () => {
    for (const status of [409, 422]) {
      const refused: Sent = {
        ...{ id: null, once: 'k', body: '{"model":"big","messages":"Other"}' },
        ended: { outcome: 'http_error', status },
        answer: '{"error":{"type":"idempotency_error","message":"The key was used."}}',
      }
      const found = async (taken: number) =>
        (await audited([first, refused], ['0', money(taken)]))['PRICE-06']!.verdict
      expect([await found(full), await found(2 * full)]).toEqual(['pass', 'fail'])
    }
  })

  test('cost their price where the first attempt was refused', { tags: 'whole' }, async () => {
    const failed: Sent = {
      ...{ ...first, id: null, answer: '{"error":{"type":"api_error"}}' },
      ended: { outcome: 'http_error', status: 500 },
    }
    const found = async (taken: number) =>
      (await audited([failed, first], ['0', money(taken)]))['PRICE-06']!.verdict
    expect([await found(full), await found(0), await found(2 * full)]).toEqual([
      ...['pass', 'fail', 'fail'],
    ])
  })
})
