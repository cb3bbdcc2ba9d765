import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { reproductions } from '../audit/format/reproduce.ts'
import type { InteractiveChart } from '../chart/interactive.ts'
import type { Contract } from '../contract/contract.ts'
import type { DeploymentProfile } from '../contract/profile.ts'
import { writeOutput } from '../store/files/output.ts'
import { resolveRuns } from '../store/runs/runs.ts'
import type { Store } from '../store/session/open.ts'
import { inSession, type Reader, type Session } from '../store/session/session.ts'
import { type Html, html } from '../user/html.ts'
import { lookup } from '../user/lookup.ts'
import { userError } from '../user/user-error.ts'
import { beginPart, type Work } from '../user/work.ts'
import { renderHeadline } from './banner.ts'
import { renderDocument } from './document.ts'
import { drawFigures, type Figure, sketchOf } from './figure.ts'
import { auditOfStore, renderFindings } from './findings.ts'
import { prepareHistograms } from './histograms.ts'
import { failedOf, latestFindings } from './latest-findings.ts'
import { aboutRuns, launchEnd, launchTop } from './launch.ts'
import type { PageName } from './pages.ts'
import { inUnit, type Part, readParts } from './part.ts'
import { fillProfile } from './profile-table.ts'
import { prepareScope } from './scope.ts'
import { prepareService } from './service-table.ts'
import { prepareStretches, stretchLine } from './stretches.ts'
import { prepareTaskCosts } from './task-table.ts'
import { renderBoard } from './usage/board/board.ts'
import { readBoard } from './usage/board/data.ts'
import { storeEngine, type UsageEngine } from './usage/engine/engine.ts'
import { unitName } from './usage/figures.ts'
import { enterPrices, NoUsage } from './usage/prepare.ts'
import { readUsageIn } from './usage/read.ts'
import {
  type PartsOfUsage,
  type ShownUsage,
  shownParts,
  type UsageOptions,
  type UsagePart,
} from './usage/shape.ts'
import { aboutUsage, usageAnswerOf, usageCards } from './usage-page.ts'
import { fillUsageTables } from './usage-tables.ts'

/** Options of the usage page only. Times are Unix microseconds. */
export interface UsageScopeOptions
  extends Omit<UsageOptions, 'timezone' | 'runIds' | 'nowUs' | 'seed'> {
  /** Sums the usage; the store if absent. */
  readonly engine?: UsageEngine
}

export interface ReportOptions extends Work {
  readonly store: Store
  readonly page: PageName
  readonly contract: Contract
  /** The file of the contract, for the commands that a page names. */
  readonly contractFile?: string
  /** The runs to report on. If empty: the last run, or all runs for usage. */
  readonly runIds: readonly string[]
  /** IANA zone of hours and days. */
  readonly timeZone: string
  /** Time of the report, Unix microseconds. */
  readonly nowUs: number
  /** All usage by model, unless it says otherwise. */
  readonly usage?: Partial<UsageScopeOptions>
  /** The profile from `assay probe`, for the audit page. */
  readonly profile?: DeploymentProfile
  /** A folder of the user's own charts. They follow ours; a file with the same name replaces ours. */
  readonly reportsFolder?: string
}

export interface Report {
  readonly html: string
  /** Warnings of charts. Our charts have none. */
  readonly warnings: readonly string[]
}

const titles: Readonly<Record<PageName, string>> = {
  launch: 'Launch report',
  audit: 'Audit report',
  usage: 'Usage report',
  run: 'Run report',
}

const folders: Readonly<Record<PageName, readonly string[]>> = {
  launch: ['launch', 'credits'],
  audit: ['audit', 'credits'],
  usage: ['usage'],
  run: ['run', 'launch', 'credits'],
}

const shipped = (folder: string) =>
  fileURLToPath(new URL(`../../reports/${folder}/`, import.meta.url))

/** The parts of a page, with amounts in this unit: ours, then the user's own. */
export const partsOf = (page: PageName, reportsFolder?: string, unit?: string): readonly Part[] =>
  partsFrom(foldersOf(page, reportsFolder), unit)

const foldersOf = (page: PageName, own?: string): readonly string[] => [
  ...folders[page].map(shipped),
  ...(own === undefined ? [] : [own]),
]

/** The built-in parts in the given folders. */
export const partsIn = (names: readonly string[]): readonly Part[] => partsFrom(names.map(shipped))

const credits = 'credits'

const partsFrom = (paths: readonly string[], unit = credits) =>
  readParts(paths).map((part) => inUnit(part, unit))

/**
 * Makes one page from a store: the answer first, then its evidence.
 *
 * @throws UserError for unusable runs, zones and chart files
 */
export const makeReport = (options: ReportOptions): Promise<Report> =>
  inSession(options.store, options, (session) => drawReport(session, options))

async function drawReport(session: Session, options: ReportOptions): Promise<Report> {
  const { page, timeZone } = options
  const drawn = readParts(foldersOf(page, options.reportsFolder)).filter(
    // A picture is drawn for a file of its own (pictures.ts).
    ({ front }) => front.picture !== true,
  )
  beginPart(options, `figures of the ${page} page`, 0, drawn.length + 1)
  const top = await prepareTop(session, options)
  const parts = top.isEmpty ? [] : drawn.map((part) => inUnit(part, top.unit ?? credits))
  const sketches = []
  for (const [at, part] of parts.entries()) {
    beginPart(options, `chart ${part.name}`, at + 1, parts.length + 1)
    sketches.push(sketchOf(part, await rowsOf(session, part)))
  }
  const figures = await drawFigures(
    sketches.filter((sketch) => sketch !== null),
    options,
  )
  // Ids of charts come from names of files: no word of the language is one.
  const charts: Record<string, InteractiveChart> = lookup()
  for (const { chart } of [...top.figures, ...figures]) {
    if (chart !== null) charts[chart.id] = chart.live
  }
  return {
    html: renderDocument({
      title: `${titles[page]} · Assay`,
      body: html`<main class="page">
<header class="masthead"><h1>${titles[page]}</h1><span class="brand"><b>assay</b></span></header>
<p class="about">${top.about}</p>
${top.body}
${firstScreen(figures)}
${top.rest}
${sections(figures, folds.has(page))}
${top.end}
<footer>Made by Assay from the rows of ${session.path === ':memory:' ? 'a store' : basename(session.path)}. Times of day in ${timeZone}. A dash means "not measured", never 0.</footer>
</main>`,
      charts,
    }),
    warnings: [...top.figures, ...figures].flatMap((figure) => figure.warnings),
  }
}

export async function writeReport(
  options: ReportOptions & { readonly out: string },
): Promise<Report> {
  const report = await makeReport(options)
  writeOutput(options.out, report.html)
  return report
}

/** The top of a page, above the charts: its subject and its answer. */
interface Top {
  readonly about: Html
  readonly body: Html
  /** Stands below the charts of the first screen. */
  readonly rest?: Html
  /** The end of the page. */
  readonly end?: Html | false
  readonly figures: readonly Figure[]
  /** Whether there is nothing to draw. */
  readonly isEmpty?: boolean
  /** The unit of amounts, if it is another than credits. */
  readonly unit?: string
}

/** Prepares the tables for a page's queries, and makes the top. */
export async function prepareTop(session: Session, options: ReportOptions): Promise<Top> {
  const { page, timeZone } = options
  if (page === 'usage') return prepareUsageTop(session, options)
  const runIds = await meantRuns(session, options)
  await prepareScope(session, { runIds, timeZone })
  await prepareHistograms(session)
  await enterPrices(session, options.contract)
  await fillProfile(session, options.profile ?? null)
  const balances = await prepareStretches(session, options.contract)
  await prepareService(session)
  await prepareTaskCosts(session, options.contract)
  const about = await aboutRuns(session)
  if (page === 'launch') {
    const { answer, cards } = await launchTop(session, balances, options.contract)
    return { about, body: answer, rest: cards, end: await launchEnd(session), figures: [] }
  }
  const under = partsIn(['finding'])
  const findings = await latestFindings(session)
  const commands = await reproductions(session, findings.flatMap(failedOf))
  const { body, figures } = await renderFindings(
    session,
    findings,
    under,
    commands,
    auditOfStore(session, options.contractFile),
  )
  if (page === 'audit') return { about, body: html`${body}${stretchLine(balances)}`, figures }
  const launch = await launchTop(session, balances, options.contract)
  return {
    about,
    figures,
    body: launch.answer,
    rest: html`${launch.cards}<h2>Billing and limits</h2>${body}`,
    end: await launchEnd(session),
  }
}

async function prepareUsageTop(session: Session, options: ReportOptions): Promise<Top> {
  let page: ShownUsage
  try {
    page = await readUsageOf(session, options, shownParts)
  } catch (error) {
    if (error instanceof NoUsage) return { ...emptyTop(error), isEmpty: true }
    throw error
  }
  await fillUsageTables(session, page)
  const unit = unitName(page.scope.unit)
  const board = await readBoard(session, options.usage?.engine ?? storeEngine, page)
  return {
    about: aboutUsage(page),
    body: html`${usageAnswerOf(page)}${renderBoard(board, usageCards(page))}`,
    figures: [],
    unit,
  }
}

/** A store without usage still has a page, which says how usage comes into it. */
const emptyTop = ({ message }: NoUsage): Top => ({
  about: html`The store holds no usage yet.`,
  body: renderHeadline({ tone: 'none', summary: 'No usage yet', because: message, checks: [] }),
  figures: [],
})

/** The usage page as data; all its parts by default. */
export async function readUsageOf<Key extends UsagePart = UsagePart>(
  session: Session,
  options: ReportOptions,
  parts?: readonly Key[],
): Promise<PartsOfUsage<Key>> {
  const { timeZone, nowUs, usage = {} } = options
  const asked = {
    ...allUsage,
    ...usage,
    timezone: timeZone,
    runIds: options.runIds.length > 0 ? await meantRuns(session, options) : [],
    nowUs,
    // Fixed, so that a repeated page has the same dates.
    seed: 1,
  }
  return readUsageIn(session, asked, usage.engine, parts)
}

const allUsage: UsageScopeOptions = {
  contract: null,
  fromUs: null,
  toUs: null,
  by: 'model',
  sources: [],
  grants: null,
}

/**
 * The runs that the user named, by id, the beginning of one, or `latest`. If none is named, the last run; an empty
 * store gives none.
 */
export const meantRuns = (store: Reader, { runIds }: ReportOptions): Promise<readonly string[]> =>
  runIds.length === 0 ? lastRun(store) : resolveRuns(store, runIds)

/** Rows of a part. `prepareTop` must have made its tables. */
export async function rowsOf(session: Session, part: Part) {
  try {
    return await session.rows(part.sql)
  } catch (error) {
    throw userError.report(
      `the query ${part.name} failed: ${error instanceof Error ? error.message : error}`,
    )
  }
}

async function lastRun(store: Reader): Promise<readonly string[]> {
  const rows = await store.rows<{ run_id: string }>(
    `SELECT run_id FROM runs WHERE kind = 'run' ORDER BY started_at DESC, run_id DESC LIMIT 1`,
  )
  return rows.map((row) => row.run_id)
}

/** The section without a heading, directly below the answer. */
const firstScreenTitle = 'First screen'

const firstScreen = (figures: readonly Figure[]): Html => {
  const members = figures.filter(({ section }) => section === firstScreenTitle)
  return html`${members.length > 0 && html`<div class="grid first">${members.map(({ body }) => body)}</div>`}`
}

/** Pages whose sections are folded: the first screen answers the question. */
const folds: ReadonlySet<PageName> = new Set(['launch', 'run', 'usage'])

/** Groups figures under the headings of their sections. */
export function sections(figures: readonly Figure[], isFolded = false): Html {
  const groups = new Map<string, Figure[]>()
  for (const figure of figures) {
    if (figure.section === firstScreenTitle) continue
    const name = figure.section ?? 'More'
    groups.set(name, [...(groups.get(name) ?? []), figure])
  }
  return html`${[...groups].map(([name, members]) => {
    const grid = html`<div class="grid">${members.map((figure) => figure.body)}</div>`
    return isFolded
      ? html`<details class="fold"><summary><h2>${name}</h2> <span class="titles">${members.map(({ title }) => title).join(' · ')}</span></summary>${grid}</details>`
      : html`<h2>${name}</h2>${grid}`
  })}`
}
