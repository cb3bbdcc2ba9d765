// The filter bar of a usage page: it draws every chart, card and table again for what the reader chose, and keeps the choice
// in the fragment of the address. Elements are made one by one, and text is set as text, never as markup.
import { choiceOf, fragmentOf, initial } from './choice.js'
import { drawTable } from './drawn-table.js'
import { h } from './elements.js'
import { speechOf } from './speech.js'
import { bucketOf, dateOf, dimensions, hourOf, item } from './sums.js'
import { amountOf, mostOf, requestHeads, requestsOf, titleOf } from './tables.js'
import { viewsOf } from './views.js'

/** @import { Dimension } from './cells.ts' */
/** @import { BoardData } from './data.ts' */
/** @import { LatencyOf } from './views.js' */
/** @import { Bar, BoardSpeech, Card, Choice, Element as Drawn, SizeName, Stop, TableCell, Tree, View } from './types.ts' */

/**
 * What a page with a server does for its board: `go` shows another period of local hours, `requests` promises the rows of an
 * hour, `changed` hears of each choice, `reload` asks for the figures of the choice, and `split` for another split of the page.
 * A file draws its latencies by `latencyOf`.
 *
 * @typedef {object} Served
 * @property {(from: number, to: number, filters: URLSearchParams) => void} [go]
 * @property {(data: BoardData, choice: Choice) => Promise<readonly (readonly TableCell[])[] | null>} [requests]
 * @property {() => void} [changed]
 * @property {() => void} [reload]
 * @property {(by: string) => void} [split]
 * @property {LatencyOf} [latencyOf]
 */

const svgNames = new Set(['svg', 'path', 'text', 'rect', 'title'])

/**
 * @param {Tree} tree
 * @returns {Node}
 */
const nodeOf = (tree) =>
  typeof tree === 'object' ? make(tree) : document.createTextNode(String(tree))

/** @param {Drawn} tree */
function make({ name, attributes, children }) {
  const element = svgNames.has(name)
    ? document.createElementNS('http://www.w3.org/2000/svg', name)
    : document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value))
  element.append(...children.map(nodeOf))
  return element
}

/**
 * The values of a chart that the pointer and the arrow keys reach: a place in the drawing, and what is said.
 *
 * @param {View} view
 * @param {SVGSVGElement} svg
 * @param {BoardSpeech} speech
 * @returns {readonly Stop[]}
 */
function stopsOf(view, svg, { say, timeOf }) {
  if (view.bars === undefined) return view.stops()
  const [left, step] = [Number(svg.dataset.left), Number(svg.dataset.step)]
  const height = svg.viewBox.baseVal.height - 38
  return view.bars.map((bar, at) => {
    const values = view.describe(at).map(([name, value]) => `${name} ${value}`)
    const nothing = say(bar.measured ? 'nothing' : 'unmeasured')
    const open = bar.open ? ` (${say('open')})` : ''
    const why = view.whyOf?.(at)
    return {
      ...{ x: left + at * step, y: 14, width: step, height, bar },
      said: `${timeOf(view.bucket, bar)}: ${values.join(', ') || nothing}${open}${why ? `. ${why}` : ''}`,
    }
  })
}

/**
 * A cursor over the values of a chart.
 *
 * @param {HTMLElement} stage holds the drawing
 * @param {Element} said where a value is written
 * @param {View} view
 * @param {BoardSpeech} speech
 * @param {(bar: Bar) => void} open
 */
function explore(stage, said, view, speech, open) {
  const svg = stage.querySelector('svg')
  if (svg === null) return
  const stops = stopsOf(view, svg, speech)
  if (stops.length === 0) return
  let at = -1
  const cursor = make(h('path', { class: 'b-cursor' }))
  svg.append(cursor)
  /** @param {number} place */
  const tell = (place) => {
    at = Math.max(0, Math.min(stops.length - 1, place))
    const { x, y, width, height, said: text } = item(stops, at)
    said.textContent = text
    cursor.setAttribute('d', `M${x} ${y}h${width}v${height}h${-width}z`)
  }
  const openStop = () => {
    const bar = stops[at]?.bar
    if (bar !== undefined) open(bar)
  }
  stage.tabIndex = 0
  stage.setAttribute('role', 'group')
  const word = view.bars === undefined ? 'exploreValues' : 'explore'
  stage.setAttribute('aria-label', speech.say(word, { title: view.title, bars: stops.length }))
  const rows = view.bars === undefined ? view.rows : undefined
  stage.onpointermove = (event) => {
    const box = svg.getBoundingClientRect()
    const scale = svg.viewBox.baseVal.width / box.width
    const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale]
    const place = stops.findIndex(
      (stop) =>
        x >= stop.x &&
        x < stop.x + stop.width &&
        (rows === undefined || (y >= stop.y && y < stop.y + stop.height)),
    )
    if (place >= 0) tell(place)
  }
  stage.onclick = openStop
  stage.onkeydown = (event) => {
    const row = rows ?? 1
    /** @type {Readonly<Record<string, number>>} */
    const moves = {
      ...{ ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: stops.length - 1 },
      ...(row > 1 ? { ArrowDown: at + row, ArrowUp: at - row } : {}),
    }
    const place = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined
    if (place !== undefined) tell(place)
    else if (event.key === 'Enter') openStop()
    else return
    event.preventDefault()
  }
}

/** @param {TableCell} value */
function cellText(value) {
  if (value === null || value === undefined) return ''
  const text = String(value)
  const safe = typeof value === 'string' && /^\s*[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/**
 * @param {View} view
 * @param {string} period
 */
function save(view, period) {
  const [heads, rows] = view.table()
  const text = [heads, ...rows].map((cells) => `${cells.map(cellText).join(',')}\r\n`).join('')
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  link.download = `usage-${view.id}-${period}.csv`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

/**
 * @param {string} text
 * @param {string} label
 * @param {() => void} act
 */
function button(text, label, act) {
  const made = make(h('button', { type: 'button', class: 'rows', 'aria-label': label }, text))
  made.addEventListener('click', act)
  return made
}

/** @type {(label: string, control: Node) => Node} */
const field = (label, control) => {
  const made = make(h('label', {}, h('span', {}, label)))
  made.append(control)
  return made
}

/**
 * Starts the board of the document.
 *
 * @param {Served} [served]
 * @returns {() => void} a function that ends it
 */
export function startBoard(served = {}) {
  const payload = document.getElementById('board-data')
  const board = document.getElementById('board')
  if (payload === null || board === null) return () => {}
  const ending = new AbortController()
  /** @type {BoardData} */
  const data = JSON.parse(payload.textContent)
  const speech = speechOf(data)
  const { say } = speech
  /**
   * A place of the board's markup.
   *
   * @param {string} name
   */
  const placeOf = (name) => {
    /** @type {HTMLElement | null} */
    const found = board.querySelector(`.b-${name}`)
    if (found === null) throw new TypeError(`the board has no .b-${name}`)
    return found
  }
  const most = [...document.querySelectorAll('[data-most]')].map((place) => ({
    ...{ place, first: [...place.childNodes] },
    by: dimensions.find((name) => name === place.getAttribute('data-most')) ?? 'key',
  }))
  const firstCards = [...placeOf('cards').childNodes]
  /** @type {HTMLElement | null} */
  const own = board.querySelector('.b-own')
  /** @type {HTMLElement | null} */
  const used = document.querySelector('[data-figure]')
  const allUsed = used?.textContent ?? ''
  // The first choice of a page that a backend made is in its markup.
  const { choice: first } = board.dataset
  if (location.hash === '' && first) history.replaceState(null, '', `#${first}`)
  let choice = choiceOf(data, location.hash.slice(1))
  /**
   * What figures are of: the markup has those of the first choice.
   *
   * @param {Choice} choice
   */
  const partOf = ({ by: _, metric: __, ...part }) => JSON.stringify(part)
  const firstPart = partOf(first === undefined ? initial(data) : choiceOf(data, first))

  /**
   * As the columns of the style sheet.
   *
   * @param {string} [type] an event
   * @returns {SizeName}
   */
  const sizeFor = (type) =>
    type === 'beforeprint'
      ? 'paper'
      : innerWidth <= 560
        ? 'phone'
        : innerWidth <= 900
          ? 'middle'
          : 'desk'
  let size = sizeFor()

  /** @param {Partial<Choice>} changed */
  function change(changed) {
    choice = { ...choice, ...changed }
    const fragment = fragmentOf(data, choice)
    const address = `${location.pathname}${location.search}${fragment === '' ? '' : `#${fragment}`}`
    history.pushState(null, '', address)
    served.changed?.()
    // Names that the cells do not tell apart are asked for.
    const isFolded = dimensions.some((name) => data.folded[name] > 0)
    if (isFolded && partOf(choice) !== firstPart) served.reload?.()
    draw()
  }

  /**
   * Shows a period; one that the data have not, or not in enough detail, is asked for.
   *
   * @param {number} from
   * @param {number} to
   */
  function period(from, to) {
    const isInside = from >= data.from && to <= data.to
    const isCoarse = data.finest !== 'hour' && to - from <= 24 && (from > data.from || to < data.to)
    if (served.go !== undefined && (!isInside || isCoarse)) {
      const { from: _, to: __, ...filters } = choice
      const whole = { ...filters, from: data.from, to: data.to }
      served.go(from, to, new URLSearchParams(fragmentOf(data, whole)))
    } else change({ from: Math.max(from, data.from), to: Math.min(to, data.to) })
  }

  /**
   * Opens a bar: its hours, and at last the requests of an hour.
   *
   * @param {Bar} bar
   */
  function open({ start, end }) {
    const from = Math.max(start, data.from)
    const to = Math.min(end, data.to)
    const isFinest =
      to - from <= 1 ||
      (data.finest !== 'hour' && bucketOf(data, from, to) === data.finest && to - from <= 24)
    if (from < to && !(isFinest && choice.to - choice.from === to - from)) period(from, to)
  }

  /** @param {View} view */
  function figureOf(view) {
    const head = make(h('figcaption', {}, h('h3', {}, view.title)))
    head.append(
      button('CSV', `CSV: ${view.title}`, () =>
        save(view, `${dateOf(choice.from)}-${dateOf(choice.to - 1)}`),
      ),
    )
    const figure = make(
      h('figure', {
        class: `card ${view.wide || view.whole ? 'whole' : 'half'}`,
        id: `board-${view.id}`,
      }),
    )
    const stage = document.createElement('div')
    stage.className = 'b-stage chart-drawings'
    stage.append(nodeOf(view.tree))
    const said = make(h('p', { class: 'note b-said', role: 'status' }))
    const details = document.createElement('details')
    details.className = 'as-table'
    details.append(make(h('summary', {}, say('table'))))
    details.addEventListener('toggle', () => {
      if (details.open && details.childElementCount === 1)
        details.append(make(drawTable(view.speech ?? speech, view.title, ...view.table())))
    })
    figure.append(head, ...(view.legend ? [nodeOf(view.legend)] : []), stage)
    if (view.under) {
      figure.append(nodeOf(view.under))
      /** @type {NodeListOf<HTMLElement>} */
      const marks = figure.querySelectorAll('li[data-from]')
      for (const mark of marks) {
        const { from, to } = mark.dataset
        const text = mark.textContent
        mark.replaceChildren(button(text, text, () => period(Number(from), Number(to))))
      }
    }
    figure.append(said)
    if (view.note) figure.append(make(h('p', { class: 'note' }, view.note)))
    figure.append(details)
    explore(stage, said, view, speech, open)
    return figure
  }

  /**
   * @param {string} name
   * @param {string} value
   * @param {readonly (readonly [value: string, text: string])[]} options
   * @param {(value: string) => void} choose
   */
  function select(name, value, options, choose) {
    const made = document.createElement('select')
    made.append(...options.map(([each, text]) => new Option(text, each, false, each === value)))
    made.addEventListener('change', () => choose(made.value))
    made.dataset.name = name
    return made
  }

  /** @type {(name: Dimension, value: string) => void} */
  const filter = (name, value) => {
    const filters = { model: choice.model, key: choice.key, endpoint: choice.endpoint }
    filters[name] = value
    change(filters)
  }

  /**
   * @param {'from' | 'to'} name
   * @param {number} hour
   */
  function date(name, hour) {
    const made = document.createElement('input')
    made.type = 'date'
    if (served.go === undefined) {
      made.min = dateOf(data.from)
      made.max = dateOf(data.to - 1)
    }
    made.defaultValue = dateOf(hour)
    made.dataset.name = name
    made.addEventListener('change', () => {
      if (made.value === '') return
      const start = hourOf(made.value)
      const [from, to] = name === 'from' ? [start, choice.to] : [choice.from, start + 24]
      if (from < to) period(from, to)
    })
    // A browser writes dates in its own order: the page says them in its language.
    const said = h(
      'span',
      { 'aria-hidden': 'true' },
      speech.timeOf('day', { start: hour, end: hour }),
    )
    const whole = make(h('span', { class: 'b-date' }))
    whole.append(made, make(said))
    return whole
  }

  function filterBar() {
    const bar = placeOf('filters')
    const kept = document.activeElement?.getAttribute('data-name')
    const { split } = served
    const splits = split === undefined ? [] : data.splits
    const shown = dimensions.filter((name) => data.names[name].length > 1)
    // The server filters by a tag: its values are links.
    const filtered = shown.filter(
      (name) => name !== 'key' || data.keyIs !== 'tag' || split === undefined,
    )
    /** @type {(name: Dimension) => readonly (readonly [string, string])[]} */
    const names = (name) => data.names[name].map((each) => [each, speech.nameOf(each, name)])
    bar.replaceChildren(
      field(say('from'), date('from', choice.from)),
      field(say('to'), date('to', choice.to - 1)),
      ...filtered.map((name) =>
        field(
          say(name),
          select(
            name,
            choice[name],
            [['', say(name === 'key' ? 'allKeys' : 'all')], ...names(name)],
            (value) => filter(name, value),
          ),
        ),
      ),
      field(
        say('show'),
        select(
          'metric',
          choice.metric,
          data.metrics.map((metric) => [metric, titleOf(data, metric)]),
          (value) =>
            change({ metric: data.metrics.find((each) => each === value) ?? choice.metric }),
        ),
      ),
      ...(shown.length + splits.length === 0
        ? []
        : [
            field(
              say('by'),
              select(
                'by',
                choice.by,
                [
                  ...dimensions
                    .filter((name) => shown.includes(name) || name === choice.by)
                    .map((name) => /** @type {const} */ ([name, say(name)])),
                  ...splits.map(({ by, name }) => /** @type {const} */ ([`split:${by}`, name])),
                ],
                (value) =>
                  split !== undefined && value.startsWith('split:')
                    ? split(value.slice('split:'.length))
                    : change({ by: dimensions.find((each) => each === value) ?? choice.by }),
              ),
            ),
          ]),
      button(say('reset'), say('resetAll'), () => change(initial(data))),
    )
    bar.hidden = false
    /** @type {HTMLElement | null} */
    const again = kept ? bar.querySelector(`[data-name="${kept}"]`) : null
    again?.focus()
  }

  /** @param {Card} card */
  const cardOf = ([, label, value, aside]) =>
    h('div', {}, h('dt', {}, label), h('dd', {}, value, h('span', { class: 'aside' }, aside)))

  function draw() {
    const focused = document.activeElement?.closest('figure')?.id
    const { views, cards, tables, sums } = viewsOf(data, choice, size, served.latencyOf)
    filterBar()
    const isFirst = partOf(choice) === firstPart
    if (own) own.hidden = !isFirst
    if (used) {
      const metric = data.metrics.includes('credits') ? 'credits' : 'requests'
      used.textContent = isFirst ? allUsed : amountOf(data, metric, sums[metric])
      if (!isFirst) used.append(make(h('small', {}, ` ${say('ofAll', { all: allUsed })}`)))
    }
    // What is of other units is of the first choice.
    for (const each of document.querySelectorAll('[data-whole]'))
      each.toggleAttribute('hidden', !isFirst)
    for (const { place, by, first } of most) {
      const [[name = '–'] = [], ...lines] = isFirst ? [] : mostOf(data, choice, by)
      const asides = lines.map((parts) =>
        make(
          h(
            'span',
            { class: 'aside' },
            parts.length === 1
              ? item(parts, 0)
              : h('span', { class: 'pair follows' }, ...parts.map((part) => h('span', {}, part))),
          ),
        ),
      )
      place.replaceChildren(...(isFirst ? first : [make(h('b', {}, name)), ...asides]))
    }
    placeOf('cards').replaceChildren(
      ...(isFirst
        ? firstCards
        : [
            make(
              h(
                'dl',
                { class: 'figures' },
                cards
                  .filter(([name]) => !used || (name !== 'credits' && name !== 'money'))
                  .map(cardOf),
              ),
            ),
          ]),
    )
    placeOf('first').replaceChildren(...views.slice(0, 1).map(figureOf))
    placeOf('more').replaceChildren(...views.slice(1).map(figureOf))
    placeOf('tables').replaceChildren(
      ...tables
        .filter(({ by }) => !(own && isFirst) || by === 'endpoint')
        .map(({ title, tree, by }) =>
          make(
            h('section', { class: 'card whole', id: `board-by-${by}` }, h('h3', {}, title), tree),
          ),
        ),
    )
    listRequests()
    const stage = focused ? document.getElementById(focused)?.querySelector('.b-stage') : null
    if (stage instanceof HTMLElement) stage.focus()
  }

  /** The requests of an hour: those of the page, or those that the server knows. */
  function listRequests() {
    const place = placeOf('requests')
    place.replaceChildren()
    if (choice.to - choice.from !== 1) return
    const title = say('hourRequests')
    const section = make(h('section', { class: 'card' }, h('h3', {}, title)))
    /** @param {Drawn} tree */
    const put = (tree) => section.append(make(tree))
    place.append(section)
    const rows = requestsOf(data, choice)
    if (rows !== null) put(drawTable(speech, title, requestHeads(data), rows))
    else if (served.requests === undefined) put(h('p', { class: 'note' }, say('noRequests')))
    else {
      const asked = choice
      served.requests(data, choice).then((found) => {
        if (asked !== choice) return
        put(
          found === null
            ? h('p', { class: 'note' }, say('noRequests'))
            : drawTable(speech, title, requestHeads(data), found),
        )
      })
    }
  }

  /** @type {(name: string, act: () => void) => void} */
  const listen = (name, act) => addEventListener(name, act, { signal: ending.signal })
  const follow = () => {
    choice = choiceOf(data, location.hash.slice(1))
    draw()
  }
  listen('hashchange', follow)
  listen('popstate', follow)
  for (const name of ['resize', 'beforeprint', 'afterprint'])
    listen(name, () => {
      if (size === sizeFor(name)) return
      size = sizeFor(name)
      draw()
    })
  draw()
  return () => ending.abort()
}
