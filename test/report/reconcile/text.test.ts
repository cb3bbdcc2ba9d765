import { expect, test } from 'vitest'
import type { Cell } from '../../../src/audit/reconcile/lines.ts'
import { readNumber } from '../../../src/money/rational.ts'
import type { Reconciled } from '../../../src/report/reconcile/sums.ts'
import { reconciliationMarkdown, reconciliationText } from '../../../src/report/reconcile/text.ts'

const money = (text: string) => readNumber(text)!
const cell = (change: Partial<Cell>): Cell => ({
  ...{ day: '2026-11-03', model: '', account: 'shop', bill: money('516.8636465') },
  ...{ logged: null, expected: money('0'), difference: money('516.8636465') },
  ...{ unknown: 0, causes: {}, notes: [] },
  ...change,
})
const four = {
  missing: money('512.4023'),
  tokens: money('1.250093'),
  'tier or discount': money('0.0012345'),
  unexplained: money('3.210019'),
}
const words = 'missing 512.4023, tokens 1.250093, tier or discount 0.0012345, unexplained 3.210019'
const reconciled = (cells: readonly Cell[]): Reconciled => ({
  ...{ cells, unit: 'USD', joinedBy: 'id', withoutAmount: 2 },
  billNotes: ['1 line is of another_service'],
})

test('a table of a bill has all causes of a cell with their amounts', () => {
  const bill = reconciled([cell({ causes: four })])
  expect(reconciliationText(bill)).toContain(`  ${words}\n`)
  expect(reconciliationMarkdown(bill)).toContain(` | ${words} |\n`)
})

test('a note of lines without a model names them as the table does', () => {
  const bill = reconciled([cell({ causes: four, notes: ['x is dear'] })])
  expect(reconciliationText(bill)).toContain('What the causes are:\n  2026-11-03 (none): x is dear')
})

test('in Markdown each sentence is a paragraph, and each cause a line of a list', () => {
  const notes = Array.from({ length: 41 }, (_, at) => `note ${at}`)
  const text = reconciliationMarkdown(reconciled([cell({ causes: four, notes })]))
  expect(
    text.split('\n| ')[0],
  ).toBe(`The bill is 516.8636465 USD; by the contract, the log is 0 USD. The difference is 516.8636465 USD:

- missing 512.4023 USD
- tokens 1.250093 USD
- tier or discount 0.0012345 USD
- unexplained 3.210019 USD

Of 2 lines of the bill the amount is unknown: no sum of the bill has them.

1 line is of another\\_service

Joined by id.
`)
  expect(text).toContain('\n\nWhat the causes are:\n\n- 2026-11-03 (none): note 0\n')
  expect(text).toContain('note 39\n\nand 1 more; --json has all\n')
})
