/**
 * Colours and type of every chart. A drawing uses these exact hex values; the page replaces each by its CSS variable,
 * so one drawing serves light, dark and print.
 *
 * The series colours began as those of Okabe and Ito, without their yellow, which is invisible on paper. They were moved
 * until each pair differs under protanopia, deuteranopia and tritanopia; test/chart/colours.test.ts measures it.
 */

interface Tone {
  /** Name of the CSS variable, without its dashes. */
  readonly name: string
  readonly light: string
  readonly dark: string
}

const tone = (name: string, light: string, dark: string): Tone => ({ name, light, dark })

const series = [
  tone('c1', '#0073d8', '#39a0fc'),
  tone('c2', '#e7a10f', '#f9be45'),
  tone('c3', '#009b71', '#34cd93'),
  tone('c4', '#d65e00', '#fa7a39'),
  tone('c5', '#d080be', '#e59fc6'),
  tone('c6', '#36b9ff', '#a2d9fc'),
  tone('c7', '#6a5b90', '#9b81b4'),
  tone('c8', '#888d92', '#85888f'),
]

/** All series colours of a theme, grey last. */
export const seriesOf = (theme: 'light' | 'dark'): readonly string[] =>
  series.map((each) => each[theme])

/** The colours of names in charts; more names than these belong into `(other)`. */
export const seriesColours = series.slice(0, -1).map(({ light }) => light)

/** Grey: the rest of a long list. */
export const othersColour = series.at(-1)!.light

/** For kinds of errors: neither the blue nor the green of what went well. */
export const errorColours = ['c4', 'c2', 'c5', 'c7', 'c6'].map(
  (name) => series.find((each) => each.name === name)!.light,
)

const ramp = [
  tone('h1', '#e4eef8', '#17283d'),
  tone('h2', '#c3daef', '#1d3b5c'),
  tone('h3', '#98c0e2', '#26527f'),
  tone('h4', '#65a0d1', '#336da8'),
  tone('h5', '#397cb8', '#5292cc'),
  tone('h6', '#1f5894', '#84b7e5'),
  tone('h7', '#0c3566', '#c6e0fa'),
]

const ink = tone('ink', '#1c2430', '#e6e9ee')
const muted = tone('muted', '#5a6572', '#9ba5b1')
const grid = tone('grid', '#e3e7ec', '#2a323d')
const paper = tone('paper', '#ffffff', '#161b22')
const shade = tone('shade', '#fbe3d6', '#4a2a1c')
const bad = tone('bad', '#b3261e', '#ff8f85')

const tones = [...series, ...ramp, ink, muted, grid, paper, shade, bad]

const lightNames = new Map(tones.map((each) => [each.light, each]))
const hexes = new RegExp(`#(?:${tones.map((each) => each.light.slice(1)).join('|')})\\b`, 'gi')

/** Replaces the theme's colours by their CSS variables. A spec's own colours stay. */
export const toCssVariables = (drawing: string): string =>
  drawing.replace(hexes, (hex) => `var(--${lightNames.get(hex.toLowerCase())?.name})`)

const declare = (theme: 'light' | 'dark') =>
  tones.map((each) => `--${each.name}:${each[theme]}`).join(';')

/** The colour variables: light, dark if the reader prefers it, light in print. */
export const chartCss = `:root{${declare('light')}}
@media (prefers-color-scheme: dark){:root{${declare('dark')}}}
@media print{:root{${declare('light')}}}
`

/** The font of drawings. Pages use their own style sheet instead. */
export const drawingFont = 'sans-serif'

/** Stripes that let the colour below through. */
const stripes = 12
const hatching = {
  gradient: 'linear',
  x1: 0,
  y1: 0,
  x2: 1,
  y2: 1,
  stops: Array.from({ length: stripes }, (_, at) => at / stripes).flatMap((from) => [
    { offset: from, color: 'transparent' },
    { offset: from + 0.5 / stripes, color: 'transparent' },
    { offset: from + 0.5 / stripes, color: paper.light },
    { offset: from + 1 / stripes, color: paper.light },
  ]),
}

/** Vega-Lite's configuration. `narrow` is for phones: shorter labels, fewer ticks. */
export function chartConfig(narrow: boolean): object {
  return {
    aria: false,
    background: null,
    font: drawingFont,
    view: { stroke: null },
    // For a layer over bars whose time is not over: { "mark": { "type": "bar", "style": "hatched" } }.
    style: { hatched: { color: hatching, opacity: 0.55 } },
    padding: { left: 4, top: 4, right: 12, bottom: 4 },
    autosize: { type: 'fit', contains: 'padding' },
    axis: {
      labelColor: muted.light,
      titleColor: muted.light,
      labelFontSize: 11,
      titleFontSize: 11,
      titleFontWeight: 'normal',
      titlePadding: 8,
      gridColor: grid.light,
      domainColor: grid.light,
      tickColor: grid.light,
      labelOverlap: true,
      labelLimit: narrow ? 90 : 160,
    },
    // Time labels differ in length and would touch.
    axisTemporal: { labelSeparation: 6 },
    axisX: { grid: false, tickCount: narrow ? 4 : 8 },
    axisY: { domain: false, ticks: false, tickCount: 5, labelPadding: 6 },
    legend: {
      orient: 'top',
      direction: 'horizontal',
      title: null,
      labelColor: ink.light,
      titleColor: muted.light,
      labelFontSize: 11,
      titleFontSize: 11,
      titleFontWeight: 'normal',
      labelLimit: narrow ? 170 : 200,
      symbolType: 'circle',
      symbolSize: 60,
      symbolStrokeWidth: 2,
      rowPadding: 3,
      columnPadding: 14,
      // Legends stand below each other, so that they never need more than the width.
      layout: { top: { direction: 'vertical', anchor: 'start', margin: 3 } },
      offset: 6,
    },
    range: {
      category: series.map((each) => each.light),
      ordinal: ramp.map((each) => each.light),
      ramp: ramp.map((each) => each.light),
      heatmap: ramp.map((each) => each.light),
    },
    mark: { tooltip: true, aria: false },
    line: { strokeWidth: 1.75, strokeCap: 'round', strokeJoin: 'round' },
    area: { opacity: 0.9 },
    bar: { color: series[0]!.light },
    rule: { color: muted.light },
    text: { color: ink.light, fontSize: 11 },
  }
}
