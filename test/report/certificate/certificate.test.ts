import { expect, test } from 'vitest'
import type { Check } from '../../../src/report/banner.ts'
import { type Certified, certificateOf } from '../../../src/report/certificate/certificate.ts'
import { certificateLines, certifiedHeadline } from '../../../src/report/certificate/words.ts'
import type { StoredFinding } from '../../../src/report/latest-findings.ts'
import { type AnswerThreshold, readPageVerdict } from '../../../src/report/page-verdict.ts'

const finding = (rule: string, verdict: string, detail: object = {}): StoredFinding => ({
  ...{ rule, verdict, severity: 'must', observations: 51, title: rule },
  detail,
})
const same = finding('SOLD-11', 'pass', { note: 'big: Under load the answers are those at rest' })
const paid = finding('PRICE-03', 'pass')
const right = { examined: 500, correct: 500, unchecked: 0, lacks: {} }
const search = {
  isFound: true,
  tone: 'good',
  name: 'Safe rate: 40/s',
  figure: '',
  remedy: '',
} as const
const trials = { count: 5, sent: 900, confirmations: 1, figuresOf: null }
const honest: Certified = {
  validity: 'valid',
  page: { searches: [search], answers: [], trials: [trials] },
  oneTokenShare: 1 / 3,
  steps: [{ step: 'chat', correctness: right }],
  phases: ['find'],
  findings: [same, paid],
}
const made = (change: Partial<Certified> = {}) => certificateOf({ ...honest, ...change })!
const verdictsOf = (change: Partial<Certified> = {}) =>
  made(change).parts.map(({ part, verdict }) => `${part} ${verdict}`)
const threshold = (tone: Check['tone'], of: Partial<AnswerThreshold> = {}): AnswerThreshold => ({
  ...{ tone, name: 'correct >= 95%', figure: 'held: 98 %, n = 500', remedy: null },
  ...{ step: null, phase: null, isFiltered: false, ...of },
})
const chat = (change: object = {}) => ({
  step: 'chat',
  correctness: { ...right, ...change },
})
const asked = (tone: Check['tone'], of: Partial<AnswerThreshold> = {}) => ({
  page: { ...honest.page, answers: [threshold(tone, of)] },
  steps: [chat({ correct: 490 })],
})

test('a rate, right answers, the same model and right charges are one verdict, whose error is the sum of those of its parts', () => {
  const all = made()
  expect(verdictsOf()).toEqual(['rate pass', 'answers pass', 'model pass', 'charges pass'])
  expect(all.verdict).toBe('pass')
  expect(all.passesByChance).toBeCloseTo(0.03, 12)
  // R: qbeta(0.99, 1, 500) is 0.00917.
  expect(all.parts[1]!.said).toContain('500 of 500 are right, so at most 0.92 % of all are wrong')
  const headline = certifiedHeadline(all, {
    ...{ tone: 'good', summary: 'Safe rate: 40/s', because: '900 requests were sent.', checks: [] },
  })
  expect(headline).toMatchObject({
    tone: 'good',
    summary: 'Certified: Safe rate: 40/s, with right answers, the same model and right charges',
    because:
      'If one of these is not so, this verdict comes by chance in at most 3 % of such runs, the sum of rate 1 %, answers 1 %, model 1 %, charges 0 %. 900 requests were sent.',
  })
})

test.each([
  [1, 0.01],
  [2, 0.015],
  [3, 0.01 + 0.005 + 0.01 / 3],
  [6, 0.01 + 0.005 + 0.01 / 3 + 0.0025 + 0.002 + 0.002],
])('of %d confirmations each adds its own error', (confirmations, errs) => {
  const { parts } = made({ page: { ...honest.page, trials: [{ ...trials, confirmations }] } })
  expect(parts[0]!.passesByChance).toBeCloseTo(errs, 12)
})

test.each([
  [
    'rate',
    { page: { ...honest.page, searches: [{ ...search, isFound: false, tone: 'fail' } as const] } },
  ],
  ['answers', { steps: [chat({ correct: 499 })] }],
  ['answers', asked('fail')],
  ['model', { findings: [finding('SOLD-11', 'fail', { observed: 'They differ.' }), paid] }],
  ['charges', { findings: [same, paid, finding('BILL-03', 'fail')] }],
  ['charges', { findings: [same, paid, finding('SOLD-01', 'fail')] }],
] as const)('%s that fails is no certificate, and is named', (part, change) => {
  const certificate = made(change)
  expect(certificate.verdict).toBe('fail')
  expect(certificateLines(certificate)[0]).toBe(`Not certified: ${part} failed.`)
})

test.each([
  ['rate', { validity: 'degraded' }],
  ['rate', { validity: 'invalid' }],
  ['rate', { validity: null }],
  [
    'rate',
    { page: { ...honest.page, searches: [{ ...search, isFound: false, tone: 'warn' } as const] } },
  ],
  ['answers', { steps: [{ step: 'chat', correctness: null }] }],
  ['answers', { steps: [chat({ unchecked: 1, correct: 499 })] }],
  ['answers', asked('warn')],
  ['model', { findings: [finding('SOLD-11', 'inconclusive', { why: 'only 4 of 10' }), paid] }],
  ['charges', { findings: [same] }],
  ['charges', { findings: [same, finding('SOLD-01', 'pass')] }],
  ['charges', { findings: [same, paid, finding('PRICE-01', 'inconclusive')] }],
] as const)('%s that is not decided is never a certificate', (part, change) => {
  const certificate = made(change)
  expect(certificate.verdict).toBe('inconclusive')
  expect(certificateLines(certificate)[0]).toBe(`Not certified yet: ${part} not decided.`)
})

test('a rate that no client measured well does not fail the service', () => {
  const searches = [{ ...search, isFound: false, tone: 'fail' } as const]
  expect(verdictsOf({ validity: 'invalid', page: { ...honest.page, searches } })[0]).toBe(
    'rate inconclusive',
  )
})

test('a threshold on correct answers decides how many may be wrong, with its own error', () => {
  const held = made(asked('good'))
  expect(held.verdict).toBe('pass')
  expect(held.passesByChance).toBeCloseTo(0.045, 12)
})

test('advice about charges decides nothing', () => {
  const advice = { ...finding('SOLD-09', 'fail'), severity: 'advice' }
  expect(made({ findings: [same, paid, advice] }).verdict).toBe('pass')
})

test('a failure says how often it comes by chance', () => {
  const said = (change: Partial<Certified>) => certificateLines(made(change))[1]
  expect(said({ findings: [finding('SOLD-11', 'fail'), paid] })).toBe(
    'If the model is the same, this failure comes by chance in at most 1 % of such runs.',
  )
  expect(said({ findings: [same, finding('PRICE-03', 'fail')] })).toBe(
    'That charges failed is no matter of chance.',
  )
})

test('each part says how often it is so by chance, and what is open how often a certificate would be', () => {
  expect(certificateLines(made()).slice(2)).toEqual([
    expect.stringMatching(
      /^Rate: pass, Safe rate: 40\/s\. .*; by chance in at most 1 % of runs\.$/,
    ),
    expect.stringMatching(/^Answers: pass, 500 of 500 .*; by chance in at most 1 % of runs\.$/),
    expect.stringMatching(/^Model: pass, .*; by chance in at most 1 % of runs\.$/),
    'Charges: pass, each that was judged is right by the contract (PRICE-03); no matter of chance.',
  ])
  const open = made({ findings: [finding('SOLD-11', 'inconclusive', { why: 'only 4' }), paid] })
  expect(certificateLines(open)[1]).toBe(
    'What is not decided is no pass. A certificate would come by chance in at most 3 % of such runs, the sum of rate 1 %, answers 1 %, model 1 %, charges 0 %.',
  )
  expect(certificateLines(open)[4]).toBe('Model: inconclusive, only 4.')
  const figures = certifiedHeadline(open, {
    ...{ tone: 'good', summary: '', because: '', checks: [] },
  }).checks.map(({ figure }) => figure)
  expect(figures[1]).toMatch(/; by chance in at most 1 % of runs$/)
})

test.each([
  ['no audit', { findings: [] }],
  [
    'an audit by a contract that promises no fixed model',
    { findings: [finding('SOLD-11', 'not-promised')] },
  ],
  ['no prompts at rest and under load', { findings: [finding('SOLD-11', 'not-observed'), paid] }],
  ['no search', { page: { ...honest.page, searches: [] } }],
] as const)('with %s there is no certificate', (_, change) => {
  expect(certificateOf({ ...honest, ...change })).toBeNull()
})

test('only thresholds on the share of right answers decide about answers', () => {
  const of = { metric: 'correct', statistic: 'share', step: null, phase: null, isFiltered: false }
  const answersOf = (text: string, change: object) => {
    const threshold = { text, result: 'held', value: 1, unit: 'share', of: { ...of, ...change } }
    return readPageVerdict(JSON.stringify({ thresholds: [threshold] })).answers
  }
  expect(answersOf('correct-chat.ttft.p95 < 800ms', { metric: 'ttft' })).toEqual([])
  expect(answersOf('correct.count > 10', { statistic: 'count' })).toEqual([])
  expect(answersOf('chat.correct > 99%', { step: 'chat' })).toMatchObject([
    { step: 'chat', phase: null, isFiltered: false },
  ])
  expect(answersOf('correct{model=a} > 99%', { isFiltered: true })).toMatchObject([
    { isFiltered: true },
  ])
})

test('a threshold of a run that was stored without what it is of says that in its text', () => {
  const answersOf = (text: string) => {
    const threshold = { text, result: 'held', value: 1, unit: 'share' }
    return readPageVerdict(JSON.stringify({ thresholds: [threshold] })).answers
  }
  const whole = { tone: 'good', step: null, phase: null, isFiltered: false }
  expect(answersOf('correct > 95%')).toMatchObject([whole])
  expect(answersOf('find/chat.correct.share >= 0.95')).toMatchObject([
    { ...whole, step: 'chat', phase: 'find' },
  ])
  expect(answersOf('correct{model=a} > 95%')).toMatchObject([{ ...whole, isFiltered: true }])
  for (const other of ['correct.count > 10', 'correct-chat.ttft.p95 < 800ms', 'no condition'])
    expect(answersOf(other)).toEqual([])
})

test('wrong answers of a step that no threshold covers fail the answers', () => {
  const steps = [chat(), { step: 'tool', correctness: { ...right, correct: 499 } }]
  const held = { ...asked('good', { step: 'chat' }), steps }
  expect(made(held).parts[1]).toMatchObject({
    verdict: 'fail',
    said: 'correct >= 95% held: 98 %, n = 500; of tool, 499 of 500 are right, 1 wrong; a threshold such as correct > 99% says how many may be',
  })
  // The threshold is kept: no chance of it explains the wrong answer.
  expect(made(held).parts[1]!.failsByChance).toBe(0)
  expect(made({ ...asked('good'), steps }).parts[1]!.verdict).toBe('pass')
  expect(made(asked('good', { isFiltered: true })).parts[1]!.verdict).toBe('fail')
})

test('thresholds of phases cover a step if they are of each phase of the figures', () => {
  const ofFind = asked('good', { phase: 'find' })
  const answersBy = (change: Partial<Certified>) => made(change).parts[1]!.verdict
  expect(answersBy({ ...ofFind, phases: ['find'] })).toBe('pass')
  expect(answersBy({ ...ofFind, phases: ['find', 'hold'] })).toBe('fail')
  expect(answersBy({ ...asked('good', { phase: 'warm-up' }), phases: ['find'] })).toBe('fail')
  const answers = [
    threshold('good', { phase: 'find' }),
    threshold('good', { phase: 'hold', step: 'chat' }),
  ]
  const both = { ...ofFind, page: { ...honest.page, answers }, phases: ['find', 'hold'] }
  expect(answersBy(both)).toBe('pass')
})

test('a bound that an answer states is never below it', () => {
  // R: qbeta(0.99, 1, 1012) is 0.0045402.
  const some = { examined: 1012, correct: 1012 }
  expect(made({ steps: [chat(some)] }).parts[1]!.said).toContain('at most 0.46 % of all are wrong')
  const confirmed = made({ page: { ...honest.page, trials: [{ ...trials, confirmations: 3 }] } })
  expect(certificateLines(confirmed)[1]).toContain('rate 1.9 %')
})

test('the chance of a certificate is the sum of its parts as they are shown', () => {
  const answers = [1, 2, 3, 4].map(() => threshold('good'))
  const page = { ...honest.page, answers, trials: [{ ...trials, confirmations: 6 }] }
  // 2.4834 % is shown as 2.5 %, and 13.4834 % by itself would be 14 %.
  expect(certificateLines(made({ page }))[1]).toContain(
    'at most 13.5 % of such runs, the sum of rate 2.5 %, answers 10 %, model 1 %',
  )
})

test('no chance is above 1, however many thresholds there are', () => {
  const answers = Array.from({ length: 45 }, () => threshold('good'))
  const many = made({ page: { ...honest.page, answers } })
  expect([many.parts[1]!.passesByChance, many.passesByChance]).toEqual([1, 1])
  expect(certificateLines(many)[1]).toContain('at most 100 % of such runs')
})
