import { expect, test } from 'vitest'
import { compileChart } from '../../src/chart/compile.ts'
import { activeChart, interactiveChart } from '../../src/chart/interactive.ts'
import { parseChart } from '../../src/chart/spec.ts'

test('a column stores each word once, and its cells refer to it by index', () => {
  const rows = [
    { hour: 'Monday', n: 1, state: null },
    { hour: 'Tuesday', n: 2, state: 'open' },
    { hour: 'Monday', n: 3, state: null },
  ]
  const spec = {
    title: 'Hours',
    description: 'Bars of hours.',
    usermeta: { empty: 'No hour.' },
    mark: 'bar',
    encoding: {
      x: { field: 'hour', type: 'nominal', title: 'hour' },
      y: { field: 'n', type: 'quantitative', title: 'n' },
      color: { field: 'state', type: 'nominal', title: 'hour' },
    },
  }
  const chart = activeChart(parseChart(JSON.stringify(spec), 'x'))
  const [desk, phone] = [500, 300].map((widthPx) => compileChart(chart, rows, { widthPx })!)
  const live = interactiveChart(chart, desk!, phone!)
  expect(live.words[live.columns.indexOf('hour')]).toEqual(['Monday', 'Tuesday'])
  expect(live.words[live.columns.indexOf('n')]).toBeNull()
  const read = live.rows.map((cells) =>
    Object.fromEntries(
      live.columns.map((name, at) => {
        const words = live.words[at]
        return [name, words ? words[Number(cells[at])] : cells[at]]
      }),
    ),
  )
  expect(read).toEqual(rows)
})
