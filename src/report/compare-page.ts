import type { InteractiveChart } from '../chart/interactive.ts'
import type { Store } from '../store/session/open.ts'
import { inSession, type Session } from '../store/session/session.ts'
import { html } from '../user/html.ts'
import { lookup } from '../user/lookup.ts'
import { type Headline, renderHeadline, type Tone } from './banner.ts'
import { changeAlone, intervalText } from './compare/change-text.ts'
import type { Comparison } from './compare/compare.ts'
import { type Difference, isGain } from './compare/differences.ts'
import { evidenceText } from './compare/evidence-text.ts'
import { nameOf } from './compare/figure-name.ts'
import type { GateResult } from './compare/gate.ts'
import { headlineOf } from './compare/headline.ts'
import { invalidOf } from './compare/invalid-side.ts'
import { renderDocument } from './document.ts'
import { type Figure, renderFigure } from './figure.ts'
import { partsIn, type Report, rowsOf, sections } from './page.ts'
import type { RunSummary } from './summary/shape.ts'
import { fillTable } from './temp-table.ts'

/**
 * A comparison as a page: significant changes first, then every figure.
 *
 * @param store its queries in `reports/compare` read the temporary table `compared`
 */
export function renderComparison(
  store: Store,
  comparison: Comparison,
  gates: readonly GateResult[],
): Promise<Report> {
  return inSession(store, {}, (session) => drawComparison(session, comparison, gates))
}

async function drawComparison(
  session: Session,
  comparison: Comparison,
  gates: readonly GateResult[],
): Promise<Report> {
  await fillCompared(session, comparison)
  await fillSearched(session, comparison)
  const figures: Figure[] = []
  for (const part of partsIn(['compare'])) {
    const figure = await renderFigure(part, await rowsOf(session, part))
    if (figure !== null) figures.push(figure)
  }
  const charts: Record<string, InteractiveChart> = lookup()
  for (const { chart } of figures) if (chart !== null) charts[chart.id] = chart.live
  return {
    warnings: figures.flatMap((figure) => figure.warnings),
    html: renderDocument({
      title: 'Comparison · Assay',
      charts,
      body: html`<main class="page">
<header class="masthead"><h1>Comparison</h1><span class="brand"><b>assay</b></span></header>
<p class="about">a: ${sideWords(comparison.a)}<br>b: ${sideWords(comparison.b)}<br>${evidenceText(comparison)}</p>
${renderHeadline(answerOf(comparison, gates))}
${sections(figures)}
</main>`,
    }),
  }
}

const sideWords = ({ run, verdict }: RunSummary) =>
  html`<b>${run.scenario}</b>, run <span class="mono">${run.runId}</span> against <span class="mono">${run.baseUrl}</span>, seed ${run.seed}, ${verdict ?? 'not judged'}`

const gateTones: Readonly<Record<GateResult['result'], Tone>> = {
  passed: 'good',
  failed: 'fail',
  inconclusive: 'warn',
}

function answerOf(comparison: Comparison, gates: readonly GateResult[]): Headline {
  const { differences, warnings } = comparison
  const headline = headlineOf(comparison, gates)
  const of = (verdict: Difference['verdict']) =>
    differences.filter((difference) => difference.verdict === verdict).length
  const isInvalid = invalidOf(comparison) !== null
  // Of an invalid run, nothing is compared, so nothing is counted.
  const because =
    isInvalid || comparison.searches?.isAtOneRate === false
      ? ''
      : `With each step, ${of('worse')} of ${differences.length} figures are significantly worse and ${of('better')} better; by chance alone, about ${Math.round(differences.length / 20)} of them would be.`
  const checks = [
    ...gates.map(({ gate, result, summary }) => ({
      tone: gateTones[result],
      name: `fail on ${gate.text}`,
      figure: `${result}: ${summary}`,
      remedy: null,
    })),
    ...warnings.map((warning) => ({
      tone: 'warn' as const,
      name: 'Comparability:',
      figure: warning,
      remedy: null,
    })),
  ]
  return {
    asks: 'Is b better or worse than a?',
    tone: headline.tone,
    summary: headline.summary,
    because: `${headline.because} ${because}`.trim(),
    checks,
  }
}

const units: Readonly<Record<Difference['unit'], readonly [string, number]>> = {
  us: ['ms', 1e-3],
  share: ['%', 100],
  'per s': ['/s', 1],
  credits: ['credits', 1],
}

/** A figure in its display unit; null if it has too few samples. */
function inUnit({ unit, marks, ...figures }: Difference, side: 'a' | 'b'): number | null {
  const value = marks[side === 'a' ? 0 : 1] === 'too-few' ? null : figures[side]
  return value === null ? null : value * units[unit][1]
}

/** The interval of a change, and the figures that timeouts cut off, which can only be larger. */
function rangeOf(difference: Difference): string | null {
  const cutOff = (['a', 'b'] as const).filter(
    (side, at) => difference.marks[at] === 'at-least' && difference[side] !== null,
  )
  const said = [
    intervalText(difference),
    cutOff.length === 0 ? null : `${cutOff.join(' and ')} at least`,
  ].filter((part) => part !== null)
  return said.length === 0 ? null : said.join('; ')
}

/** A change with its interval, in the direction in which more is better. */
function gainOf({ metric, change, interval }: Difference) {
  const [low, high] = interval ?? [null, null]
  const lost = (value: number | null) => (value === null ? null : 0 - value)
  return isGain(metric)
    ? { better: change, better_low: low, better_high: high }
    : { better: lost(change), better_low: lost(high), better_high: lost(low) }
}

/** Creates the temporary table `compared`, which `reports/compare` reads. */
export async function fillCompared(session: Session, { differences }: Comparison): Promise<void> {
  await fillTable(
    session,
    'compared',
    {
      place: 'INTEGER',
      step: 'VARCHAR',
      figure: 'VARCHAR',
      unit: 'VARCHAR',
      a: 'DOUBLE',
      b: 'DOUBLE',
      n_a: 'BIGINT',
      n_b: 'BIGINT',
      change: 'DOUBLE',
      low: 'DOUBLE',
      high: 'DOUBLE',
      better: 'DOUBLE',
      better_low: 'DOUBLE',
      better_high: 'DOUBLE',
      words: 'VARCHAR',
      range: 'VARCHAR',
      verdict: 'VARCHAR',
    },
    differences.map((difference, place) => ({
      place,
      step: difference.step,
      figure: `${difference.step ?? 'all steps'}: ${nameOf(difference)}`,
      unit: units[difference.unit][0],
      a: inUnit(difference, 'a'),
      b: inUnit(difference, 'b'),
      n_a: difference.na,
      n_b: difference.nb,
      change: difference.change,
      low: difference.interval?.[0] ?? null,
      high: difference.interval?.[1] ?? null,
      ...gainOf(difference),
      words: changeAlone(difference),
      range: rangeOf(difference),
      verdict: difference.verdict,
    })),
  )
}

/** Creates the temporary table `searched`: the trials of both searches, and between which rates each limit lies. */
export async function fillSearched(session: Session, { searches }: Comparison): Promise<void> {
  await fillTable(
    session,
    'searched',
    {
      side: 'VARCHAR',
      per_s: 'DOUBLE',
      goodput: 'DOUBLE',
      low: 'DOUBLE',
      high: 'DOUBLE',
      verdict: 'VARCHAR',
      sustained_per_s: 'DOUBLE',
    },
    searches === null
      ? []
      : (['a', 'b'] as const).flatMap((side) =>
          searches[side].trials.map((trial) => ({
            goodput: trial.goodput,
            low: trial.low,
            high: trial.high,
            verdict: trial.verdict,
            side,
            per_s: trial.perS,
            sustained_per_s: searches[side].sustainedPerS,
          })),
        ),
  )
}
