import { readFileSync } from 'node:fs'
import { asClassic } from '../user/classic-script.ts'
import type { Compiled } from './compile.ts'
import type { ChartRow, ChartSpec } from './spec.ts'
import { toCssVariables } from './theme.ts'

/** Data for the page's runtime, which draws a chart over its static drawing. */
export interface InteractiveChart {
  /** Vega specs with an empty data set `rows`, as JSON text. The phone's has a folded legend. */
  readonly desk: string
  readonly phone: string
  readonly columns: readonly string[]
  /** Columns with times in milliseconds. */
  readonly times: readonly string[]
  /** For a column with text: its distinct values; the cells are indexes into them. Null for other columns. */
  readonly words: readonly (readonly unknown[] | null)[]
  /** Cells in the order of `columns`, half the bytes of objects. */
  readonly rows: readonly (readonly unknown[])[]
}

/**
 * The data of an active chart for the page's runtime, from its specs for a desktop and for a phone.
 *
 * @param chart made by `activeChart`; `desk` and `phone` are compiled from it and the same rows
 */
export function interactiveChart(
  chart: ChartSpec,
  deskSpec: Compiled,
  phoneSpec: Compiled,
): InteractiveChart {
  const [desk, phone] = [emptied(deskSpec), emptied(phoneSpec)]
  const columns = Object.keys(desk.rows[0] ?? {})
  return {
    desk: desk.spec,
    phone: phone.spec,
    columns,
    times: columns.filter((name) => momentsOf(chart).includes(name)),
    ...cellsOf(desk.rows, columns),
  }
}

/** Stores each text once. Labels of hours repeat in every series; this makes a page a tenth smaller. */
function cellsOf(
  rows: readonly ChartRow[],
  columns: readonly string[],
): Pick<InteractiveChart, 'words' | 'rows'> {
  const places = columns.map((name) =>
    rows.some((row) => typeof row[name] === 'string') ? new Map<unknown, number>() : null,
  )
  const cells = rows.map((row) =>
    columns.map((name, at) => {
      const known = places[at]
      if (known == null) return row[name]
      if (!known.has(row[name])) known.set(row[name], known.size)
      return known.get(row[name])
    }),
  )
  return { words: places.map((known) => known && [...known.keys()]), rows: cells }
}

/** Takes the rows out of a compiled spec: both specs of a chart share them. */
function emptied({ spec }: Compiled): {
  readonly spec: string
  readonly rows: readonly ChartRow[]
} {
  const data = (spec.data ?? []) as readonly { name: string; values?: ChartRow[] }[]
  const held = data.find((each) => each.name === 'rows')
  const withoutRows = data.map((each) => (each === held ? { ...each, values: [] } : each))
  return {
    spec: toCssVariables(JSON.stringify({ ...spec, data: withoutRows })),
    rows: held?.values ?? [],
  }
}

/**
 * The script of the page: Vega as published, its expression interpreter (the page's policy forbids `eval`), and
 * `browser.js`. It is inline and needs no network.
 */
export function interactiveRuntime(): string {
  const vega = readFileSync(publishedFile('vega', 'vega.min.js'), 'utf8')
  const drawing = readFileSync(new URL('../../src/chart/browser.js', import.meta.url), 'utf8')
  return `${withoutSourceMap(vega)}\n${interpreterScript()}\n${asClassic(drawing)}`
}

/** A file of a library, as published: its own in a checkout, and a copy in the package, which holds what it needs of both. */
function publishedFile(library: string, file: string): URL {
  const isBuilt = import.meta.url.endsWith('.js')
  return new URL(file, isBuilt ? import.meta.url : import.meta.resolve(library))
}

/** The interpreter is published only as a module, but the page has one classic script. */
function interpreterScript(): string {
  const source = withoutSourceMap(
    readFileSync(publishedFile('vega-interpreter', 'vega-interpreter.js'), 'utf8'),
  )
  const body = source
    .replace(/^import \{([^}]*)\} from 'vega-util';$/m, 'const {$1} = vega;')
    .replace(/^export \{ expression as expressionInterpreter \};$/m, 'return expression;')
  if (/^(import|export)\b/m.test(body)) {
    throw new Error('vega-interpreter changed its imports or exports; see interpreterScript')
  }
  return `const vegaExpression = (() => {\n${body}\n})();`
}

const withoutSourceMap = (script: string) => script.replace(/^\/\/# sourceMappingURL=.*$/m, '')

type Json = Record<string, unknown>
type View = Json & { encoding?: Record<string, Json>; mark?: unknown }

/**
 * The chart with interactions: hover, a legend that filters, and zoom along a continuous x axis (drag, or the wheel with
 * Ctrl or Shift; the wheel alone scrolls the page). Its drawing is the same until a reader acts.
 */
export function activeChart(chart: ChartSpec): ChartSpec {
  const spec = structuredClone(chart.vegaLite) as View & { layer?: View[] }
  const views = spec.layer ?? [spec]
  const main = views.find((view) => view.encoding?.color?.field !== undefined) ?? views[0]
  if (main === undefined) return chart
  const shared = spec.encoding ?? {}
  const x = main.encoding?.x ?? shared.x
  const color = main.encoding?.color ?? shared.color
  const params: Json[] = []
  if (zoomable(x)) {
    params.push({
      name: 'zoom',
      select: {
        type: 'interval',
        encodings: ['x'],
        zoom: 'wheel![event.ctrlKey || event.shiftKey]',
      },
      bind: 'scales',
    })
    // Without a clip, a zoomed line leaves its frame.
    for (const view of views) view.mark = clipped(view.mark)
  }
  if (color?.type === 'nominal' && typeof color.field === 'string' && color.legend !== null) {
    params.push({ name: 'pick', select: { type: 'point', fields: [color.field] }, bind: 'legend' })
    main.encoding = {
      ...main.encoding,
      opacity: { condition: { param: 'pick', value: 1 }, value: 0.12 },
    }
  }
  main.params = params
  return { ...chart, vegaLite: spec }
}

function momentsOf({ vegaLite }: ChartSpec): readonly unknown[] {
  const spec = vegaLite as View & { layer?: View[] }
  const channels = [spec, ...(spec.layer ?? [])].flatMap(({ encoding }) =>
    Object.values(encoding ?? {}),
  )
  return channels.filter(({ type }) => type === 'temporal').map(({ field }) => field)
}

function zoomable(x: Json | undefined): boolean {
  return (
    x !== undefined && (x.type === 'quantitative' || x.type === 'temporal') && x.bin === undefined
  )
}

const clipped = (mark: unknown): unknown =>
  typeof mark === 'string' ? { type: mark, clip: true } : { ...(mark as Json), clip: true }
