// The filter bar of a usage page: it draws every chart, card and table again for what the reader chose, and keeps the choice
// in the fragment of the address. Elements are made one by one, and text is set as text, never as markup.
;(() => {
  const payload = document.getElementById('board-data')
  if (payload === null) return
  const data = JSON.parse(payload.textContent)
  const board = document.getElementById('board')
  const firstCards = [...board.querySelector('.b-cards').childNodes]
  let choice = choiceOf(data, location.hash.slice(1))

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

  const size = () => (innerWidth <= 560 ? 'phone' : 'desk')

  function change(changed, isStep = true) {
    choice = { ...choice, ...changed }
    const fragment = fragmentOf(data, choice)
    const address = `${location.pathname}${location.search}${fragment === '' ? '' : `#${fragment}`}`
    history[isStep ? 'pushState' : 'replaceState'](null, '', address)
    draw()
  }

  /** Opens a bar: its hours, and at last the requests of an hour. */
  function open({ start, end }) {
    const from = Math.max(start, data.from)
    const to = Math.min(end, data.to)
    const isFinest =
      to - from <= 1 ||
      (data.finest !== 'hour' && bucketOf(data, from, to) === data.finest && to - from <= 24)
    if (from < to && !(isFinest && choice.to - choice.from === to - from)) change({ from, to })
  }

  /** A cursor over the bars, for the pointer and the arrow keys. */
  function explore(figure, view) {
    const stage = figure.querySelector('.b-stage')
    const said = figure.querySelector('.b-said')
    const svg = stage.querySelector('svg')
    if (view.bars === undefined) return
    let at = -1
    const cursor = document.createElementNS('http://www.w3.org/2000/svg', 'path')
    cursor.setAttribute('class', 'b-cursor')
    svg.append(cursor)
    const [left, step] = [Number(svg.dataset.left), Number(svg.dataset.step)]
    const height = svg.viewBox.baseVal.height
    const tell = (place) => {
      at = Math.max(0, Math.min(view.bars.length - 1, place))
      const bar = view.bars[at]
      const values = view.describe(at).map(([name, value]) => `${name} ${value}`)
      said.textContent = `${timeOf(view.bucket, bar)}: ${values.join(', ') || (bar.measured ? 'nothing' : 'not measured')}${bar.open ? ' (not over, or not measured to its end)' : ''}`
      cursor.setAttribute('d', `M${left + at * step} 14h${step}V${height - 24}h${-step}z`)
    }
    stage.tabIndex = 0
    stage.setAttribute('role', 'group')
    stage.setAttribute(
      'aria-label',
      `${view.title}. Arrow keys move over ${view.bars.length} bars, Enter opens one.`,
    )
    stage.onpointermove = (event) => {
      const box = svg.getBoundingClientRect()
      const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width
      if (x >= left) tell(Math.floor((x - left) / step))
    }
    stage.onclick = () => at >= 0 && open(view.bars[at])
    stage.onkeydown = (event) => {
      const moves = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: view.bars.length - 1 }
      if (event.key in moves) tell(moves[event.key])
      else if (event.key === 'Enter' && at >= 0) open(view.bars[at])
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

  function save(view) {
    const [heads, rows] = view.table()
    const text = [heads, ...rows].map((cells) => `${cells.map(cellText).join(',')}\r\n`).join('')
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
    link.download = `usage-${view.id}.csv`
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
  }

  function button(text, label, act) {
    const made = make(h('button', { type: 'button', class: 'rows', 'aria-label': label }, text))
    made.addEventListener('click', act)
    return made
  }

  function figureOf(view) {
    const head = make(h('figcaption', {}, h('h3', {}, view.title)))
    head.append(button('CSV', `CSV: ${view.title}`, () => save(view)))
    const figure = make(
      h('figure', {
        class: `card ${view.wide || view.whole ? 'whole' : 'half'}`,
        id: `board-${view.id}`,
      }),
    )
    const stage = make(h('div', { class: 'b-stage chart-drawings' }, view.tree))
    const said = make(h('p', { class: 'note b-said', role: 'status' }))
    const details = make(h('details', { class: 'as-table' }, h('summary', {}, 'As a table')))
    details.addEventListener('toggle', () => {
      if (details.open && details.childElementCount === 1)
        details.append(make(drawTable(view.title, ...view.table())))
    })
    figure.append(head, ...(view.legend ? [make(view.legend)] : []), stage, said)
    if (view.note) figure.append(make(h('p', { class: 'note' }, view.note)))
    figure.append(details)
    explore(figure, view)
    return figure
  }

  const field = (label, control) => {
    const made = make(h('label', {}, `${label} `))
    made.append(control)
    return made
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
    const [min, max] = [dateOf(data.from), dateOf(data.to - 1)]
    const made = make(h('input', { type: 'date', value: dateOf(hour), min, max }))
    made.dataset.name = name
    made.addEventListener('change', () => {
      if (made.value === '') return
      const start = hourOf(made.value)
      const [from, to] = name === 'from' ? [start, choice.to] : [choice.from, start + 24]
      if (from < to) change({ from: Math.max(from, data.from), to: Math.min(to, data.to) })
    })
    return made
  }

  function filterBar() {
    const bar = board.querySelector('.b-filters')
    const kept = document.activeElement?.dataset?.name
    bar.replaceChildren(
      field('from', date('from', choice.from)),
      field('to', date('to', choice.to - 1)),
      ...dimensions
        .filter((name) => data.names[name].length > 1)
        .map((name) =>
          field(name, select(name, [['', 'all'], ...data.names[name].map((each) => [each, each])])),
        ),
      field(
        'show',
        select(
          'metric',
          data.metrics.map((metric) => [metric, titleOf(data, metric)]),
        ),
      ),
      field(
        'by',
        select(
          'by',
          dimensions.map((name) => [name, name]),
        ),
      ),
      button('Reset', 'Reset: show everything', () => change(initial(data))),
    )
    bar.hidden = false
    if (kept) bar.querySelector(`[data-name="${kept}"]`)?.focus()
  }

  function draw() {
    const focused = document.activeElement?.closest?.('figure')?.id
    const { views, cards, tables, unfiltered } = viewsOf(data, choice, size())
    filterBar()
    const isWhole = unfiltered && choice.from === data.from && choice.to === data.to
    board.querySelector('.b-cards').replaceChildren(
      ...(isWhole
        ? firstCards
        : [
            make(
              h(
                'dl',
                { class: 'figures' },
                cards.map(([label, value, aside]) =>
                  h(
                    'div',
                    {},
                    h('dt', {}, label),
                    h('dd', {}, value, h('span', { class: 'aside' }, aside)),
                  ),
                ),
              ),
            ),
          ]),
    )
    board.querySelector('.b-first').replaceChildren(figureOf(views[0]))
    board.querySelector('.b-more').replaceChildren(...views.slice(1).map(figureOf))
    board
      .querySelector('.b-tables')
      .replaceChildren(
        ...tables.map(({ title, tree, by }) =>
          make(
            h('section', { class: 'card whole', id: `board-by-${by}` }, h('h3', {}, title), tree),
          ),
        ),
      )
    const requests = requestsOf(data, choice)
    const place = board.querySelector('.b-requests')
    place.replaceChildren()
    if (choice.to - choice.from === 1) {
      const heads = [
        'time',
        'model',
        'key',
        'endpoint',
        'status',
        'input tokens',
        'output tokens',
        data.unit,
      ]
      const list =
        requests === null
          ? h('p', { class: 'note' }, data.words.requests)
          : drawTable('The requests of this hour', heads, requests)
      place.append(
        make(h('section', { class: 'card' }, h('h3', {}, 'The requests of this hour'), list)),
      )
    }
    if (focused) document.getElementById(focused)?.querySelector('.b-stage')?.focus()
  }

  addEventListener('hashchange', () => {
    choice = choiceOf(data, location.hash.slice(1))
    draw()
  })
  addEventListener('popstate', () => {
    choice = choiceOf(data, location.hash.slice(1))
    draw()
  })
  let last = size()
  addEventListener('resize', () => {
    if (last === size()) return
    last = size()
    draw()
  })
  draw()
})()
