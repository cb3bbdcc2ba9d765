import { expect, test } from 'vitest'
import { loggedCost } from '../../../src/audit/evidence/prices/judgements.ts'
import { decimalText } from '../../../src/money/rational.ts'
import { statement } from '../../price/made-requests.ts'

test('what the rows of a request cost together is known only if each of them states its cost', () => {
  const [one, two] = [{ cost: statement('0.01', 'log') }, { cost: statement('0.002', 'log') }]
  expect(decimalText(loggedCost([one, two])!.value)).toBe('0.012')
  expect(loggedCost([one, { cost: null }])).toBeNull()
  expect(loggedCost([])).toBeNull()
})
