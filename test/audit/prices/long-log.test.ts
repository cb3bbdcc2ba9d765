import { expect, test } from 'vitest'
import { audit } from '../../../src/audit/audit.ts'
import { joinLog } from '../../../src/audit/evidence/prices/join.ts'
import { readPriceLog } from '../../../src/audit/evidence/prices/log.ts'
import { parseContract } from '../../../src/contract/load.ts'
import { appendAttempts } from '../../../src/store/attempts/recorder.ts'
import { readUsage } from '../../../src/tokens/read-usage.ts'
import { request } from '../../price/made-requests.ts'
import { attempt, enterEndedRun, novemberUs } from '../../report/attempts.ts'
import { openStore } from '../../store/opened.ts'

/** Logs with more rows than a stack holds arguments, and answers without an id. */

const contract = parseContract(
  {
    ...{ name: 'long', charged: { success: 'full' } },
    models: [{ id: 'big', price: { input: 4, output: 20 } }],
    evidence: { log: { cost: 'spend', id: 'request_id', model: 'model', at: 'startTime' } },
  },
  'long',
)
const lineOf = (at: number, id: string, spend = 0.001) =>
  JSON.stringify({
    ...{ request_id: id, spend, model: 'big', prompt_tokens: 50, completion_tokens: 40 },
    startTime: new Date(novemberUs / 1000 + at).toISOString(),
  })

test.runIf(process.env.NIGHTLY !== undefined)(
  'a log of 140,000 rows is joined and judged',
  async () => {
    const size = 140_000
    const store = await openStore(':memory:')
    try {
      await enterEndedRun(store, 'a')
      await appendAttempts(
        store,
        Array.from({ length: size }, (_, slot) =>
          attempt(slot, {
            ...{ model: 'big', responseModel: 'big', responseId: `r-${slot}` },
            ...{ promptTokens: 50, completionTokens: 40, totalTokens: 90, outcome: 'ok' },
            ...{ intendedUs: slot * 100, dispatchedUs: slot * 100, sentUs: slot * 100 },
            ...{ headersUs: slot * 100 + 50, doneUs: slot * 100 + 90, closedUs: slot * 100 + 90 },
          }),
        ),
      )
      const lines = Array.from({ length: size }, (_, at) => lineOf(at / 10, `r-${at}`))
      // One charge too much.
      lines[100_000] = lineOf(10_000, 'r-100000', 0.002)
      const { findings } = await audit(store, {
        ...{ contract, runIds: ['a'], rules: ['PRICE-04', 'PRICE-05'] },
        log: { text: lines.join('\n'), file: 'spend.jsonl' },
      })
      expect(findings.map(({ verdict }) => verdict)).toMatchObject([
        {
          verdict: 'fail',
          observations: size,
          observed: expect.stringContaining('1 of 140000 costs'),
        },
        { verdict: 'pass', observations: size, note: 'joined by id' },
      ])
    } finally {
      store.close()
    }
  },
  300_000,
)

test('a rule that fails in itself is undecided, and the others are decided', async () => {
  const store = await openStore(':memory:')
  try {
    await enterEndedRun(store, 'a')
    await appendAttempts(store, [attempt(0)])
    // Rules on prices read what was sent; rules on HTTP do not.
    await store.execute('DROP TABLE templates')
    const { findings } = await audit(store, {
      contract,
      runIds: ['a'],
      rules: ['PRICE-01', 'TRN'],
    })
    const [others, [first]] = [findings.slice(0, -1), findings.slice(-1)]
    expect(first!.verdict).toMatchObject({
      ...{ verdict: 'inconclusive', isUndecided: true },
      why: expect.stringMatching(/^undecided: .*templates/s),
    })
    expect(others.length).toBeGreaterThan(3)
  } finally {
    store.close()
  }
})

const usage = (input: number, output: number) =>
  readUsage({ prompt_tokens: input, completion_tokens: output }, 'openai-chat')
const sent = (slot: number, change: object = {}) =>
  request({
    ...{ slot, requestedModel: 'big', returnedModel: 'big', usage: usage(50, 40) },
    ...{ startMs: novemberUs / 1000 + slot, endMs: novemberUs / 1000 + slot + 5 },
    ...change,
  })
const rowsOf = (lines: readonly string[]) =>
  readPriceLog(lines.join('\n'), 'log', contract.prices!.evidence.log)
const joined = (requests: readonly ReturnType<typeof sent>[], lines: readonly string[]) => {
  const { pairs, missing, strays, by } = joinLog(requests, rowsOf(lines), null)
  return {
    pairs: pairs.map(({ request: { slot }, rows }) => [slot, rows.map(({ id }) => id)]),
    ...{ missing: missing.map(({ slot }) => slot), strays: strays.map(({ id }) => id), by },
  }
}

test('each request is joined by the best key that it has: answers without an id by their content', () => {
  const requests = [
    sent(0, { responseId: 'a' }),
    // Embeddings have no id, and two of them are equal.
    sent(1, { usage: usage(7, 0) }),
    sent(2, { usage: usage(9, 0) }),
    sent(3, { usage: usage(9, 0) }),
  ]
  const row = (at: number, id: string, prompt: number) =>
    lineOf(at, id).replace('"prompt_tokens":50', `"prompt_tokens":${prompt}`).replace('40', '0')
  expect(
    joined(requests, [lineOf(0, 'a'), row(1, 'x', 7), row(2, 'y', 9), row(3, 'z', 9)]),
  ).toEqual({
    pairs: [
      [0, ['a']],
      [1, ['x']],
      [2, ['y']],
      [3, ['z']],
    ],
    ...{ missing: [], strays: [], by: 'id, and 3 by content' },
  })
  // A row that is not there is missing, with an id or without.
  expect(joined(requests, [row(1, 'x', 7), row(2, 'y', 9)]).missing).toEqual([0, 3])
})

test('20,000 requests without ids are joined by content', {
  tags: 'whole',
  timeout: 120_000,
}, () => {
  const size = 20_000
  const requests = Array.from({ length: size }, (_, at) =>
    sent(at, { usage: usage(50, 40 + (at % 7)) }),
  )
  const lines = requests.map(({ slot }) =>
    lineOf(slot, `row-${slot}`).replace(':40', `:${40 + (slot % 7)}`),
  )
  const { pairs, missing, strays } = joined(requests, lines)
  expect([pairs.length, missing, strays]).toEqual([size, [], []])
})
