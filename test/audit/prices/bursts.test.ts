import { describe, expect, test } from 'vitest'
import { audited, contractOf, left, row, type Sent } from './paid.ts'

/** Streams that their client left, and how much of them had arrived: in one read or in several, in pieces of any size. */

const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const piece = (content: string, more: object = {}) =>
  event({ id: 'left', choices: [{ delta: { content }, finish_reason: null }], ...more })
const pieces = (count: number, content = 'word ') => piece(content).repeat(count)
const usageOf = (output: number) => ({
  prompt_tokens: 14,
  ...{ completion_tokens: output, total_tokens: 14 + output },
})
const costOf = (output: number) => (14 * 4 + output * 20) / 1e6
const ended = event({ choices: [{ delta: {}, finish_reason: 'stop' }] })
const done = 'data: [DONE]\n\n'
const counted = (output: number) => event({ choices: [], usage: usageOf(output) })

/** What had arrived when the client left, and how many tokens the service had made by then. */
const arrived: Readonly<
  Record<string, { readonly answer: string; readonly tokens: number; readonly isWhole?: boolean }>
> = {
  'in one read, to its end, with its usage': {
    answer: pieces(60) + ended + counted(60) + done,
    ...{ tokens: 60, isWhole: true },
  },
  'in one read, to its end, without a usage': {
    answer: pieces(60) + ended + done,
    ...{ tokens: 60, isWhole: true },
  },
  'to its reason of the end alone': { answer: pieces(60) + ended, tokens: 60, isWhole: true },
  'in one read, without its end': { answer: pieces(60), tokens: 70 },
  'with a usage so far, and more text after it': {
    answer: pieces(12) + counted(12) + pieces(40),
    tokens: 55,
  },
  'with a usage so far in every piece': {
    answer: Array.from({ length: 30 }, (_, nth) =>
      piece('word ', { usage: usageOf(nth + 1) }),
    ).join(''),
    tokens: 34,
  },
  'with a usage of the prompt alone at its start': {
    answer: counted(0) + pieces(30),
    tokens: 33,
  },
  'with its usage twice': {
    answer: pieces(60) + ended + counted(60) + counted(60) + done,
    ...{ tokens: 60, isWhole: true },
  },
  'with comments that keep it alive': {
    answer: `: keep-alive\n\n${pieces(20)}: OPENROUTER PROCESSING\n\n${pieces(20)}:\n\n`,
    tokens: 44,
  },
  'in few large pieces': { answer: pieces(3, 'word '.repeat(30)), tokens: 95 },
  'with line ends of another system': {
    answer: (pieces(60) + ended + counted(60) + done).replaceAll('\n', '\r\n'),
    ...{ tokens: 60, isWhole: true },
  },
}

const sent = (nth: number, answer: string): Sent => ({
  ...left(nth),
  answer: answer.replaceAll('"left"', `"left-${nth}"`),
})
/** The same request, answered whole. */
const twin: Sent = {
  ...left(1),
  ...{ isLeft: false, id: 'twin' },
  answer: JSON.stringify({
    id: 'twin',
    choices: [{ message: { content: 'word '.repeat(120) } }],
    usage: usageOf(120),
  }),
}
const failedIn = (found: Awaited<ReturnType<typeof audited>>) =>
  Object.entries(found).flatMap(([rule, { verdict }]) => (verdict === 'fail' ? [rule] : []))

describe.each(Object.entries(arrived))(
  'a stream that arrived %s',
  (_is, { answer, tokens, isWhole }) => {
    test.each(['none', 'received', 'full'] as const)(
      'may cost what had been sent of it (%s)',
      { tags: 'whole' },
      async (abort) => {
        const contract = contractOf({ charged: { success: 'full', refused: 'none', abort } })
        for (const hasTwin of [true, false]) {
          const sends = [...(hasTwin ? [twin] : []), sent(1, answer), sent(2, answer)]
          const before = hasTwin ? costOf(120) : 0
          const cost = isWhole === true || abort !== 'none' ? costOf(tokens) : 0
          const found = (each: number) =>
            audited(sends, ['0', (before + 2 * each).toFixed(9)], {
              contract,
              log: [
                ...(hasTwin ? [row('twin', costOf(120), 1, 14, 120)] : []),
                ...[1, 2].map((nth) =>
                  row(`left-${nth}`, each, nth + (hasTwin ? 1 : 0), 14, tokens),
                ),
              ],
            })
          expect([hasTwin, failedIn(await found(cost))]).toEqual([hasTwin, []])
          // What no request of 400 tokens costs.
          expect((await found(costOf(2000)))['PRICE-06']).toMatchObject({ verdict: 'fail' })
        }
      },
    )

    test('that costs nothing by the contract, and was charged for all it may have had, is accused', async () => {
      if (isWhole === true) return
      const contract = contractOf({ charged: { success: 'full', refused: 'none', abort: 'none' } })
      const sends = [sent(1, answer), sent(2, answer)]
      const found = await audited(sends, ['0', (2 * costOf(400)).toFixed(9)], { contract })
      expect(found['PRICE-06']).toMatchObject({
        verdict: 'fail',
        observed: expect.stringContaining(
          'answers whose client left before the end were charged, which cost nothing',
        ),
      })
    })

    test('that was charged for all that it may have had is accused where it costs what was received', {
      tags: 'whole',
    }, async () => {
      const contract = contractOf({
        charged: { success: 'full', refused: 'none', abort: 'received' },
      })
      const sends = [twin, sent(1, answer), sent(2, answer)]
      const found = await audited(sends, ['0', (costOf(120) + 2 * costOf(400)).toFixed(9)], {
        contract,
      })
      expect(found['PRICE-06']).toMatchObject({ verdict: 'fail' })
    })
  },
)
