import { readFileSync } from 'node:fs'
import { asClassic } from '../../../user/classic-script.ts'
import { type Html, html, scriptJson, trusted } from '../../../user/html.ts'
import { fragmentOf, initial } from './choice.js'
import type { BoardData } from './data.ts'
import { latencyOf } from './latency.js'
import { speechOf } from './speech.js'
import type { Choice, Tree, View } from './types.ts'
import { viewsOf } from './views.js'

/**
 * The element that holds the board, as its script expects it. Without scripts it shows the choice.
 *
 * @param cards the cards of that choice
 * @param form how to choose another period without scripts
 * @param own tables of that choice in the place of those that the cells give
 */
export function renderBoard(
  data: BoardData,
  cards: Html,
  choice: Choice = initial(data),
  form?: Html,
  own?: Html,
): Html {
  const { say } = speechOf(data)
  const desk = viewsOf(data, choice, 'desk', latencyOf)
  const phone = viewsOf(data, choice, 'phone', latencyOf)
  const figures = desk.views.map((view, at) => figure(view, phone.views[at]!))
  const asked = fragmentOf(data, choice)
  const filters = html`<div class="filters b-filters" role="group" aria-label="${say('filters')}" hidden></div>${form}`
  const first = html`<div class="b-first">${figures[0]}</div>`
  // A page with tables of its own answers before it is asked: its first chart is above the filters.
  return html`<div id="board"${asked !== '' && html` data-choice="${asked}"`}>
${own === undefined ? [filters, first] : [first, filters]}
${own && html`<div class="b-own">${own}</div>`}
<div class="b-cards">${cards}</div>
<div class="b-requests"></div>
<div class="grid b-more">${figures.slice(1)}</div>
<div class="b-tables">${desk.tables.filter(({ by }) => own === undefined || by === 'endpoint').map(({ by, title, tree }) => html`<section class="card whole" id="board-by-${by}"><h3>${title}</h3>${markup(tree)}</section>`)}</div>
</div>
<script type="application/json" id="board-data">${scriptJson(data)}</script>`
}

const figure = (desk: View, phone: View): Html =>
  html`<figure class="card ${desk.wide === true || desk.whole === true ? 'whole' : 'half'}" id="board-${desk.id}"><figcaption><h3>${desk.title}</h3></figcaption>${desk.legend && markup(desk.legend)}<div class="b-stage chart-drawings"><div class="on-desk">${markup(desk.tree)}</div><div class="on-phone">${markup(phone.tree)}</div></div>${desk.under && markup(desk.under)}${desk.note && html`<p class="note">${desk.note}</p>`}</figure>`

function markup(tree: Tree): Html {
  if (typeof tree !== 'object') return html`${String(tree)}`
  const { name, attributes, children } = tree
  // Text is cut at a length that a path of numbers may exceed.
  const said = Object.entries(attributes).map(
    ([key, value]) =>
      html` ${trusted(key)}="${key === 'd' ? trusted(String(value)) : String(value)}"`,
  )
  return html`<${trusted(name)}${said}>${children.map(markup)}</${trusted(name)}>`
}

const drawing = ['elements.js', 'callouts.js', 'bars.js', 'lines.js', 'cumulative.js', 'week.js']
const files = [
  'offsets.js',
  'speech.js',
  'sums.js',
  'choice.js',
  ...drawing,
  'drawn-table.js',
  'tables.js',
  ...['over-time.js', 'use-view.js', 'cumulative-view.js', 'half-views.js', 'views.js'],
  ...[
    'nodes.js',
    'explore.js',
    'csv.js',
    'figure.js',
    'filter-bar.js',
    'request-list.js',
    'browser.js',
  ],
]

/**
 * The board's script: the modules that also draw here, as one classic script.
 *
 * @param starts scripts that are done with the board in scope, of data without latencies; default: the board of the file is started
 */
export function boardScript(...starts: readonly string[]): string {
  const isFile = starts.length === 0
  const names = isFile ? [...files, 'latency.js', 'held-requests.js'] : files
  const texts = names.map((name) =>
    readFileSync(new URL(`../../../../src/report/usage/board/${name}`, import.meta.url), 'utf8'),
  )
  const parts = [
    ...texts,
    ...(isFile ? ['startBoard({ latencyOf, requests: heldRequests })'] : starts),
  ].map((text) => withoutComments(asClassic(text)))
  return `;(() => {\n${asOneConst(parts.join('\n'))}\n})()`
}

/** Constants whose lines follow one another are declared together: `const a=1,b=2`. */
function asOneConst(script: string): string {
  let [all, before] = ['', '']
  for (const line of script.split('\n')) {
    const follows = [before, line].every((each) => each.startsWith('const ')) && isWhole(before)
    all += follows ? line.replace('const ', ',') : `\n${line}`
    before = line
  }
  return all
}

/** Whether a line closes each bracket that it opens. */
const isWhole = (line: string) =>
  ['{}', '()', '[]'].every(
    ([open, close]) => line.split(open!).length === line.split(close!).length,
  )

/**
 * Comments, indents, last commas, brackets of a lone parameter, objects spread as they are written, and breaks and spaces beside brackets, commas,
 * colons and operators are for those who write a script. No text of these files spans two lines, or has such a place that matters.
 */
const withoutComments = (script: string) =>
  script
    .replace(/\/\*\*[\s\S]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '')
    // It tells a type and does nothing.
    .replace(/\bitem\(([\w.[\]]+), (\w+)\)/g, '$1[$2]')
    .replace(/\n\s*/g, '\n')
    .replace(/(?<=[,{([=>?:&|<]|[-+*/] ?)\n|\n(?=[})\]?:.&|])/g, '')
    .replace(
      / (=>|[!=]==|[-+*/=<>?:%]|[<>+-]=|&&|\|\||\?\?) | (?=&&|\|\|)|(?<=\{) | (?=\})|(?<=[,;]) (?=[\w({[!.])|(?<=\w'?,) (?=')|(?<=\w'?:) (?=[\w'`[{(])|(?<=\b(?:if|for|while|catch|const|return)) (?=[([{'`])|(?<=\)) (?=[{\w])/g,
      '$1',
    )
    .replace(/ (?==)|(?<=\?) |(?<=:) (?=[([{'])|(?<=\)) (?=[-+?])|,(?=[}\])])/g, '')
    .replace(/(?<!\w)\((\w+)\)(?==>)/g, '$1')
    .replace(/\.\.\.\{((?:[^{}]|\{[^{}]*\})*)\}/g, '$1')
    .trim()
