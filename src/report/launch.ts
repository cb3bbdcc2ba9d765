import type { Contract } from '../contract/contract.ts'
import { defaultContract } from '../contract/default.ts'
import { shownAmount } from '../money/money.ts'
import { divide, rational, readNumber } from '../money/rational.ts'
import type { RunRow } from '../store/runs/runs.ts'
import type { Session } from '../store/session/session.ts'
import { type Html, html } from '../user/html.ts'
import { askedBy } from './asked.ts'
import {
  type Card,
  type Check,
  type Headline,
  renderCards,
  renderFold,
  renderHeadline,
  type Tone,
} from './banner.ts'
import { readCertificate } from './certificate/read.ts'
import { certifiedHeadline } from './certificate/words.ts'
import { closedPhases } from './closed-phases.ts'
import { formatCell, formatCount, formatDuration, formatNumber, formatShare } from './format.ts'
import {
  type PageVerdict,
  readPageVerdict,
  type SearchTrials,
  selfTestsText,
  stoppedText,
} from './page-verdict.ts'
import { prepareFigures } from './shown-figures.ts'
import { stretchChecks, stretchLine } from './stretches.ts'
import type { Balance } from './summary/balances.ts'
import {
  emptyShare,
  failureShare,
  reportsAllTokens,
  tokenNotes,
  unclosedText,
} from './summary/figures.ts'
import { fluidityNotes, readFluidity } from './summary/fluidity.ts'
import { countedOf } from './summary/groups.ts'
import { lengthNotes, readLengths } from './summary/lengths.ts'
import { machineOf, machinesOf, machinesText } from './summary/machines.ts'
import { readMoney } from './summary/money.ts'
import type { Distribution, Percentile, RunSummary, SummaryGroup } from './summary/shape.ts'
import { workloadText } from './workload.ts'
import { momentIn } from './zone-words.ts'

/** The lines under a page's title: scenario, service and time of the runs, and what they sent. */
export async function aboutRuns(store: Session): Promise<Html> {
  const runs = await shownRuns(store)
  const first = runs[0]
  if (first === undefined) return html`The store has no run yet.`
  const named = (values: readonly string[]) => [...new Set(values)].join(', ')
  const workload = await workloadText(store)
  return html`Scenario <b>${named(runs.map((run) => run.scenario))}</b> against <span class="mono">${named(
    runs.map((run) => run.base_url),
  )}</span>, begun ${momentIn(first.started_at.getTime() * 1000, 'UTC')} UTC.${workload !== false && html`<br>${workload}`}`
}

/** The end of the page: the self-tests of this client, and what it takes to repeat the runs. */
export async function launchEnd(store: Session): Promise<Html | false> {
  const runs = await shownRuns(store)
  if (runs.length === 0) return false
  const tests = runs.flatMap((run) => readPageVerdict(run.verdict_json).tests)
  const unheld = tests.filter(({ tone }) => tone === 'fail' || tone === 'warn')
  const unjudged = tests.filter(({ tone }) => tone === 'none').map(({ name }) => name)
  const name = selfTestsText(tests.length, unheld.length, unjudged)
  return html`<section class="end"><h2 id="self-tests">This client</h2>${renderFold(name, tests)}
<ul class="note">${runs.map(
    (run) =>
      html`<li>Run <span class="mono">${run.run_id}</span>, seed ${String(run.seed)}, Assay ${run.assay_version}${machinesText([machinesOf(machineOf(run.machine_json))])}.</li>`,
  )}</ul></section>`
}

interface LaunchTop {
  readonly answer: Html
  /** The cards. The first charts stand between them and the answer. */
  readonly figures: Html
}

/**
 * The answer of the launch page: are the figures reliable, and did the deployment meet its thresholds? It also prepares the page's
 * tables.
 *
 * @param balances of the accounts of the shown runs
 */
export async function launchTop(
  store: Session,
  balances: readonly Balance[] = [],
  contract: Contract = defaultContract,
): Promise<LaunchTop> {
  const runs = await shownRuns(store)
  const money = await readMoney(
    store,
    runs.map((run) => run.run_id),
    contract,
  )
  const all = await prepareFigures(store)
  const [reached] = await store.rows(
    `FROM attempts WHERE list_contains(getvariable('run_ids'), run_id) AND status IS NOT NULL LIMIT 1`,
  )
  const verdicts = runs.map((run) => readPageVerdict(run.verdict_json))
  const closed = [...new Set(runs.flatMap((run) => closedPhases(run.scenario_json)))]
  const notes: (readonly string[])[] = []
  for (const { run_id, scenario_json } of runs) {
    const counted = countedOf(run_id, scenario_json)
    notes.push(lengthNotes(await readLengths(store, counted, scenario_json), String))
    notes.push(fluidityNotes(await readFluidity(store, counted), String))
  }
  const answer = answerOf(runs, verdicts, all, { reached: reached !== undefined, closed, balances })
  const [run, ...others] = runs
  const certificate =
    run === undefined || others.length > 0
      ? null
      : await readCertificate(store, run, all.correctness)
  return {
    answer: renderHeadline(certificate === null ? answer : certifiedHeadline(certificate, answer)),
    figures: html`${renderCards([
      ...cardsOf(all, closed.length > 0),
      ...moneyCards(money),
    ])}${[...tokenNotes(all), ...notes.flat()].map((note) => html`<p class="note">${note}</p>`)}${stretchLine(balances)}`,
  }
}

function shownRuns(store: Session): Promise<readonly RunRow[]> {
  return store.rows<RunRow>('SELECT * FROM shown_runs ORDER BY offset_us, run_id')
}

interface Known {
  /** Whether any request got a response. */
  readonly reached: boolean
  /** Phases of a closed load. */
  readonly closed: readonly string[]
  readonly balances: readonly Balance[]
}

function answerOf(
  runs: readonly RunRow[],
  verdicts: readonly PageVerdict[],
  all: SummaryGroup,
  { reached, closed, balances }: Known,
): Headline {
  const { counts } = all
  const of = (name: 'tests' | 'thresholds') => verdicts.flatMap((each) => each[name])
  const [tests, thresholds] = [of('tests'), of('thresholds')]
  const searches = verdicts.flatMap((each) => each.searches)
  const asked = runs.map((run) => askedBy(run.scenario_json))
  const isInvalid = runs.some((run) => run.verdict === 'invalid')
  const failed = tests.filter(({ tone }) => tone === 'fail')
  const doubtful = tests.filter(({ tone }) => tone === 'warn')
  const stopped = verdicts.flatMap(({ stopped }) =>
    stopped === null ? [] : [stoppedText(stopped)],
  )
  const because = [
    ...stopped,
    searches.length > 0 ? trialsText(verdicts.flatMap(({ trials }) => trials)) : sentText(counts),
    ...(closed.length === 0
      ? []
      : [
          `Closed load (${closed.join(', ')}): its users wait for answers, so response time leaves out the waiting that an open load would show, and no rate is claimed.`,
        ]),
  ].join(' ')
  // A threshold or a search that limits failures has their figure.
  const isLimited = searches.length > 0 || asked.every(({ limitsFailures }) => limitsFailures)
  // Failures that nothing limits are outside what the scenario asked, so they are doubts.
  const share = counts.failed === 0 ? null : failureShare(counts)
  const failures =
    share !== null && share > fewFailures && !isLimited
      ? `${formatShare(share)} % of the requests failed, and no threshold limits failures`
      : null
  const told = (tone: Tone, summary: string, more = ''): Headline => ({
    asks: [...new Set(asked.map(({ question }) => question))].filter(Boolean).join(' '),
    tone,
    summary,
    because: `${more} ${because}`.trim(),
    checks: [
      // Of an invalid run, they are the reason.
      ...(isInvalid ? failed : []),
      ...searches.filter(({ name }) => name !== summary),
      ...thresholds,
      ...(isLimited || (failures !== null && summary.startsWith(failures))
        ? []
        : failuresOf(counts)),
      ...emptyOf(all),
      ...unclosedOf(all),
      ...stretchChecks(balances),
      ...verdicts.flatMap((each) => each.told),
      ...doubtChecks([...(isInvalid ? [] : failed), ...doubtful]),
    ],
  })
  if (!reached) {
    return told('fail', 'The target was never reached', 'No request was answered.')
  }
  if (isInvalid) {
    return told(
      'fail',
      'This run is invalid: do not rely on its latencies',
      verdicts.map((each) => each.summary).join(' '),
    )
  }
  const missed = thresholds.filter((check) => check.tone === 'fail')
  if (missed.length > 0) {
    return told('fail', `${formatCount(missed.length, 'threshold')} missed`)
  }
  if (runs.some((run) => run.verdict === null)) {
    return told(
      'warn',
      'The run has no verdict',
      'It has not ended: it is still running, or was killed.',
    )
  }
  const open = thresholds.filter((check) => check.tone !== 'good')
  if (failures !== null) {
    return told(
      'warn',
      `${failures}${decided(thresholds.length, open.length)}`,
      'To decide it, add a threshold such as errors < 1%.',
    )
  }
  if (open.length > 0)
    return told('warn', `${formatCount(open.length, 'threshold')} could not be decided`)
  const unfound = searches.find(({ isFound }) => !isFound)
  if (unfound !== undefined) return told(unfound.tone, unfound.name, unfound.remedy ?? '')
  const rates = searches.map(({ name }) => name)
  const rate = rates.length > 0 ? `${rates.join('; ')}. ` : ''
  const tone = searches.some((search) => search.tone === 'warn') ? 'warn' : 'good'
  const met = thresholds.length === 0 ? '' : 'every threshold was met'
  if (runs.some((run) => run.verdict === 'degraded')) {
    const but = met === '' ? 'The run' : `${met[0]!.toUpperCase()}${met.slice(1)}, but the run`
    return told('warn', `${rate}${but} is degraded: use its figures with care`)
  }
  const empty = emptyShare(all) ?? 0
  if (
    empty > fewFailures &&
    searches.length === 0 &&
    !asked.every(({ limitsEmpty }) => limitsEmpty)
  ) {
    return told(
      'warn',
      `${formatShare(empty)} % of the answers are empty, and no threshold limits them${met && `; ${met}`}`,
      'They have no text and no tool call. To decide it, add a threshold such as empty < 1%.',
    )
  }
  if (thresholds.length > 0) return told(tone, `${rate}${met[0]!.toUpperCase()}${met.slice(1)}`)
  return rate === ''
    ? told('good', 'The run is valid', 'The scenario set no threshold.')
    : told(tone, rate.replace(/\. $/, ''), searches.length === 1 ? (searches[0]!.remedy ?? '') : '')
}

const decided = (thresholds: number, open: number) =>
  open > 0
    ? `; ${formatCount(open, 'threshold')} could not be decided`
    : thresholds > 0
      ? '; every threshold was met'
      : ''

function sentText({ sent, attempts, ok }: SummaryGroup['counts']): string {
  const planned = formatCount(attempts, 'planned request')
  const all = sent === attempts && attempts > 1
  const were = (all ? attempts : sent) === 1 ? 'was' : 'were'
  return `${all ? `All ${planned}` : `${formatNumber(sent)} of ${planned}`} ${were} sent, ${formatNumber(ok)} succeeded.`
}

/** Requests of all trials together: the figures of a search are those of one trial. */
function trialsText(trials: readonly SearchTrials[]): string {
  const sum = (of: (each: SearchTrials) => number) =>
    trials.reduce((total, each) => total + of(each), 0)
  const one = trials.map(({ figuresOf }) => figuresOf).filter((text) => text !== null)
  const figures = one.length === 0 ? '' : ` The figures below are of ${one.join(' and ')} alone.`
  return `${formatCount(
    sum(({ sent }) => sent),
    'request',
  )} of ${formatCount(
    sum(({ count }) => count),
    'trial',
  )} were sent.${figures}`
}

/** Up to this share, unexpected failures and empty answers do not change the answer of a scenario that does not limit them. */
const fewFailures = 0.01

/** Doubts about this client in one line; their figures are at the end of the page. */
function doubtChecks(tests: readonly Check[]): readonly Check[] {
  if (tests.length === 0) return []
  return [
    {
      tone: 'warn',
      name: 'Self-tests in doubt:',
      link: '#self-tests',
      figure: tests.map(({ name }) => name).join(', '),
      remedy: null,
    },
  ]
}

function failuresOf(counts: SummaryGroup['counts']): readonly Check[] {
  const { failed, sent } = counts
  if (failed === 0) return []
  const figure = `${formatShare(failureShare(counts)!)} %, ${formatNumber(failed)} of ${formatCount(sent, 'request')}`
  return [{ tone: 'warn', name: 'Unexpected failures:', figure, remedy: null }]
}

/** A service that fails without a word answers 200 with nothing in it. */
function emptyOf(all: SummaryGroup): readonly Check[] {
  const { counts, tokenReports } = all
  if (counts.empty === 0) return []
  const figure = `${formatShare(emptyShare(all)!)} %, ${formatNumber(counts.empty)} of ${formatNumber(tokenReports.answers)} have no text and no tool call`
  return [{ tone: 'warn', name: 'Empty answers:', figure, remedy: null }]
}

function unclosedOf(all: SummaryGroup): readonly Check[] {
  const figure = unclosedText(all)
  return figure === null ? [] : [{ tone: 'warn', name: 'Open streams:', figure, remedy: null }]
}

/** @param closed whether part of the load is closed: it claims no rate and omits waiting */
function cardsOf(all: SummaryGroup, closed: boolean): readonly Card[] {
  const {
    counts,
    metrics,
    arrivalS,
    sentPerS,
    completionTokens,
    completionTokensPerS,
    goodput,
    cachedShare,
  } = all
  const { service, response, ttft } = metrics
  const perS = closed ? 'closed load: no rate claimed' : `${formatNumber(sentPerS ?? 0)}/s`
  const share = (value: number | null) => (value === null ? '–' : `${formatShare(value)} %`)
  const tail = (['p95', 'p90', 'p50'] as const).find((name) => isTold(response[name])) ?? 'p95'
  const cards: readonly (Card | false)[] = [
    {
      label: 'Sent',
      value: formatNumber(counts.sent),
      aside: sentPerS === null ? '' : `in ${formatDuration(arrivalS ?? 0)}, ${perS}`,
    },
    {
      label: 'Unexpected failures',
      value: share(failureShare(counts)),
      aside: `${formatNumber(counts.failed)}, and ${formatNumber(counts.onPurpose)} on purpose`,
    },
    ...(goodput === null
      ? []
      : [
          {
            label: 'Goodput',
            value: `${counts.maybeGood ? '≥ ' : ''}${share(goodput)}`,
            aside: `${formatNumber(counts.good ?? 0)} of ${formatNumber(counts.judged)} met every objective${counts.maybeGood ? `; of ${formatNumber(counts.maybeGood)} it is not known` : ''}`,
          },
        ]),
    response.n > 0 && {
      label: `Response time ${tail}`,
      value: cardValue(response[tail]),
      aside: isTold(response.p95)
        ? `service time ${cardValue(service.p95)}${closed ? '; closed load: waiting not included' : ''}`
        : samplesOf(response),
    },
    ttft.n > 0 && {
      label: 'Time to first token, median',
      value: cardValue(ttft.p50),
      aside: isTold(ttft.p95) ? `p95 ${cardValue(ttft.p95)}` : samplesOf(ttft),
    },
    cachedShare !== null && {
      label: 'Prompt tokens from a cache',
      value: share(cachedShare),
      aside: 'as the service reports',
    },
    completionTokens !== null && {
      label: 'Output tokens',
      value: formatNumber(completionTokens),
      aside:
        completionTokensPerS === null
          ? ''
          : `${reportsAllTokens(all) ? '' : '≥ '}${formatNumber(completionTokensPerS)}/s`,
    },
  ]
  return cards.filter((card) => card !== false)
}

/** What the run cost by the contract, and a request of it on average. */
function moneyCards(money: RunSummary['money']): readonly Card[] {
  if (money === null) return []
  const { unit, spent, priced, unknown } = money
  const sum = readNumber(spent)!
  const each =
    priced === 0 ? [] : [`${shownAmount(divide(sum, rational(BigInt(priced))), unit)} a request`]
  const open = unknown === 0 ? [] : [`${formatNumber(unknown)} of unknown cost`]
  return [
    {
      label: 'Cost by the contract',
      value: shownAmount(sum, unit),
      aside: [...each, ...open].join(', '),
    },
  ]
}

const isTold = ({ mark }: Percentile) => mark !== 'none' && mark !== 'too-few'

const samplesOf = ({ n, p95 }: Distribution) =>
  `p95 needs ${p95.needs} samples; n = ${formatNumber(n)}`

function cardValue(percentile: Percentile): string {
  if (!isTold(percentile)) return 'n too small'
  return `${percentile.mark === 'at-least' ? '≥ ' : ''}${formatCell('ms', percentile.us! / 1000)} ms`
}
