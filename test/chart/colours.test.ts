import {
  type Color,
  differenceCiede2000,
  filterDeficiencyDeuter,
  filterDeficiencyProt,
  filterDeficiencyTrit,
  parse,
  wcagContrast,
} from 'culori'
import { describe, expect, test } from 'vitest'
import { compileChart } from '../../src/chart/compile.ts'
import type { ChartSpec } from '../../src/chart/spec.ts'
import {
  chartCss,
  errorColours,
  othersColour,
  seriesColours,
  seriesOf,
} from '../../src/chart/theme.ts'

/** The series colours of a theme, grey last. */
function coloursOf(theme: 'light' | 'dark'): readonly string[] {
  const [light, dark] = chartCss.split('@media')
  const css = theme === 'light' ? light! : dark!
  return Array.from({ length: 8 }, (_, at) => new RegExp(`--c${at + 1}:(#\\w{6})`).exec(css)![1]!)
}

test('the colours of a theme are those of its style', () => {
  expect(seriesOf('light')).toEqual(coloursOf('light'))
  expect(seriesOf('dark')).toEqual(coloursOf('dark'))
})

const sights: Readonly<Record<string, (colour: Color) => Color>> = {
  'full colour': (colour) => colour,
  protanopia: filterDeficiencyProt(1),
  deuteranopia: filterDeficiencyDeuter(1),
  tritanopia: filterDeficiencyTrit(1),
}

describe.each(['light', 'dark'] as const)('in the %s theme', (theme) => {
  test.each(Object.entries(sights))('each two series colours differ in %s', (_, seen) => {
    const difference = differenceCiede2000()
    const colours = coloursOf(theme)
    for (const [at, one] of colours.entries()) {
      for (const other of colours.slice(at + 1)) {
        const distance = difference(seen(parse(one)!), seen(parse(other)!))
        expect(distance, `${one} and ${other}`).toBeGreaterThan(11)
      }
    }
  })

  test('each series colour stands out from the page', () => {
    const paper = theme === 'light' ? '#ffffff' : '#161b22'
    for (const colour of coloursOf(theme)) {
      expect(wcagContrast(colour, paper), colour).toBeGreaterThan(2.1)
    }
  })
})

const chartOf = (mark: string, color: object): ChartSpec => ({
  title: 't',
  description: 'd',
  empty: 'e',
  heightPx: 100,
  vegaLite: {
    mark,
    encoding: {
      x: { field: 'at', type: 'quantitative', title: 'at' },
      y: { field: 'n', type: 'quantitative', title: 'n' },
      color: { field: 'name', type: 'nominal', ...color },
    },
  } as ChartSpec['vegaLite'],
})

interface Named {
  readonly name: string
  readonly domain: readonly string[]
  readonly range: readonly unknown[]
}

function scalesOf(names: readonly string[], mark = 'bar', color: object = {}) {
  const rows = names.flatMap((name) => [0, 1].map((at) => ({ at, n: 1, name })))
  const { spec } = compileChart(chartOf(mark, color), rows, { widthPx: 600 })!
  const scales = (spec.scales ?? []) as readonly Named[]
  return Object.fromEntries(scales.map((scale) => [scale.name, scale]))
}

test('the rest of a long list is grey and last, and no colour repeats', () => {
  const { color } = scalesOf(['(other)', 'g', 'f', 'e', 'd', 'c', 'b', 'a'])
  expect(color!.domain).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', '(other)'])
  expect(color!.range).toEqual([...seriesColours, othersColour])
  expect(new Set(color!.range).size).toBe(8)
})

test('a kind of error never has the blue or the green of what went well', () => {
  const errors = ['429', '500', '503 overloaded', 'broken', 'timed out', '(other)']
  const { color } = scalesOf(errors, 'bar', { scale: { scheme: 'errors' } })
  expect(color!.range).toEqual([...errorColours, othersColour])
  expect(errorColours).not.toContain(seriesColours[0])
  expect(errorColours).not.toContain(seriesColours[2])
})

test('lines of names differ in their dashes, too', () => {
  const { strokeDash } = scalesOf(['b', 'a'], 'line')
  expect(strokeDash).toMatchObject({
    domain: ['a', 'b'],
    range: [
      [1, 0],
      [7, 3],
    ],
  })
  expect(scalesOf(['b', 'a']).strokeDash).toBeUndefined()
})
