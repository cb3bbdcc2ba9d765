import { existsSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { InteractiveChart } from '../chart/interactive.ts'
import type { Store } from '../store/open.ts'
import { renderDocument } from './document.ts'
import { type Figure, renderFigure } from './figure.ts'
import { latestFindings, type RenderedFindings, renderFindings } from './findings.ts'
import { prepareHeat } from './heat.ts'
import { type Html, html } from './html.ts'
import { aboutRuns, launchTop } from './launch.ts'
import { readParts } from './part.ts'
import { prepareScope } from './scope.ts'

export type PageName = 'launch' | 'audit' | 'usage' | 'run'
export const pageNames = ['launch', 'audit', 'usage', 'run'] as const satisfies readonly PageName[]

export interface ReportOptions {
  readonly store: Store
  readonly page: PageName
  /** The runs that it tells of; none is the last one. */
  readonly runIds?: readonly string[]
  /** IANA zone of hours and days; UTC unless given. */
  readonly timeZone?: string
  /** A folder of one's own charts, shown after (or in place of namesakes among) ours. */
  readonly reportsFolder?: string
}

export interface Report {
  readonly html: string
  /** What charts had to say; ours say nothing. */
  readonly warnings: readonly string[]
}

const shipped = (folder: string) =>
  fileURLToPath(new URL(`../../reports/${folder}/`, import.meta.url))

const titles: Readonly<Record<PageName, string>> = {
  launch: 'Launch report',
  audit: 'Audit report',
  usage: 'Usage report',
  run: 'Run report',
}

const folders: Readonly<Record<PageName, readonly string[]>> = {
  launch: ['launch'],
  audit: ['audit'],
  usage: ['usage'],
  run: ['run', 'launch'],
}

/**
 * Makes one page about runs of a store: the answer first, then its proof.
 *
 * @throws ReportError for runs, zones and chart files that cannot be used
 */
export async function makeReport(options: ReportOptions): Promise<Report> {
  const { store, page, timeZone = 'UTC', reportsFolder } = options
  const runIds = options.runIds?.length ? options.runIds : await lastRun(store)
  await prepareScope(store, { runIds, timeZone })
  await prepareHeat(store)
  const parts = readParts([
    ...folders[page].map(shipped).filter(existsSync),
    ...(reportsFolder === undefined ? [] : [reportsFolder]),
  ])
  const figures: Figure[] = []
  for (const part of parts) {
    const figure = await renderFigure(part, await store.rows(part.sql))
    if (figure !== null) figures.push(figure)
  }
  const about = await aboutRuns(store)
  const top = await topOf(store, page)
  const charts: Record<string, InteractiveChart> = {}
  for (const { chart } of [...top.figures, ...figures]) {
    if (chart !== null) charts[chart.id] = chart.live
  }
  return {
    html: renderDocument({
      title: `${titles[page]} · Assay`,
      body: html`<main class="page">
<header class="masthead"><h1>${titles[page]}</h1><span class="brand"><b>assay</b></span></header>
<p class="about">${about}</p>
${top.body}
${sections(figures)}
<footer>Made by Assay from the rows of ${store.path === ':memory:' ? 'a store' : basename(store.path)}. Times of day in ${timeZone}. A dash is "not measured", never 0.</footer>
</main>`,
      charts,
    }),
    warnings: [...top.figures, ...figures].flatMap((figure) => figure.warnings),
  }
}

/** What stands above the charts: the answer that the page is there to give. */
async function topOf(store: Store, page: PageName): Promise<RenderedFindings> {
  const audited = async () =>
    renderFindings(store, await latestFindings(store), readParts([shipped('finding')]))
  switch (page) {
    case 'launch':
      return { body: await launchTop(store), figures: [] }
    case 'audit':
      return audited()
    case 'usage':
      return { body: html``, figures: [] }
    case 'run': {
      const { body, figures } = await audited()
      return { body: html`${await launchTop(store)}<h2>Billing and limits</h2>${body}`, figures }
    }
  }
}

/** Makes a page and writes it to a file. */
export async function writeReport(
  options: ReportOptions & { readonly out: string },
): Promise<Report> {
  const report = await makeReport(options)
  writeFileSync(options.out, report.html)
  return report
}

async function lastRun(store: Store): Promise<readonly string[]> {
  const rows = await store.rows<{ run_id: string }>(
    `SELECT run_id FROM runs WHERE kind = 'run' ORDER BY started_at DESC, run_id DESC LIMIT 1`,
  )
  return rows.map((row) => row.run_id)
}

/** Neighbours of one section stand under its heading. */
function sections(figures: readonly Figure[]): Html {
  const groups: { name: string; figures: Figure[] }[] = []
  for (const figure of figures) {
    const name = figure.section ?? 'More'
    const group = groups.find((each) => each.name === name)
    if (group === undefined) groups.push({ name, figures: [figure] })
    else group.figures.push(figure)
  }
  return html`${groups.map(
    ({ name, figures }) =>
      html`<h2>${name}</h2><div class="grid">${figures.map((figure) => figure.body)}</div>`,
  )}`
}
