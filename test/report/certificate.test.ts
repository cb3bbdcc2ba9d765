import { expect, test } from 'vitest'
import type { Headline } from '../../src/report/banner.ts'
import { certified } from '../../src/report/certificate.ts'
import type { StoredFinding } from '../../src/report/findings.ts'

const answer: Headline = {
  ...{ tone: 'good', summary: 'Safe rate: 40/s (95 % of answers within 1 s)' },
  ...{ because: '900 requests of 9 trials were sent.', checks: [] },
}
const finding = (rule: string, verdict: string, detail: object = {}): StoredFinding => ({
  ...{ rule, verdict, severity: 'must', observations: 51, title: rule },
  detail,
})
const same = finding('SOLD-05', 'pass', { note: '21 sessions since the 10 of the reference fit' })
const paid = finding('PRICE-03', 'pass')
const right = { examined: 500, correct: 500, unchecked: 0, lacks: {} }
const certificate = (
  findings: readonly StoredFinding[],
  correctness: typeof right | null = right,
  thresholds: Parameters<typeof certified>[2] = [],
  of: Headline = answer,
  atRest = 30,
) => certified(of, { correctness }, thresholds, findings, atRest)

test('a rate, right answers, an unchanged model and right charges are one verdict with its joint error', () => {
  const all = certificate([same, paid])!
  expect(all).toMatchObject({
    tone: 'good',
    summary: 'Certified: Safe rate: 40/s (95 % of answers within 1 s)',
  })
  expect(all.because).toMatch(/^4 of 4 parts hold\. Together they err by chance in at most 3\.0 %/)
  expect(all.checks.map(({ name, tone }) => `${name} ${tone}`)).toEqual([
    ...['Rate: good', 'Answers: good', 'Model: good', 'Charges: good'],
  ])
  // R: qbeta(0.99, 1, 500) is 0.00917.
  expect(all.checks[1]!.figure).toContain('500 of 500 are right: at most 0.92 % of all are wrong')
  expect(all.checks[2]!.figure).toMatch(/21 sessions under load: .*\. Errs in at most 1 %$/)
})

test.each([
  ['Model', [finding('SOLD-05', 'fail', { observed: 'Since noon they differ' }), paid]],
  ['Charges', [same, paid, finding('BILL-03', 'fail')]],
  ['Charges', [same, paid, finding('SOLD-01', 'fail')]],
])('%s that fail is no certificate', (name, findings) => {
  expect(certificate(findings)).toMatchObject({
    ...{ tone: 'fail', summary: `Not certified, failed: ${name}` },
  })
})

test.each([
  ['Model', [finding('SOLD-05', 'inconclusive', { why: 'only 9 of 20' }), paid], right],
  ['Charges', [same, paid, finding('PRICE-01', 'inconclusive')], right],
  ['Charges', [same, finding('SOLD-01', 'pass')], right],
  ['Answers', [same, paid], null],
  ['Answers', [same, paid], { ...right, unchecked: 1, correct: 499 }],
  ['Answers', [same, paid], { ...right, correct: 499 }],
])('%s that are open are never a certificate', (name, findings, correctness) => {
  expect(certificate(findings, correctness)).toMatchObject({
    ...{ tone: 'warn', summary: `Not certified, open: ${name}` },
  })
})

test('a threshold on correct answers decides how many may be wrong, with its own error', () => {
  const check = { name: 'correct >= 95%', figure: 'held: 98 %, n = 500', remedy: null }
  const some = { ...right, correct: 490 }
  const held = certificate([same, paid], some, [{ ...check, tone: 'good' }])!
  expect([held.tone, held.because]).toEqual(['good', expect.stringContaining('at most 4.5 %')])
  const missed = certificate([same, paid], some, [{ ...check, tone: 'fail' }])
  expect(missed).toMatchObject({ summary: 'Not certified, failed: Answers' })
})

test('a run whose rate is in doubt is not certified', () => {
  const doubt: Headline = { ...answer, tone: 'warn', summary: 'The run is degraded' }
  expect(certificate([same, paid], right, [], doubt)).toMatchObject({
    ...{ tone: 'warn', summary: 'Not certified, open: Rate' },
  })
})

test('without an audit that looks for a change of the model there is no certificate', () => {
  expect(certificate([])).toBeNull()
  expect(certificate([finding('SOLD-05', 'not-observed'), paid])).toBeNull()
})

test('a model that was seen under load too rarely is open', () => {
  expect(certificate([same, paid], right, [], answer, 44)).toMatchObject({
    ...{ tone: 'warn', summary: 'Not certified, open: Model' },
  })
})
