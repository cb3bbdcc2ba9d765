import { betaQuantile } from '../../measure/interval/distributions.ts'
import type { Validity } from '../../store/runs/run-end.ts'
import type { Tone } from '../banner.ts'
import { formatNumber, formatShare, percentAtMost } from '../format.ts'
import { type StoredFinding, tones } from '../latest-findings.ts'
import type { PageVerdict } from '../page-verdict.ts'
import type { SummaryGroup } from '../summary/group-shape.ts'
import type { Certificate, CertificatePart, CertificateVerdict } from './shape.ts'

/**
 * A first confirmation has 99 % confidence, the nth 1 - 0.01 / n, and from the fifth on that of the fifth: whoever tries several
 * passes one more easily.
 */
const rateErrorChance = (confirmations: number) =>
  Array.from({ length: Math.max(1, confirmations) }, (_, at) => 0.01 / Math.min(at + 1, 5)).reduce(
    (sum, each) => sum + each,
    0,
  )
/** A threshold is held, or missed, if its whole interval of 95 % is on one side. */
const thresholdErrorChance = 0.025
/** Answers without a threshold have a bound of 99 % confidence. */
const boundErrorChance = 0.01
/** An honest model fails SOLD-11 in 1 % of runs at most, and another model for all requests passes it as rarely (`bench/sold-rates.ts`). */
const modelErrorChance = 0.01

/** What a certificate is made from. */
export interface Certified {
  /** Of the run on itself; null while it runs, and after a kill. */
  readonly validity: Validity | null
  readonly page: Pick<PageVerdict, 'searches' | 'answers' | 'trials'>
  /** Share of the requests of the claimed trial that ask for one token: they are less work than others. */
  readonly oneTokenShare: number
  /** What the answers of each step say. */
  readonly steps: readonly Pick<SummaryGroup, 'step' | 'correctness'>[]
  /** Those whose requests count in the figures. */
  readonly phases: readonly string[]
  /** Of the latest audit of the run. */
  readonly findings: readonly StoredFinding[]
}

/**
 * The one verdict of a search that asks short prompts for one token at rest and in its load: the rate is sustained, answers stayed
 * right, the model stayed the same, and charges were right.
 *
 * @returns null of a run that is no search, or in which SOLD-11 found nothing to judge
 */
export function certificateOf(certified: Certified): Certificate | null {
  const watched = certified.findings.find(({ rule }) => rule === 'SOLD-11')
  const isMeasured = watched !== undefined && (tones[watched.verdict] ?? 'none') !== 'none'
  if (!isMeasured || certified.page.searches.length === 0) return null
  const parts = [
    ratePart(certified),
    answersPart(certified),
    modelPart(watched),
    chargesPart(certified.findings),
  ]
  const { searches } = certified.page
  return {
    verdict: worstOf(parts.map(({ verdict }) => verdict)),
    rate: searches.every(({ isFound }) => isFound)
      ? searches.map(({ name }) => name).join('; ')
      : null,
    parts,
    passesByChance: Math.min(
      1,
      parts.reduce((sum, part) => sum + part.passesByChance, 0),
    ),
  }
}

const worstOf = (all: readonly CertificateVerdict[]): CertificateVerdict =>
  all.includes('fail') ? 'fail' : all.includes('inconclusive') ? 'inconclusive' : 'pass'

const verdictOf = (tone: Tone): CertificateVerdict =>
  tone === 'good' ? 'pass' : tone === 'fail' ? 'fail' : 'inconclusive'

function ratePart({ validity, page, oneTokenShare }: Certified): CertificatePart {
  const { searches, trials } = page
  const found = searches.every(({ isFound }) => isFound)
  const said = searches.map(({ name, remedy }) => (found ? name : `${name}. ${remedy ?? ''}`))
  const doubt =
    validity === 'valid' ? '' : `, but the run is ${validity ?? 'not ended'}: measure it again`
  const verdict = worstOf(searches.map(({ tone }) => verdictOf(tone)))
  // Over all searches: never less than what each needs.
  const confirmations = trials.reduce((sum, each) => sum + each.confirmations, 0)
  return {
    part: 'rate',
    // What fails on a client in doubt may be the client.
    verdict: doubt === '' ? verdict : 'inconclusive',
    said: `${said.join('; ').replace(/\.? ?$/, '')}${doubt}. ${formatShare(oneTokenShare)} % of its requests ask for one token, which is less work`,
    passesByChance: rateErrorChance(confirmations),
    failsByChance: null,
  }
}

/** By thresholds on the share of right answers, and for steps that none of them covers by no wrong answer. */
function answersPart({ steps, phases, page }: Certified): CertificatePart {
  const thresholds = page.answers
  const whole = thresholds.filter(({ isFiltered }) => !isFiltered)
  const isCovered = (of: string | null) => {
    const own = whole.filter(({ step }) => step === null || step === of)
    return (
      own.some(({ phase }) => phase === null) ||
      (phases.length > 0 && phases.every((each) => own.some(({ phase }) => phase === each)))
    )
  }
  const examined = steps.filter(({ correctness }) => (correctness?.examined ?? 0) > 0)
  const open = examined.filter(({ step }) => !isCovered(step))
  if (thresholds.length === 0) return openAnswers(open)
  const errs = Math.min(1, thresholdErrorChance * thresholds.length)
  const byThresholds: CertificatePart = {
    part: 'answers',
    verdict: worstOf(thresholds.map(({ tone }) => verdictOf(tone))),
    said: thresholds.map(({ name, figure }) => `${name} ${figure}`).join('; '),
    passesByChance: errs,
    failsByChance: errs,
  }
  if (open.length === 0) return byThresholds
  const rest = openAnswers(open)
  return {
    part: 'answers',
    verdict: worstOf([byThresholds.verdict, rest.verdict]),
    said: `${byThresholds.said}; of ${open.map(({ step }) => step).join(', ')}, ${rest.said}`,
    passesByChance: Math.min(1, errs + rest.passesByChance),
    // A wrong answer that no threshold covers is not there by chance.
    failsByChance: rest.verdict === 'fail' ? rest.failsByChance : errs,
  }
}

/** Answers that must all be right, because no threshold says how many may be wrong. */
function openAnswers(steps: Certified['steps']): CertificatePart {
  const part = { part: 'answers', passesByChance: boundErrorChance, failsByChance: 0 } as const
  const sumOf = (count: 'examined' | 'correct' | 'unchecked') =>
    steps.reduce((sum, { correctness }) => sum + (correctness?.[count] ?? 0), 0)
  const [examined, correct, unchecked] = [sumOf('examined'), sumOf('correct'), sumOf('unchecked')]
  if (examined === 0)
    return { ...part, verdict: 'inconclusive', said: 'no step says what it expects (expect)' }
  const wrong = examined - correct - unchecked
  const said = `${formatNumber(correct)} of ${formatNumber(examined)} are right`
  if (wrong > 0)
    return {
      ...part,
      verdict: 'fail',
      said: `${said}, ${formatNumber(wrong)} wrong; a threshold such as correct > 99% says how many may be`,
    }
  if (unchecked > 0)
    return {
      ...part,
      verdict: 'inconclusive',
      said: `${said}, ${formatNumber(unchecked)} not checked`,
    }
  // The upper bound of Clopper and Pearson for no wrong answer.
  const most = betaQuantile(1 - boundErrorChance, 1, correct)
  return {
    ...part,
    verdict: 'pass',
    said: `${said}, so at most ${percentAtMost(most)} of all are wrong if requests err independently`,
  }
}

function modelPart({ verdict, detail }: StoredFinding): CertificatePart {
  const said = detail.observed ?? detail.why ?? detail.note ?? detail.requires ?? verdict
  return {
    part: 'model',
    verdict: verdictOf(tones[verdict] ?? 'none'),
    said: said.replace(/\.$/, ''),
    passesByChance: modelErrorChance,
    failsByChance: modelErrorChance,
  }
}

/** Rules that judge what is charged, and the counts that charges follow from: input, output, reasoning and cached tokens. */
const ofCharges = /^(?:BILL|PRICE)-|^SOLD-(?:01|02|04|09)$/

function chargesPart(findings: readonly StoredFinding[]): CertificatePart {
  const judged = findings.filter(
    ({ rule, severity }) => ofCharges.test(rule) && severity !== 'advice',
  )
  const of = (verdict: string) => judged.filter((finding) => finding.verdict === verdict)
  const [failed, open, passed] = [of('fail'), of('inconclusive'), of('pass')]
  // A rule of one price of a model is `PRICE-03:big:input`.
  const named = (some: readonly StoredFinding[]) =>
    [...new Set(some.map(({ rule }) => rule.split(':')[0]!))].join(', ')
  const part = { part: 'charges', passesByChance: 0, failsByChance: 0 } as const
  const [first] = failed
  if (first !== undefined)
    return {
      ...part,
      verdict: 'fail',
      said: `${named(failed)} failed: ${first.detail.observed ?? first.title}`,
    }
  if (open.length > 0)
    return {
      ...part,
      verdict: 'inconclusive',
      said: `${named(open)} not decided: ${open[0]!.detail.why ?? open[0]!.title}`,
    }
  if (!passed.some(({ rule }) => !rule.startsWith('SOLD')))
    return {
      ...part,
      verdict: 'inconclusive',
      said: 'no rule judged a charge: the contract has no prices, or says nowhere how charges are shown (evidence)',
    }
  return {
    ...part,
    verdict: 'pass',
    said: `each that was judged is right by the contract (${named(passed)})`,
  }
}
