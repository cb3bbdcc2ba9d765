import { html } from '../user/html.ts'
import { renderHeadline } from './banner.ts'
import type { AuditComparison } from './compare/audits.ts'
import {
  answerOf,
  changeOf,
  figureText,
  remarksOf,
  rulesShown,
  sideText,
  unseenText,
  verdictWord,
} from './compare/audits-text.ts'
import { renderDocument } from './document.ts'
import { renderTable } from './table.ts'

/** Two audits side by side, as a page. */
export function renderAudits(comparison: AuditComparison): string {
  const rows = rulesShown(comparison).flatMap(({ rule, title, a, b, figures }) => [
    { measured: `${rule} ${title}`, a: verdictWord(a), b: verdictWord(b), change: '' },
    ...figures.map((figure) => ({
      measured: figure.title,
      a: figureText(figure.a),
      b: figureText(figure.b),
      change: changeOf(figure),
    })),
  ])
  const remarks = remarksOf(comparison)
  const unseen = unseenText(comparison)
  return renderDocument({
    title: 'Two endpoints · Assay',
    charts: {},
    body: html`<main class="page">
<header class="masthead"><h1>Two endpoints</h1><span class="brand"><b>assay</b></span></header>
<p class="about">a: ${sideText(comparison.a)}<br>b: ${sideText(comparison.b)}</p>
${renderHeadline({ asks: 'Which of both delivers what it sells, and which is dearer for the same text?', ...answerOf(comparison), checks: [] })}
<section class="card"><h2>What each delivers and counts</h2>
${renderTable(rows, { title: 'What each delivers and counts', columns: { change: { label: 'b against a' } } })}
${remarks.length > 0 && html`<ul>${remarks.map((each) => html`<li>${each}</li>`)}</ul>`}
${unseen !== '' && html`<p class="note">${unseen}</p>`}</section>
</main>`,
  })
}
