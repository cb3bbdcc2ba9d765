import { expect, test } from 'vitest'
import { explanationOf } from '../../src/audit/rules/explain.ts'
import { allRules } from '../../src/audit/rules/list.ts'
import { selectRules } from '../../src/audit/rules/select.ts'

test('the rules are those of the rulebook, once each, in its order', () => {
  const numbers = (family: string, last: number) =>
    Array.from({ length: last }, (_, at) => `${family}-${String(at + 1).padStart(2, '0')}`)
  expect(allRules.map((rule) => rule.id)).toEqual([
    ...numbers('TRN', 6),
    ...numbers('AUTH', 6),
    ...numbers('MODEL', 5),
    ...numbers('CHAT', 13),
    ...numbers('MSG', 7),
    ...numbers('SSE', 7),
    ...numbers('ERR', 6),
    ...numbers('LIM', 5),
    ...numbers('BILL', 20),
    // The last is of contracts with a limit of tokens.
    ...numbers('RATE', 20),
    ...numbers('USE', 7),
    'PAGE-01',
    ...numbers('PRICE', 8),
    ...numbers('SOLD', 11),
  ])
})

test('a rule is selected by its id or its family, in any case', () => {
  expect(selectRules(['bill-11']).map((rule) => rule.id)).toEqual(['BILL-11'])
  expect(selectRules(['PAGE', 'TRN-01']).map((rule) => rule.id)).toEqual(['TRN-01', 'PAGE-01'])
})

test('an explanation names the promise, its source and the blind spots of the rule', () => {
  const text = explanationOf(selectRules(['BILL-10'])[0]!)
  expect(text).toContain('promised   §8.4.1')
  expect(text).toContain('It cannot')
})

test('an explanation fits the terminal and is at most 100 columns wide', () => {
  const widestLine = (width?: number) =>
    Math.max(
      ...selectRules([]).flatMap((rule) =>
        explanationOf(rule, width)
          .split('\n')
          .map(({ length }) => length),
      ),
    )
  expect(widestLine(200)).toBeLessThanOrEqual(100)
  expect(widestLine(70)).toBeLessThanOrEqual(70)
})
