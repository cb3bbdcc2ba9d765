import { expect, test } from 'vitest'
import { auditAnswer, renderFindings } from '../../src/report/findings.ts'
import type { StoredFinding } from '../../src/report/latest-findings.ts'
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

const sold = (rule: string, verdict: string, detail: object): StoredFinding => ({
  ...{ rule, severity: 'must', verdict, observations: 3, title: `${rule} holds` },
  detail,
})

const bodyOf = async (findings: readonly StoredFinding[]) => {
  const store = await openStore(':memory:')
  const { body } = await renderFindings(store, findings, [], new Map(), () => ['audit'])
  store.close()
  return body.text
}

test('what is sold is a table of its own, in order, with what was measured of each', async () => {
  const text = await bodyOf([
    sold('SOLD-09', 'pass', { note: '10 answers have 2,000' }),
    sold('SOLD-02', 'not-promised', {
      promises: ['models.template_tokens'],
      note: '7 tokens beside the text',
    }),
    sold('SOLD-01', 'fail', { expected: 'one token', observed: '1.100 tokens', witnesses: [] }),
  ])
  expect(text).toMatch(
    /What is sold<\/h3>.*SOLD-01.*1\.100 tokens.*SOLD-02.*measured: 7 tokens beside the text.*SOLD-09.*10 answers have 2,000/s,
  )
  // Nothing else was judged, so that a table of every rule would say the same once more.
  expect(text).not.toContain('Every rule')
})

test('what is sold has no table where none of it was decided', async () => {
  const text = await bodyOf([
    failure('BILL-01'),
    sold('SOLD-01', 'not-observed', { requires: 'prompts' }),
  ])
  expect(text).not.toContain('What is sold')
  expect(text).toContain('Every rule')
})
