// Draws the live charts over a page's static drawings, each when it comes into view. Runs in the reader's browser
// after `vega` and `vegaExpression`. The payload is only data.
/** @import { Spec, View } from 'vega' */
/** @import { InteractiveChart } from './interactive.ts' */
import * as vega from 'vega'
import { expressionInterpreter as vegaExpression } from 'vega-interpreter'

;(() => {
  const payload = document.getElementById('chart-data')
  if (payload === null) return
  /** @type {Readonly<Record<string, InteractiveChart>>} */
  const charts = JSON.parse(payload.textContent)
  const tip = document.createElement('div')
  tip.className = 'chart-tip'
  tip.hidden = true
  tip.setAttribute('role', 'status')
  document.body.append(tip)

  /**
   * Sets every part as text, never as markup.
   *
   * @param {MouseEvent} event
   * @param {unknown} value
   */
  function showTip(event, value) {
    if (value === null || value === undefined || value === '') {
      tip.hidden = true
      return
    }
    const list = document.createElement('dl')
    const entries = typeof value === 'object' ? Object.entries(value) : [['', String(value)]]
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

  /**
   * What Vega draws: a mark has items, and those of a group have marks.
   *
   * @typedef {{ readonly marktype: string; readonly items: readonly DrawnItem[] }} DrawnMark
   * @typedef {{ readonly x: number; readonly y: number; readonly tooltip?: unknown; readonly items?: readonly DrawnMark[] }} DrawnItem
   */

  /**
   * Lines are too thin for a pointer, so this finds the nearest point of the nearest line.
   *
   * @param {View} view
   * @param {number} x
   * @param {number} y
   */
  function nearestOfLines(view, x, y) {
    /** @type {{ readonly away: number; readonly item: DrawnItem | null }} */
    let best = { away: Infinity, item: null }
    /** @type {(mark: DrawnMark, left: number, top: number) => void} */
    const visit = (mark, left, top) => {
      if (mark.marktype === 'group') {
        for (const group of mark.items) {
          for (const inner of group.items ?? [])
            visit(inner, left + (group.x || 0), top + (group.y || 0))
        }
      } else if (mark.marktype === 'line') {
        for (const item of mark.items) {
          // The pointer selects a time, so vertical distance counts less.
          const away = Math.abs(left + item.x - x) + Math.abs(top + item.y - y) / 4
          if (away < best.away && item.tooltip) best = { away, item }
        }
      }
    }
    // The types of Vega call this the root, but it has the root.
    const graph = /** @type {{ readonly root: DrawnMark }} */ (
      /** @type {unknown} */ (view.scenegraph())
    )
    visit(graph.root, 0, 0)
    return best.item
  }

  /**
   * Shows Vega's tooltip of the mark under the pointer, or else of the nearest line.
   *
   * @param {View} view
   * @param {HTMLElement} stage
   */
  function tellMarks(view, stage) {
    let ofMark = false
    view.tooltip((_handler, event, _item, value) => {
      ofMark = value !== null && value !== undefined && value !== ''
      showTip(event, value)
    })
    // Runs after Vega's own listeners.
    stage.addEventListener('mousemove', (event) => {
      if (ofMark) return
      const [left, top] = view.origin()
      const frame = stage.querySelector('svg')?.getBoundingClientRect()
      if (frame === undefined) return
      const [x, y] = [event.clientX - frame.left - left, event.clientY - frame.top - top]
      const inside = x >= 0 && x <= view.signal('width') && y >= 0 && y <= view.signal('height')
      showTip(event, inside ? nearestOfLines(view, x, y)?.tooltip : null)
    })
    stage.addEventListener('mouseleave', () => {
      ofMark = false
      tip.hidden = true
    })
  }

  /** @param {InteractiveChart} chart */
  function rowsOf(chart) {
    return chart.rows.map((cells) =>
      Object.fromEntries(
        chart.columns.map((name, at) => {
          const words = chart.words[at]
          return [name, words ? words[Number(cells[at])] : cells[at]]
        }),
      ),
    )
  }

  /**
   * RFC 4180. Text that a spreadsheet would run as a formula gets an apostrophe.
   *
   * @param {unknown} value
   */
  function cellOf(value) {
    if (value === null || value === undefined) return ''
    if (typeof value !== 'string') return String(value)
    const safe = /^\s*[=+\-@\t\r]/.test(value) ? `'${value}` : value
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
  }

  /**
   * The names of the columns, and the rows. The payload has local times as if they were UTC, so they are written without a
   * zone.
   *
   * @param {InteractiveChart} chart
   * @returns {readonly [names: readonly string[], ...rows: (readonly unknown[])[]]}
   */
  function linesOf(chart) {
    const lines = rowsOf(chart).map((row) =>
      chart.columns.map((name) =>
        chart.times.includes(name) && row[name] !== null
          ? new Date(Number(row[name])).toISOString().slice(0, 19)
          : row[name],
      ),
    )
    const names = chart.columns.map((name) =>
      chart.times.includes(name) ? name.replace(/_ms$/, '') : name,
    )
    return [names, ...lines]
  }

  /** @param {InteractiveChart} chart */
  const csvOf = (chart) =>
    linesOf(chart)
      .map((cells) => `${cells.map(cellOf).join(',')}\r\n`)
      .join('')

  /**
   * Adds a button that downloads the rows of a chart. The data is already in the page.
   *
   * @param {Element} figure
   * @param {InteractiveChart} chart
   */
  function offerRows(figure, chart) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'rows'
    button.textContent = 'CSV'
    button.title = 'Download the rows of this chart'
    button.setAttribute('aria-label', `CSV: ${figure.querySelector('h3')?.textContent ?? ''}`)
    button.addEventListener('click', () => {
      const link = document.createElement('a')
      link.href = URL.createObjectURL(new Blob([csvOf(chart)], { type: 'text/csv' }))
      link.download = `${figure.id}.csv`
      link.click()
      // A busy browser starts the download later.
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
    })
    figure.querySelector('figcaption')?.append(button)
  }

  /** The most rows of a chart's table; the CSV has all. */
  const mostRows = 500

  /**
   * Adds the rows of a chart as a table, made when it is opened.
   *
   * @param {Element} figure
   * @param {InteractiveChart} chart
   */
  function offerTable(figure, chart) {
    const details = document.createElement('details')
    details.className = 'as-table'
    const summary = document.createElement('summary')
    summary.textContent = 'As a table'
    details.append(summary)
    details.addEventListener('toggle', () => {
      if (!details.open || details.childElementCount > 1) return
      const [names, ...rows] = linesOf(chart)
      const table = document.createElement('table')
      const head = table.createTHead().insertRow()
      for (const name of names) {
        const cell = document.createElement('th')
        cell.scope = 'col'
        cell.textContent = name
        head.append(cell)
      }
      const body = table.createTBody()
      for (const cells of rows.slice(0, mostRows)) {
        const row = body.insertRow()
        for (const value of cells) row.insertCell().textContent = String(value ?? '–')
      }
      const region = document.createElement('div')
      region.className = 'table-scroll'
      region.tabIndex = 0
      region.setAttribute('role', 'region')
      region.setAttribute(
        'aria-label',
        `${figure.querySelector('h3')?.textContent ?? ''}, as a table`,
      )
      region.append(table)
      details.append(region)
    })
    figure.append(details)
  }

  /** The page's font: labels are measured before they are drawn, and must not overlap. */
  const font = JSON.stringify(getComputedStyle(document.body).fontFamily)

  /**
   * @param {Element} figure
   * @param {InteractiveChart} chart
   */
  async function draw(figure, chart) {
    const stage = document.createElement('div')
    stage.className = 'chart-live'
    figure.querySelector('.chart-drawings')?.append(stage)
    /** @type {View | null} */
    let view = null
    /** @type {boolean | null} */
    let narrow = null
    /** Fills the width. A phone's legend is folded, so crossing the limit draws the chart again. */
    const resize = async () => {
      const width = stage.clientWidth
      if (width === 0) return
      if (narrow === width < 480) {
        if (width !== view?.width()) await view?.width(width).runAsync()
        return
      }
      narrow = width < 480
      view?.finalize()
      const box = document.createElement('div')
      stage.replaceChildren(box)
      const drawn = narrow ? chart.phone : chart.desk
      /** @type {Spec} */
      const spec = JSON.parse(drawn.replaceAll('"sans-serif"', font))
      const source = spec.data?.find(({ name }) => name === 'rows')
      if (source === undefined) throw new TypeError('the chart has no data set `rows`')
      Object.assign(source, { values: rowsOf(chart) })
      view = new vega.View(vega.parse(spec, undefined, { ast: true }), {
        expr: vegaExpression,
        renderer: 'svg',
        container: box,
        hover: true,
        logLevel: vega.Warn,
      })
      tellMarks(view, box)
      await view.width(width).runAsync()
      const drawing = box.querySelector('svg')
      const still = figure.querySelector('svg.chart title')
      drawing?.setAttribute('role', 'img')
      drawing?.setAttribute('aria-label', still?.textContent ?? '')
      figure.classList.add('is-live')
    }
    await resize()
    new ResizeObserver(resize).observe(stage)
  }

  /** @param {Element} figure */
  const chartOf = (figure) => charts[figure.getAttribute('data-chart') ?? '']

  const waiting = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue
        waiting.unobserve(entry.target)
        const chart = chartOf(entry.target)
        if (chart !== undefined) draw(entry.target, chart)
      }
    },
    { rootMargin: '200px' },
  )
  for (const figure of document.querySelectorAll('figure[data-chart]')) {
    const chart = chartOf(figure)
    if (chart === undefined) continue
    offerRows(figure, chart)
    offerTable(figure, chart)
    waiting.observe(figure)
  }
})()
