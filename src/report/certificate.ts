import { z } from 'zod'
import { betaQuantile } from '../measure/interval/distributions.ts'
import type { Check, Headline, Tone } from './banner.ts'
import type { StoredFinding } from './findings.ts'
import { formatNumber, formatShare } from './format.ts'
import type { SummaryGroup } from './summary/shape.ts'

/** A part of a certificate, with the most that it errs by chance; null where nothing is claimed. */
interface Part {
  readonly tone: Tone
  readonly name: string
  readonly figure: string
  readonly errs: number | null
}

/** A rate is confirmed with 99 % confidence, and a watch of a model that stayed alarms in at most 1 %. */
const errsByChance = 0.01
/** A threshold is held if its whole interval of 95 % is on one side. */
const errsOfThreshold = 0.025

/** Fewer sessions under load do not show another model: the watch needs them to alarm. */
const leastUnderLoad = 8

/**
 * The one verdict of a search whose load has the integrity prompts of a session in it: the rate is sustained, answers stayed right, the
 * model stayed the same, and charges were right. Parts may depend on each other, so the joint error is at most their sum (Bonferroni).
 *
 * @param answer what the page answers without it
 * @param atRest sessions that the scenario sends before the load
 * @param thresholds of the runs
 * @returns null if no audit has looked for a change of the model
 */
export function certified(
  answer: Headline,
  { correctness }: Pick<SummaryGroup, 'correctness'>,
  thresholds: readonly Check[],
  findings: readonly StoredFinding[],
  atRest: number,
): Headline | null {
  const watched = findings.find(
    ({ rule, verdict }) => rule === 'SOLD-05' && (tones[verdict] ?? 'none') !== 'none',
  )
  if (watched === undefined) return null
  const parts: readonly Part[] = [
    { ...{ tone: answer.tone, name: 'Rate:', figure: answer.summary }, errs: errsByChance },
    answersPart(correctness, thresholds),
    modelPart(watched, watched.observations - atRest),
    chargesPart(findings),
  ]
  const of = (tone: Tone) => parts.filter((part) => part.tone === tone)
  const [failed, good] = [of('fail'), of('good')]
  const open = parts.filter((part) => !failed.includes(part) && !good.includes(part))
  const names = (some: readonly Part[]) => some.map(({ name }) => name.slice(0, -1)).join(', ')
  const joint = good.reduce((sum, { errs }) => sum + (errs ?? 0), 0)
  return {
    ...answer,
    tone: failed.length > 0 ? 'fail' : open.length > 0 ? 'warn' : 'good',
    summary:
      failed.length > 0
        ? `Not certified, failed: ${names(failed)}`
        : open.length > 0
          ? `Not certified, open: ${names(open)}`
          : `Certified: ${answer.summary}`,
    because: `${good.length} of ${parts.length} parts hold. Together they err by chance in at most ${formatShare(joint)} %, the sum of what each does. ${answer.because}`,
    checks: [
      ...parts.map(({ tone, name, figure, errs }) => ({
        ...{ tone, name, remedy: null },
        figure: errs === null || tone !== 'good' ? figure : `${figure}. Errs in ${errsText(errs)}`,
      })),
      ...answer.checks,
    ],
  }
}

const errsText = (errs: number) => (errs === 0 ? 'no case by chance' : `at most ${100 * errs} %`)

const tones: Readonly<Partial<Record<string, Tone>>> = {
  pass: 'good',
  fail: 'fail',
  inconclusive: 'warn',
}

function answersPart(correctness: SummaryGroup['correctness'], thresholds: readonly Check[]): Part {
  const name = 'Answers:'
  const asked = thresholds.find((check) => check.name.startsWith('correct'))
  if (asked !== undefined)
    return {
      tone: asked.tone,
      name,
      figure: `${asked.name} ${asked.figure}`,
      errs: errsOfThreshold,
    }
  if (correctness === null || correctness.examined === 0)
    return { tone: 'none', name, figure: 'no step says what it expects (expect)', errs: null }
  const { examined, correct, unchecked } = correctness
  const wrong = examined - correct - unchecked
  const most = betaQuantile(1 - errsByChance, wrong + 1, correct)
  const said = `${formatNumber(correct)} of ${formatNumber(examined)} are right`
  return wrong === 0 && unchecked === 0
    ? {
        ...{ tone: 'good', name, errs: errsByChance },
        figure: `${said}: at most ${formatShare(most)} % of all are wrong`,
      }
    : {
        ...{ tone: 'warn', name, errs: null },
        figure: `${said}, ${formatNumber(wrong)} wrong, ${formatNumber(unchecked)} not checked; no threshold such as correct > 99% says how many may be`,
      }
}

function modelPart({ verdict, detail }: StoredFinding, underLoad: number): Part {
  const [tone, said] = [tones[verdict] ?? 'none', detail.observed ?? detail.why ?? detail.note]
  const part = { name: 'Model:', errs: errsByChance }
  const sessions = `${Math.max(0, underLoad)} sessions under load`
  return tone === 'good' && underLoad < leastUnderLoad
    ? { ...part, tone: 'warn', figure: `only ${sessions}, of ${leastUnderLoad}` }
    : { ...part, tone, figure: `SOLD-05, ${sessions}: ${said ?? verdict}` }
}

/** Rules that judge what is charged, and the counts that charges follow from. */
const ofCharges = /^(?:BILL|PRICE)-|^SOLD-(?:01|02|04|09)$/

function chargesPart(findings: readonly StoredFinding[]): Part {
  const judged = findings.filter(
    ({ rule, severity }) => ofCharges.test(rule) && severity !== 'advice',
  )
  const of = (verdict: string) => judged.filter((finding) => finding.verdict === verdict)
  const [failed, open, passed] = [of('fail'), of('inconclusive'), of('pass')]
  const isCharge = passed.some(({ rule }) => !rule.startsWith('SOLD'))
  const named = (some: readonly StoredFinding[]) => some.map(({ rule }) => rule).join(', ')
  const part = (tone: Tone, figure: string): Part => ({ tone, name: 'Charges:', figure, errs: 0 })
  if (failed.length > 0) return part('fail', `${named(failed)} failed`)
  if (open.length > 0) return part('warn', `${named(open)} inconclusive`)
  if (!isCharge)
    return part(
      'none',
      'no rule judged a charge: the contract has no prices, or no balance was read',
    )
  return part('good', `each that was judged is right (${named(passed)})`)
}

const scenario = z.looseObject({
  phases: z.array(z.looseObject({ load: z.looseObject({ kind: z.string() }) })),
})

/** Phases of a stored scenario that are no search; none of one that another version wrote in a form that is not known. */
export function phasesAtRest(scenarioJson: string): number {
  try {
    const { phases } = scenario.parse(JSON.parse(scenarioJson))
    return phases.filter(({ load }) => load.kind !== 'sweep').length
  } catch {
    return 0
  }
}
