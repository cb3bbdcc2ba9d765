import { expect, test } from 'vitest'
import { auditAnswer, renderFindings, type StoredFinding } from '../../src/report/findings.ts'
import { openStore } from '../store/opened.ts'

const failure = (rule: string): StoredFinding => ({
  ...{ rule, severity: 'must', verdict: 'fail', observations: 3, title: `${rule} holds` },
  detail: { expected: '1 credit', observed: '2 credits', note: 'once', witnesses: [] },
})

test('the first failure is open, and each further one is a title that unfolds', async () => {
  const store = await openStore(':memory:')
  const { body } = await renderFindings(
    store,
    [failure('BILL-01'), failure('BILL-10')],
    [],
    new Map(),
    () => ['audit'],
  )
  store.close()
  expect(body.text).toMatch(
    /<article class="card finding" id="BILL-01">.*<dd>1 credit<\/dd>.*<\/article>/s,
  )
  expect(body.text).toMatch(
    /<details class="card finding"><summary>[^\n]*BILL-10 holds[^\n]*<\/summary><div id="BILL-10"><dl><dt>expected<\/dt><dd>1 credit<\/dd>/,
  )
  expect(body.text).toContain('<a href="#BILL-10">BILL-10</a>')
})

test('the headline begins with the credits that are wrong, and a long pair is what was observed', () => {
  const fall = {
    ...failure('BILL-10'),
    detail: {
      ...{ expected: 'account default: a fall by 6 for 6 successes', witnesses: [] },
      observed: 'a fall by 7: 1 credit too much',
    },
  }
  const long = {
    ...failure('BILL-11'),
    detail: { expected: 'x'.repeat(90), observed: 'y'.repeat(20) },
  }
  const { summary, checks } = auditAnswer([fall, long as StoredFinding])
  expect(summary).toBe(
    '1 credit too much: a fall by 7, expected a fall by 6 for 6 successes; 1 more rule failed',
  )
  expect(checks.map(({ remedy }) => remedy)).toEqual([null, `observed ${'y'.repeat(20)}`])
})

test('the headline says what the first failure is, and its line does not say it again', () => {
  const { summary, checks } = auditAnswer([failure('BILL-01'), failure('BILL-10')])
  expect(summary).toBe('Observed 2 credits, expected 1 credit; 1 more rule failed')
  expect(checks.map(({ name, remedy }) => [name, remedy])).toEqual([
    ['BILL-01', null],
    ['BILL-10', 'expected 1 credit, observed 2 credits'],
  ])
})
