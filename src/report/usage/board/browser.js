// The filter bar of a usage page: it draws every chart, card and table again for what the reader chose, and keeps the choice
// in the fragment of the address. Elements are made one by one, and text is set as text, never as markup.
import { choiceOf, fragmentOf, initial } from './choice.js'
import { drawTable, h } from './draw.js'
import { speechOf } from './speech.js'
import { bucketOf, dateOf, dimensions, hourOf } from './sums.js'
import { requestHeads, requestsOf, titleOf } from './tables.js'
import { viewsOf } from './views.js'

const svgNames = new Set(['svg', 'path', 'text', 'rect', 'title'])

function make(tree) {
  if (typeof tree !== 'object') return document.createTextNode(String(tree))
  const { name, attributes, children } = tree
  const element = svgNames.has(name)
    ? document.createElementNS('http://www.w3.org/2000/svg', name)
    : document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  element.append(...children.map(make))
  return element
}

/** The values of a chart that the pointer and the arrow keys reach: a place in the drawing, and what is said. */
function stopsOf(view, svg, { say, timeOf }) {
  if (view.bars === undefined) return view.stops()
  const [left, step] = [Number(svg.dataset.left), Number(svg.dataset.step)]
  const height = svg.viewBox.baseVal.height - 38
  return view.bars.map((bar, at) => {
    const values = view.describe(at).map(([name, value]) => `${name} ${value}`)
    const nothing = say(bar.measured ? 'nothing' : 'unmeasured')
    const open = bar.open ? ` (${say('open')})` : ''
    return {
      ...{ x: left + at * step, y: 14, width: step, height, bar },
      said: `${timeOf(view.bucket, bar)}: ${values.join(', ') || nothing}${open}`,
    }
  })
}

/** A cursor over the values of a chart. */
function explore(figure, view, speech, open) {
  const stage = figure.querySelector('.b-stage')
  const said = figure.querySelector('.b-said')
  const svg = stage.querySelector('svg')
  const stops = stopsOf(view, svg, speech)
  if (stops.length === 0) return
  let at = -1
  const cursor = make(h('path', { class: 'b-cursor' }))
  svg.append(cursor)
  const tell = (place) => {
    at = Math.max(0, Math.min(stops.length - 1, place))
    const { x, y, width, height } = stops[at]
    said.textContent = stops[at].said
    cursor.setAttribute('d', `M${x} ${y}h${width}v${height}h${-width}z`)
  }
  const openStop = () => at >= 0 && stops[at].bar !== undefined && open(stops[at].bar)
  stage.tabIndex = 0
  stage.setAttribute('role', 'group')
  const word = view.bars === undefined ? 'exploreValues' : 'explore'
  stage.setAttribute('aria-label', speech.say(word, { title: view.title, bars: stops.length }))
  stage.onpointermove = (event) => {
    const box = svg.getBoundingClientRect()
    const scale = svg.viewBox.baseVal.width / box.width
    const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale]
    const place = stops.findIndex(
      (stop) =>
        x >= stop.x &&
        x < stop.x + stop.width &&
        (view.rows === undefined || (y >= stop.y && y < stop.y + stop.height)),
    )
    if (place >= 0) tell(place)
  }
  stage.onclick = openStop
  stage.onkeydown = (event) => {
    const row = view.rows ?? 1
    const moves = {
      ...{ ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: stops.length - 1 },
      ...(row > 1 ? { ArrowDown: at + row, ArrowUp: at - row } : {}),
    }
    if (Object.hasOwn(moves, event.key)) tell(moves[event.key])
    else if (event.key === 'Enter') openStop()
    else return
    event.preventDefault()
  }
}

function cellText(value) {
  if (value === null || value === undefined) return ''
  const text = String(value)
  const safe = typeof value === 'string' && /^\s*[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function save(view, period) {
  const [heads, rows] = view.table()
  const text = [heads, ...rows].map((cells) => `${cells.map(cellText).join(',')}\r\n`).join('')
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  link.download = `usage-${view.id}-${period}.csv`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

function button(text, label, act) {
  const made = make(h('button', { type: 'button', class: 'rows', 'aria-label': label }, text))
  made.addEventListener('click', act)
  return made
}

const field = (label, control) => {
  const made = make(h('label', {}, h('span', {}, label)))
  made.append(control)
  return made
}

/**
 * Starts the board of the document.
 *
 * @param served for a page with a server: `go(from, to, filters)` shows another period of local hours, `requests(data, choice)`
 * promises the rows of an hour, `changed()` hears of each choice
 * @returns a function that ends it
 */
export function startBoard(served = {}) {
  const payload = document.getElementById('board-data')
  if (payload === null) return () => {}
  const ending = new AbortController()
  const data = JSON.parse(payload.textContent)
  const speech = speechOf(data)
  const { say } = speech
  const board = document.getElementById('board')
  const firstCards = [...board.querySelector('.b-cards').childNodes]
  const own = board.querySelector('.b-own')
  const used = document.querySelector('[data-figure=used]')
  const allUsed = used?.textContent
  // The first choice of a page that a backend made is in its markup.
  const { choice: first } = board.dataset
  if (location.hash === '' && first) history.replaceState(null, '', `#${first}`)
  let choice = choiceOf(data, location.hash.slice(1))
  /** What figures are of: the markup has those of the first choice. */
  const partOf = ({ by: _, metric: __, ...part }) => JSON.stringify(part)
  const firstPart = partOf(first === undefined ? initial(data) : choiceOf(data, first))

  /** As the columns of the style sheet. */
  const sizeFor = (type) =>
    type === 'beforeprint'
      ? 'paper'
      : innerWidth <= 560
        ? 'phone'
        : innerWidth <= 900
          ? 'middle'
          : 'desk'
  let size = sizeFor()

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

  /** Shows a period; one that the data have not, or not in enough detail, is asked for. */
  function period(from, to) {
    const isInside = from >= data.from && to <= data.to
    const isCoarse = data.finest !== 'hour' && to - from <= 24 && (from > data.from || to < data.to)
    if (served.go !== undefined && (!isInside || isCoarse)) {
      const { from: _, to: __, ...filters } = choice
      const whole = { ...filters, from: data.from, to: data.to }
      served.go(from, to, new URLSearchParams(fragmentOf(data, whole)))
    } else change({ from: Math.max(from, data.from), to: Math.min(to, data.to) })
  }

  /** Opens a bar: its hours, and at last the requests of an hour. */
  function open({ start, end }) {
    const from = Math.max(start, data.from)
    const to = Math.min(end, data.to)
    const isFinest =
      to - from <= 1 ||
      (data.finest !== 'hour' && bucketOf(data, from, to) === data.finest && to - from <= 24)
    if (from < to && !(isFinest && choice.to - choice.from === to - from)) period(from, to)
  }

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
    const stage = make(h('div', { class: 'b-stage chart-drawings' }, view.tree))
    const said = make(h('p', { class: 'note b-said', role: 'status' }))
    const details = make(h('details', { class: 'as-table' }, h('summary', {}, say('table'))))
    details.addEventListener('toggle', () => {
      if (details.open && details.childElementCount === 1)
        details.append(make(drawTable(view.speech ?? speech, view.title, ...view.table())))
    })
    figure.append(head, ...(view.legend ? [make(view.legend)] : []), stage, said)
    if (view.under) {
      figure.append(make(view.under))
      for (const item of figure.querySelectorAll('li[data-from]')) {
        const { from, to } = item.dataset
        const text = item.textContent
        item.replaceChildren(button(text, text, () => period(Number(from), Number(to))))
      }
    }
    if (view.note) figure.append(make(h('p', { class: 'note' }, view.note)))
    figure.append(details)
    explore(figure, view, speech, open)
    return figure
  }

  function select(name, options) {
    const made = document.createElement('select')
    made.append(
      ...options.map(([value, text]) => new Option(text, value, false, value === choice[name])),
    )
    made.addEventListener('change', () => change({ [name]: made.value }))
    made.dataset.name = name
    return made
  }

  function date(name, hour) {
    const limits =
      served.go === undefined ? { min: dateOf(data.from), max: dateOf(data.to - 1) } : {}
    const made = make(h('input', { type: 'date', value: dateOf(hour), ...limits }))
    made.dataset.name = name
    made.addEventListener('change', () => {
      if (made.value === '') return
      const start = hourOf(made.value)
      const [from, to] = name === 'from' ? [start, choice.to] : [choice.from, start + 24]
      if (from < to) period(from, to)
    })
    return made
  }

  function filterBar() {
    const bar = board.querySelector('.b-filters')
    const kept = document.activeElement?.dataset?.name
    const shown = dimensions.filter((name) => data.names[name].length > 1)
    const names = (name) => data.names[name].map((each) => [each, speech.nameOf(each, name)])
    bar.replaceChildren(
      field(say('from'), date('from', choice.from)),
      field(say('to'), date('to', choice.to - 1)),
      ...shown.map((name) => field(say(name), select(name, [['', say('all')], ...names(name)]))),
      field(
        say('show'),
        select(
          'metric',
          data.metrics.map((metric) => [metric, titleOf(data, metric)]),
        ),
      ),
      ...(shown.length === 0
        ? []
        : [
            field(
              say('by'),
              select(
                'by',
                dimensions
                  .filter((name) => shown.includes(name) || name === choice.by)
                  .map((name) => [name, say(name)]),
              ),
            ),
          ]),
      button(say('reset'), say('resetAll'), () => change(initial(data))),
    )
    bar.hidden = false
    if (kept) bar.querySelector(`[data-name="${kept}"]`)?.focus()
  }

  const cardOf = ([, label, value, aside]) =>
    h('div', {}, h('dt', {}, label), h('dd', {}, value, h('span', { class: 'aside' }, aside)))

  function draw() {
    const focused = document.activeElement?.closest?.('figure')?.id
    const { views, cards, tables, sums } = viewsOf(data, choice, size)
    filterBar()
    const isFirst = partOf(choice) === firstPart
    if (own) own.hidden = !isFirst
    if (used) {
      const { show } = speech.of('credits')
      used.textContent = isFirst
        ? allUsed
        : show(sums[data.metrics.includes('credits') ? 'credits' : 'requests'])
      if (!isFirst) used.append(make(h('small', {}, ` ${say('ofAll', { all: allUsed })}`)))
    }
    board
      .querySelector('.b-cards')
      .replaceChildren(
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
    board.querySelector('.b-first').replaceChildren(figureOf(views[0]))
    board.querySelector('.b-more').replaceChildren(...views.slice(1).map(figureOf))
    board
      .querySelector('.b-tables')
      .replaceChildren(
        ...tables
          .filter(({ by }) => !(own && isFirst) || by === 'endpoint')
          .map(({ title, tree, by }) =>
            make(
              h('section', { class: 'card whole', id: `board-by-${by}` }, h('h3', {}, title), tree),
            ),
          ),
      )
    listRequests()
    if (focused) document.getElementById(focused)?.querySelector('.b-stage')?.focus()
  }

  /** The requests of an hour: those of the page, or those that the server knows. */
  function listRequests() {
    const place = board.querySelector('.b-requests')
    place.replaceChildren()
    if (choice.to - choice.from !== 1) return
    const title = say('hourRequests')
    const section = make(h('section', { class: 'card' }, h('h3', {}, title)))
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
