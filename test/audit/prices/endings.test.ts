import { expect, test } from 'vitest'
import { audited, chat, contractOf, row, type Sent } from './paid.ts'

/** Answers that ended in a way whose price the contract does not say: what they cost is no pass. */

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const answerOf = (id: string, more: object = {}) => JSON.stringify({ id, usage, ...more })

const endings: Readonly<Record<string, (id: string) => Sent>> = {
  broken: (id) => ({ ...chat(id), ended: { outcome: 'broken' } }),
  filtered: (id) => ({ ...chat(id), ended: { finishReason: 'content_filter' } }),
  refused: (id) => ({ ...chat(id), ended: { outcome: 'http_error', status: 500 } }),
  empty: (id) => ({
    ...chat(id),
    answer: answerOf(id, { usage: { prompt_tokens: 35, completion_tokens: 0, total_tokens: 35 } }),
  }),
  'refused, in Messages': (id) => ({
    ...{ id, endpoint: 'messages', path: '/v1/messages', ended: { finishReason: 'refusal' } },
    answer: answerOf(id, { usage: { input_tokens: 10, output_tokens: 5 } }),
  }),
}

test.each([
  'SAFETY',
  'content_filtered',
  'sensitive',
  'guardrail_intervened',
  'PROHIBITED_CONTENT',
])(
  'an answer that a filter ended with a word of its own is filtered (%s)',
  { tags: 'whole' },
  async (finishReason) => {
    const contract = contractOf({ charged: { success: 'full', filtered: 'none' } })
    const sends = [chat('whole'), { ...chat('a'), ended: { finishReason } }]
    const found = async (spend: string) =>
      (await audited(sends, ['0', spend], { contract }))['PRICE-06']!.verdict
    expect([await found('0.00014'), await found('0.00028')]).toEqual(['pass', 'fail'])
  },
)

const rowOf = (id: string, spend: number, at: number, name: string) =>
  name === 'empty' ? row(id, spend, at, 35, 0) : row(id, spend, at)

test.each(Object.entries(endings))(
  'a contract that says nothing about answers that were %s leaves what they were charged undecided',
  async (name, ended) => {
    const contract = contractOf({ charged: { success: 'full' } })
    const sends = [chat('whole'), ended('a'), ended('b')]
    const charged = await audited(sends, ['0', '0.00042'], {
      contract,
      log: [
        row('whole', 0.00014, 1),
        ...['a', 'b'].map((id, at) => rowOf(id, 0.00014, at + 2, name)),
      ],
    })
    for (const rule of ['PRICE-04', 'PRICE-06'])
      expect([rule, charged[rule]]).toMatchObject([
        rule,
        { verdict: 'inconclusive', why: expect.stringMatching(/contract does not say/) },
      ])
    // Nothing was taken for them.
    const free = await audited(sends, ['0', '0.00014'], {
      contract,
      log: [row('whole', 0.00014, 1), ...['a', 'b'].map((id, at) => rowOf(id, 0, at + 2, name))],
    })
    expect(Object.values(free).map(({ verdict }) => verdict)).not.toContain('fail')
  },
)

test.each(Object.entries(endings))(
  'a contract that says that answers that were %s are free or not decides',
  { tags: 'whole' },
  async (name, ended) => {
    const kind = name.startsWith('refused, in') ? 'filtered' : name
    const sends = [chat('whole'), ended('a'), ended('b')]
    for (const [charge, spend] of [
      ['none', '0.00014'],
      ['full', '0.00042'],
    ] as const) {
      const contract = contractOf({ charged: { success: 'full', [kind]: charge } })
      const found = await audited(sends, ['0', spend], { contract })
      expect([charge, found['PRICE-06']!.verdict]).toEqual([charge, 'pass'])
      const other = charge === 'none' ? '0.00042' : '0.00014'
      expect([
        charge,
        (await audited(sends, ['0', other], { contract }))['PRICE-06']!.verdict,
      ]).toEqual([charge, 'fail'])
    }
  },
)
