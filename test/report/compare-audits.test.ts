import * as o200k from 'gpt-tokenizer/encoding/o200k_base'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MeasuredFigure } from '../../src/audit/verdict.ts'
import type { Contract } from '../../src/contract/contract.ts'
import { parseContract } from '../../src/contract/load.ts'
import { type AuditComparison, compareAudits } from '../../src/report/compare/audits.ts'
import {
  answerOf,
  changeOf,
  figureText,
  markdownAudits,
  terminalAudits,
} from '../../src/report/compare/audits-text.ts'
import { dearerText } from '../../src/report/compare/dearer.ts'
import { renderAudits } from '../../src/report/compare-audits-page.ts'
import { audited, repeated, textOf, words } from '../audit/sold/texts.ts'
import { verdictIn } from '../audit/verdict-over.ts'
import { openStore, type Store } from '../store/opened.ts'
import { attempt } from './attempts.ts'

const shop = (price: object, more: object = {}): Contract =>
  parseContract(
    {
      ...{ name: 'shop', currency: 'USD' },
      models: [{ id: 'svc-k2', tokenizer: 'o200k', template_tokens: 12, price, ...more }],
    },
    'shop.yaml',
  )
const price = { input: 1, output: 4 }
const answers = Array.from({ length: 10 }, (_, seed) => textOf('words', 200, seed))

/** A store with what a shop answered: single texts, words, and ten long answers, whose tokens it counts in its own way. */
async function shopStore(count: (tokens: number, text: string) => number): Promise<Store> {
  const store = await openStore(':memory:')
  const asked = [...audited, ...words.slice(0, 5), ...repeated, ...answers.map(() => 'Count.')]
  const answerOf = (at: number) => answers[at - (asked.length - answers.length)]
  await verdictIn(
    store,
    'SOLD-01',
    asked.map((text, at) =>
      attempt(at, {
        ...{ template: at, finishReason: 'length' },
        promptTokens: count(o200k.countTokens(text) + 7, text),
        completionTokens: answerOf(at) === undefined ? 1 : o200k.countTokens(answerOf(at)!),
      }),
    ),
    {
      contract: shop(price),
      templates: asked.map((content, template) => ({
        ...{ runId: 'a', template, step: 'chat', method: 'POST', path: '/v1/chat/completions' },
        ...{ headers: '{}', maxTokens: 200, n: null, promptHash: null },
        body: JSON.stringify({ model: 'svc-k2', messages: [{ role: 'user', content }] }),
      })),
      bodies: asked.flatMap((_, slot) => {
        const content = answerOf(slot)
        return content === undefined
          ? []
          : [
              {
                ...{ runId: 'a', slot, retry: 0, headers: '', truncated: false },
                body: JSON.stringify({
                  choices: [{ index: 0, message: { role: 'assistant', content } }],
                }),
              },
            ]
      }),
    },
  )
  return store
}

let honest: Store
let inflated: Store
beforeAll(async () => {
  honest = await shopStore((tokens) => tokens)
  inflated = await shopStore((tokens) => Math.round(tokens * 1.1))
})
afterAll(() => {
  honest.close()
  inflated.close()
})

const compared = (a: Contract, b: Contract = a): Promise<AuditComparison> =>
  compareAudits(
    { store: honest, runIds: [], contract: a },
    { store: inflated, runIds: [], contract: b },
    ['SOLD'],
  )

test('two shops beside each other: each value with its bounds, both verdicts, and which is dearer for the same text', async () => {
  const comparison = await compared(shop(price))
  const [input, hidden] = comparison.rules
  expect([input!.a.verdict.verdict, input!.b.verdict.verdict]).toEqual(['pass', 'fail'])
  const words = input!.figures[0]!
  expect(words).toMatchObject({
    title: 'input per token, words, o200k',
    a: { value: expect.closeTo(1, 3), low: expect.closeTo(0.999, 3) },
    b: { value: expect.closeTo(1.1, 3), high: expect.closeTo(1.101, 3) },
  })
  expect(changeOf(words)).toBe('+10.0 % (9.7 to 10.3)')
  expect(input!.figures.find(({ name }) => name === 'text_price')).toMatchObject({
    a: { value: expect.closeTo(1, 3), unit: 'USD' },
    b: { value: expect.closeTo(1.1, 3), unit: 'USD' },
  })
  expect(input!.figures.find(({ name }) => name === 'paid_too_much')).toMatchObject({
    a: null,
    b: { unit: 'USD' },
  })
  expect(hidden!.figures[0]).toMatchObject({ a: { value: 7 }, b: { value: 8 } })
  expect(comparison.dearer).toEqual([
    {
      ...{ what: 'input', isOfMoney: true, by: 'a million of text, o200k', dearer: 'b' },
      ratio: expect.closeTo(1.1, 3),
      between: [expect.closeTo(1.097, 3), expect.closeTo(1.103, 3)],
      others: [],
    },
    {
      ...{ what: 'output', isOfMoney: true, by: 'a million of answers, o200k', dearer: 'neither' },
      ...{ ratio: 1, between: null, others: [] },
    },
  ])
})

test('two audits in which nothing was judged are not called good', () => {
  const none = { verdict: 'not-observed', why: 'no request' }
  const finding = { rule: 'SOLD-01', title: 't', severity: 'breach', verdict: none }
  const rule = { rule: 'SOLD-01', title: 't', a: finding, b: finding, figures: [] }
  const side = { runs: [], contract: 'c' }
  const comparison = { a: side, b: side, rules: [rule], dearer: [] } as unknown as AuditComparison
  expect(answerOf(comparison)).toMatchObject({
    tone: 'none',
    summary: 'No promise was judged at either',
  })
})

test('an amount with bounds has no unit if it has none, and signs of Markdown stay signs', () => {
  const name = 'paid_too_much'
  const figure = { name, title: 't', value: 2, low: 1, high: 3 } as MeasuredFigure
  expect(figureText(figure)).toBe('1.000 to 3.000')
})

test('a shop that counts 1.1 times at a price a fifth lower is cheaper for the same text', {
  tags: 'whole',
}, async () => {
  const { dearer } = await compared(shop(price), shop({ input: 0.8, output: 4 }))
  expect(dearer[0]).toMatchObject({ dearer: 'a', ratio: expect.closeTo(0.88, 3) })
})

test('without prices tokens are compared, and without a tokenizer those of common words', {
  tags: 'whole',
}, async () => {
  const without = (more: object) =>
    parseContract({ name: 'shop', models: [{ id: 'svc-k2', ...more }] }, 'shop.yaml')
  expect((await compared(without({ tokenizer: 'o200k' }))).dearer[0]).toMatchObject({
    ...{ isOfMoney: false, by: 'input per token, words, o200k', dearer: 'b' },
  })
  expect((await compared(without({}))).dearer[0]).toMatchObject({
    ...{ by: 'tokens per common word', dearer: 'b', ratio: expect.closeTo(1.1, 2) },
  })
})

test('prices in two currencies, and texts counted by two encodings, are not compared', {
  tags: 'whole',
}, async () => {
  const euro = {
    ...{ name: 'shop', currency: 'EUR' },
    models: [{ id: 'svc-k2', tokenizer: 'o200k', price }],
  }
  const { dearer } = await compared(shop(price), parseContract(euro, 'b.yaml'))
  // The tokens still are: they have no currency.
  expect(dearer.map(({ what, isOfMoney }) => [what, isOfMoney])).toEqual([
    ['input', false],
    ['output', false],
  ])
  const other = await compared(shop(price), shop(price, { tokenizer: 'cl100k' }))
  expect(other.dearer.filter(({ what }) => what === 'input')).toEqual([])
})

test('terminal, Markdown and page say the same, and the terminal is 80 columns wide', async () => {
  const comparison = await compared(shop(price))
  const terminal = terminalAudits(comparison)
  expect(terminal.split('\n').filter((line) => line.length > 80)).toEqual([])
  expect(terminal).toMatch(
    /^SOLD-01 Input tokens are those of the text\n {2}verdict {26}passed {17}FAILED$/m,
  )
  expect(terminal).toMatch(
    /input per token, words, o200k +1\.000 \(0\.999 to 1\.001\) 1\.100 \(1\.099 to 1\.101\)/,
  )
  expect(terminal).toMatch(
    /a million of text, o200k +0\.9986 to 1\.001 USD {4}1\.099 to 1\.101 USD/,
  )
  const flat = (text: string) => text.replace(/\s+/g, ' ')
  const sentence =
    'b breaks SOLD-01 and counts 10.0 % more input tokens than its texts have. For the same text b takes 10.0 % more (9.7 to 10.3 %).'
  expect(flat(terminal)).toContain(sentence)
  expect(flat(markdownAudits(comparison)).replaceAll('**', '')).toContain(sentence)
  const page = renderAudits(comparison)
  expect(page).toContain('b breaks SOLD-01')
  expect(page).toContain('1.100 (1.099 to 1.101)')
  expect(page).toContain('+10.0 % (9.7 to 10.3)')
})

test('a comparison of audits changes neither store', async () => {
  const findings = async (store: Store) =>
    (await store.rows<{ n: number }>('SELECT count(*)::DOUBLE AS n FROM findings'))[0]!.n
  const before = [await findings(honest), await findings(inflated)]
  await compared(shop(price))
  expect([await findings(honest), await findings(inflated)]).toEqual(before)
})

test('a shop that counts as much for plain words, and Chinese 1.4 times, is not said to take as much for every text', {
  tags: 'whole',
}, async () => {
  const chinese = await shopStore((tokens, text) =>
    /\p{Script=Han}/u.test(text) ? Math.round(tokens * 1.4) : tokens,
  )
  const comparison = await compareAudits(
    { store: honest, runIds: [], contract: shop(price) },
    { store: chinese, runIds: [], contract: shop({ input: 0.5, output: 4 }) },
    ['SOLD'],
  )
  chinese.close()
  expect(comparison.dearer[0]).toMatchObject({
    ...{ dearer: 'a', ratio: expect.closeTo(0.5, 3) },
    others: [{ script: 'han', dearer: 'a', ratio: expect.closeTo(0.7, 3) }],
  })
  expect(dearerText(comparison.dearer[0]!)).toMatch(
    /^For the same text a takes 100\.0 % more \(9\d\.\d to 100\.\d %\); but for texts of han a takes 4[23]\.\d % more \(4[23]\.\d to 4[23]\.\d %\)\.$/,
  )
})
