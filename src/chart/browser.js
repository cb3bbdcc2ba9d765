// Draws the charts of a page over their static drawings, when each comes into view.
// Runs in the reader's browser after `vega` and `vegaExpression`; everything in the payload is data.
;(() => {
  const payload = document.getElementById('chart-data')
  if (payload === null) return
  const charts = JSON.parse(payload.textContent)
  const tip = document.createElement('div')
  tip.className = 'chart-tip'
  tip.hidden = true
  tip.setAttribute('role', 'status')
  document.body.append(tip)

  /** The reader's own words, never markup: every part is set as text. */
  function showTip(_handler, event, _item, value) {
    if (value === null || value === undefined || value === '') {
      tip.hidden = true
      return
    }
    const list = document.createElement('dl')
    const entries = typeof value === 'object' ? Object.entries(value) : [['', value]]
    for (const [name, cell] of entries) {
      const term = document.createElement('dt')
      const told = document.createElement('dd')
      term.textContent = name
      told.textContent = String(cell)
      list.append(term, told)
    }
    tip.replaceChildren(list)
    tip.hidden = false
    const room = 12
    const left = Math.min(event.clientX + room, innerWidth - tip.offsetWidth - room)
    const below = event.clientY + room
    const top =
      below + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - room : below
    tip.style.left = `${Math.max(room, left)}px`
    tip.style.top = `${Math.max(room, top)}px`
  }

  function rowsOf(chart) {
    return chart.rows.map((cells) =>
      Object.fromEntries(chart.columns.map((name, at) => [name, cells[at]])),
    )
  }

  async function draw(figure, chart) {
    const stage = document.createElement('div')
    stage.className = 'chart-live'
    figure.querySelector('.chart-drawings').append(stage)
    const spec = JSON.parse(stage.clientWidth < 480 ? chart.phone : chart.desk)
    spec.data.find((each) => each.name === 'rows').values = rowsOf(chart)
    const view = new vega.View(vega.parse(spec, undefined, { ast: true }), {
      expr: vegaExpression,
      renderer: 'svg',
      container: stage,
      hover: true,
      logLevel: vega.Warn,
    })
    view.tooltip(showTip)
    view.width(stage.clientWidth)
    await view.runAsync()
    const drawing = stage.querySelector('svg')
    const still = figure.querySelector('svg.chart')
    drawing.setAttribute('role', 'img')
    drawing.setAttribute('aria-label', still.querySelector('title').textContent)
    figure.classList.add('is-live')
    new ResizeObserver(() => {
      const width = stage.clientWidth
      if (width > 0 && width !== view.width()) view.width(width).runAsync()
    }).observe(stage)
  }

  const waiting = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue
        waiting.unobserve(entry.target)
        draw(entry.target, charts[entry.target.dataset.chart])
      }
    },
    { rootMargin: '200px' },
  )
  for (const figure of document.querySelectorAll('figure[data-chart]')) waiting.observe(figure)
})()
