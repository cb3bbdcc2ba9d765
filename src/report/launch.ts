import type { Contract } from '../contract/contract.ts'
import { defaultContract } from '../contract/default.ts'
import type { RunRow } from '../store/runs/runs.ts'
import type { Session } from '../store/session/session.ts'
import { type Html, html } from '../user/html.ts'
import { renderCards, renderFold, renderHeadline } from './banner.ts'
import { readCertificate } from './certificate/read.ts'
import { certifiedHeadline } from './certificate/words.ts'
import { closedPhases } from './closed-phases.ts'
import { cardsOf, moneyCards } from './launch-cards.ts'
import { launchHeadline } from './launch-headline.ts'
import { readPageVerdict, selfTestsText } from './page-verdict.ts'
import { prepareFigures } from './shown-figures.ts'
import { stretchLine } from './stretches.ts'
import type { Balance } from './summary/balances.ts'
import { tokenNotes } from './summary/figures.ts'
import { fluidityNotes, readFluidity } from './summary/fluidity.ts'
import { countedOf } from './summary/groups.ts'
import { lengthNotes, readLengths } from './summary/lengths.ts'
import { machineOf, machinesOf, machinesText } from './summary/machines.ts'
import { readMoney } from './summary/money.ts'
import { workloadText } from './workload.ts'
import { momentIn } from './zone-words.ts'

/** The lines under a page's title: scenario, service and time of the runs, and what they sent. */
export async function aboutRuns(session: Session): Promise<Html> {
  const runs = await shownRuns(session)
  const first = runs[0]
  if (first === undefined) return html`The store has no run yet.`
  const named = (values: readonly string[]) => [...new Set(values)].join(', ')
  const workload = await workloadText(session)
  return html`Scenario <b>${named(runs.map((run) => run.scenario))}</b> against <span class="mono">${named(
    runs.map((run) => run.base_url),
  )}</span>, begun ${momentIn(first.started_at.getTime() * 1000, 'UTC')} UTC.${workload !== false && html`<br>${workload}`}`
}

/** The end of the page: the self-tests of this client, and what it takes to repeat the runs. */
export async function launchEnd(session: Session): Promise<Html | false> {
  const runs = await shownRuns(session)
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
  readonly cards: Html
}

/**
 * The answer of the launch page: are the figures reliable, and did the deployment meet its thresholds? It also prepares the page's
 * tables.
 *
 * @param balances of the accounts of the shown runs
 */
export async function launchTop(
  session: Session,
  balances: readonly Balance[] = [],
  contract: Contract = defaultContract,
): Promise<LaunchTop> {
  const runs = await shownRuns(session)
  const money = await readMoney(
    session,
    runs.map((run) => run.run_id),
    contract,
  )
  const { all, steps } = await prepareFigures(session)
  const [reached] = await session.rows(
    `FROM attempts WHERE list_contains(getvariable('run_ids'), run_id) AND status IS NOT NULL LIMIT 1`,
  )
  const verdicts = runs.map((run) => readPageVerdict(run.verdict_json))
  const closed = [...new Set(runs.flatMap((run) => closedPhases(run.scenario_json)))]
  const notes: (readonly string[])[] = []
  for (const { run_id, scenario_json } of runs) {
    const counted = countedOf(run_id, scenario_json)
    notes.push(lengthNotes(await readLengths(session, counted, scenario_json), String))
    notes.push(fluidityNotes(await readFluidity(session, counted), String))
  }
  const headline = launchHeadline({
    ...{ runs, verdicts, all, closed, balances },
    reached: reached !== undefined,
  })
  const [run, ...others] = runs
  const certificate =
    run === undefined || others.length > 0 ? null : await readCertificate(session, run, steps)
  return {
    answer: renderHeadline(
      certificate === null ? headline : certifiedHeadline(certificate, headline),
    ),
    cards: html`${renderCards([
      ...cardsOf(all, closed.length > 0),
      ...moneyCards(money),
    ])}${[...tokenNotes(all), ...notes.flat()].map((note) => html`<p class="note">${note}</p>`)}${stretchLine(balances)}`,
  }
}

const shownRuns = (session: Session): Promise<readonly RunRow[]> =>
  session.rows<RunRow>('SELECT * FROM shown_runs ORDER BY offset_us, run_id')
