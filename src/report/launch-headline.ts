import type { RunRow } from '../store/runs/runs.ts'
import { counted } from '../user/grouped.ts'
import { askedBy } from './asked.ts'
import type { Headline, Tone } from './banner.ts'
import { closedLoadText, hasOtherPhases } from './closed-phases.ts'
import { formatNumber, formatShare } from './format.ts'
import { doubtChecks, emptyChecks, failureChecks, unclosedChecks } from './launch-checks.ts'
import { type PageVerdict, type SearchTrials, stoppedText } from './page-verdict.ts'
import { stretchChecks } from './stretches.ts'
import type { Balance } from './summary/balances.ts'
import { emptyShare, failureShare } from './summary/figures.ts'
import type { SummaryGroup } from './summary/group-shape.ts'

/** What the headline of the launch page is about. */
export interface LaunchRuns {
  readonly runs: readonly RunRow[]
  /** Their verdicts, in the same order. */
  readonly verdicts: readonly PageVerdict[]
  /** The figures of all requests. */
  readonly all: SummaryGroup
  /** Whether any request got a response. */
  readonly reached: boolean
  /** Phases of a closed load. */
  readonly closed: readonly string[]
  readonly balances: readonly Balance[]
}

/** What a case needs, taken from the runs once. */
type Facts = ReturnType<typeof factsOf>

/** What a case says. */
interface Said {
  readonly tone: Tone
  readonly summary: string
  /** Before what was sent. */
  readonly more?: string
}

/** The first case that is true of the runs is the headline. What makes figures worthless comes first, then what somebody limited. */
const cases: readonly ((facts: Facts) => Said | null)[] = [
  neverReached,
  invalid,
  missedThresholds,
  withoutVerdict,
  unlimitedFailures,
  undecidedThresholds,
  nothingFound,
  degraded,
  unlimitedEmpty,
  everythingMet,
]

/** The headline of the launch page: are the figures reliable, and did the deployment meet its thresholds? */
export function launchHeadline(launch: LaunchRuns): Headline {
  const facts = factsOf(launch)
  const said = cases.map((about) => about(facts)).find((each) => each !== null) ?? valid
  return {
    asks: [...new Set(facts.asked.map(({ question }) => question))].filter(Boolean).join(' '),
    tone: said.tone,
    summary: said.summary,
    because: `${said.more ?? ''} ${becauseOf(facts)}`.trim(),
    checks: checksOf(facts, said.summary),
  }
}

function factsOf(launch: LaunchRuns) {
  const { runs, verdicts, all } = launch
  const of = (name: 'tests' | 'thresholds') => verdicts.flatMap((each) => each[name])
  const searches = verdicts.flatMap((each) => each.searches)
  const asked = runs.map((run) => askedBy(run.scenario_json))
  /** Of each run, whether a search judged all requests that count in its figures. */
  const areSearched = runs.map(
    (run, at) => verdicts[at]!.searches.length > 0 && !hasOtherPhases(run.scenario_json),
  )
  const limits = (of: 'limitsFailures' | 'limitsEmpty') =>
    asked.every((each, at) => areSearched[at] || each[of])
  // A threshold or a search that limits failures has their figure.
  const isLimited = limits('limitsFailures')
  const thresholds = of('thresholds')
  const found = searches.map(({ name }) => name)
  return {
    ...launch,
    asked,
    tests: of('tests'),
    thresholds,
    searches,
    areAllSearched: areSearched.every(Boolean),
    isLimited,
    isEmptyLimited: limits('limitsEmpty'),
    failures: isLimited ? null : manyFailures(all.counts),
    isInvalid: runs.some((run) => run.verdict === 'invalid'),
    undecided: thresholds.filter((check) => check.tone !== 'good').length,
    /** The rates that searches found, as sentences. */
    rates: found.length > 0 ? `${found.join('; ')}. ` : '',
    met: thresholds.length === 0 ? '' : 'every threshold was met',
  }
}

/** That many requests failed, which nothing limits: outside what the scenario asked, so a doubt. Null if few did. */
function manyFailures(counts: SummaryGroup['counts']): string | null {
  const share = counts.failed === 0 ? null : failureShare(counts)
  if (share === null || share <= fewFailures) return null
  return `${formatShare(share)} % of the requests failed, and no threshold limits failures`
}

function neverReached({ reached }: Facts): Said | null {
  return reached
    ? null
    : { tone: 'fail', summary: 'The target was never reached', more: 'No request was answered.' }
}

function invalid({ isInvalid, verdicts }: Facts): Said | null {
  if (!isInvalid) return null
  return {
    tone: 'fail',
    summary: 'This run is invalid: do not rely on its latencies',
    more: verdicts.map((each) => each.summary).join(' '),
  }
}

function missedThresholds({ thresholds }: Facts): Said | null {
  const missed = thresholds.filter((check) => check.tone === 'fail').length
  return missed === 0 ? null : { tone: 'fail', summary: `${counted(missed, 'threshold')} missed` }
}

function withoutVerdict({ runs }: Facts): Said | null {
  if (runs.every((run) => run.verdict !== null)) return null
  return {
    tone: 'warn',
    summary: 'The run has no verdict',
    more: 'It has not ended: it is still running, or was killed.',
  }
}

function unlimitedFailures({ failures, thresholds, undecided }: Facts): Said | null {
  if (failures === null) return null
  return {
    tone: 'warn',
    summary: `${failures}${decided(thresholds.length, undecided)}`,
    more: 'To decide it, add a threshold such as errors < 1%.',
  }
}

function undecidedThresholds({ undecided }: Facts): Said | null {
  return undecided === 0
    ? null
    : { tone: 'warn', summary: `${counted(undecided, 'threshold')} could not be decided` }
}

function nothingFound({ searches }: Facts): Said | null {
  const search = searches.find(({ isFound }) => !isFound)
  return search === undefined
    ? null
    : { tone: search.tone, summary: search.name, more: search.remedy ?? '' }
}

function degraded({ runs, rates, met }: Facts): Said | null {
  if (runs.every((run) => run.verdict !== 'degraded')) return null
  const but = met === '' ? 'The run' : `${capital(met)}, but the run`
  return { tone: 'warn', summary: `${rates}${but} is degraded: use its figures with care` }
}

function unlimitedEmpty({ all, isEmptyLimited, met }: Facts): Said | null {
  const empty = emptyShare(all) ?? 0
  if (empty <= fewFailures || isEmptyLimited) return null
  return {
    tone: 'warn',
    summary: `${formatShare(empty)} % of the answers are empty, and no threshold limits them${met && `; ${met}`}`,
    more: 'They have no text and no tool call. To decide it, add a threshold such as empty < 1%.',
  }
}

function everythingMet({ thresholds, searches, rates, met }: Facts): Said | null {
  if (thresholds.length === 0 && searches.length === 0) return null
  const tone = searches.some((search) => search.tone === 'warn') ? 'warn' : 'good'
  if (thresholds.length > 0) return { tone, summary: `${rates}${capital(met)}` }
  const remedy = searches.length === 1 ? (searches[0]!.remedy ?? '') : ''
  return { tone, summary: rates.replace(/\. $/, ''), more: remedy }
}

const valid: Said = {
  tone: 'good',
  summary: 'The run is valid',
  more: 'The scenario set no threshold.',
}

/** What was sent, and what the figures leave out. */
function becauseOf({ verdicts, searches, areAllSearched, all, closed }: Facts): string {
  const stopped = verdicts.flatMap(({ stopped }) =>
    stopped === null ? [] : [stoppedText(stopped)],
  )
  return [
    ...stopped,
    searches.length > 0
      ? trialsText(
          verdicts.flatMap(({ trials }) => trials),
          areAllSearched,
        )
      : sentText(all.counts),
    ...(closed.length === 0 ? [] : [closedLoadText(closed.join(', '))]),
  ].join(' ')
}

/** The list under the headline, without what the headline itself says. */
function checksOf(facts: Facts, summary: string): Headline['checks'] {
  const { tests, searches, thresholds, isInvalid, isLimited, failures, all, balances } = facts
  const failed = tests.filter(({ tone }) => tone === 'fail')
  const doubtful = tests.filter(({ tone }) => tone === 'warn')
  // Another search may have the same answer.
  const said = searches.find(({ name }) => name === summary)
  const saysFailures = failures !== null && summary.startsWith(failures)
  return [
    // Of an invalid run, they are the reason.
    ...(isInvalid ? failed : []),
    ...searches.filter((each) => each !== said),
    ...thresholds,
    ...(isLimited || saysFailures ? [] : failureChecks(all.counts)),
    ...emptyChecks(all),
    ...unclosedChecks(all),
    ...stretchChecks(balances),
    ...facts.verdicts.flatMap((each) => each.told),
    ...doubtChecks([...(isInvalid ? [] : failed), ...doubtful]),
  ]
}

const capital = (text: string) => `${text[0]!.toUpperCase()}${text.slice(1)}`

const decided = (thresholds: number, open: number) =>
  open > 0
    ? `; ${counted(open, 'threshold')} could not be decided`
    : thresholds > 0
      ? '; every threshold was met'
      : ''

function sentText({ sent, attempts, retries, ok }: SummaryGroup['counts']): string {
  const planned = counted(attempts - retries, 'planned request')
  const what = retries === 0 ? planned : `${counted(attempts, 'attempt')} of ${planned}`
  const all = sent === attempts && attempts > 1
  const were = (all ? attempts : sent) === 1 ? 'was' : 'were'
  return `${all ? `All ${what}` : `${formatNumber(sent)} of ${what}`} ${were} sent, ${formatNumber(ok)} succeeded.`
}

/**
 * Requests of all trials together: the figures of a search are those of one trial.
 *
 * @param areAll whether no request outside the searches counts
 */
function trialsText(trials: readonly SearchTrials[], areAll: boolean): string {
  const sum = (of: (each: SearchTrials) => number) =>
    trials.reduce((total, each) => total + of(each), 0)
  const one = trials.map(({ figuresOf }) => figuresOf).filter((text) => text !== null)
  const rest = areAll ? ' alone' : ' and of the requests outside the searches'
  const figures = one.length === 0 ? '' : ` The figures below are of ${one.join(' and ')}${rest}.`
  const requests = counted(
    sum(({ sent }) => sent),
    'request',
  )
  const ofTrials = counted(
    sum(({ count }) => count),
    'trial',
  )
  return `${requests} of ${ofTrials} were sent${areAll ? '' : ', beside those outside the searches'}.${figures}`
}

/** Up to this share, unexpected failures and empty answers do not change the answer of a scenario that does not limit them. */
const fewFailures = 0.01
