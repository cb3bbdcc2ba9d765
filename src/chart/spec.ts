import { isObject } from '../user/json.ts'
import { userError } from '../user/user-error.ts'

/** A row of a query: values by column. Dates are drawn in UTC. */
export type ChartRow = Readonly<Record<string, unknown>>

/** JSON of an object, such as a specification of Vega-Lite or of Vega. */
export type Json = Readonly<Record<string, unknown>>

/** A Vega-Lite spec whose data is named `rows`, with its texts and sizes. */
export interface ChartSpec {
  /** States what the chart shows. */
  readonly title: string
  /** For screen readers: the quantities on the axes. */
  readonly description: string
  /** Replaces a picture without rows. */
  readonly empty: string
  readonly heightPx: number
  /** Height per name on the y axis, pixels, for charts that grow with their rows; null for a fixed height. */
  readonly stepPx?: number | null
  readonly vegaLite: Json
}

/**
 * Reads a `.vl.json` file: Vega-Lite, with the text of its empty state in `usermeta.empty`.
 *
 * @param from where the text comes from, for errors
 * @throws UserError with every issue of the file: no title, no description, an axis without a title, facets (they do
 * not fit a phone), data of its own (a page reads nothing from the network)
 */
export function parseChart(text: string, from: string): ChartSpec {
  let spec: unknown
  try {
    spec = JSON.parse(text)
  } catch (error) {
    throw userError.chart(`${from} is not JSON: ${error instanceof Error ? error.message : error}`)
  }
  if (!isObject(spec)) throw userError.chart(`${from}: expected a Vega-Lite object`)
  const { title, description, usermeta, height, ...rest } = spec
  const meta = isObject(usermeta) ? usermeta : {}
  const issues = [
    ...(typeof title === 'string' ? [] : ['"title" must say what is seen, as a string']),
    ...(typeof description === 'string'
      ? []
      : ['"description" must tell screen readers what is drawn, as a string']),
    ...(typeof meta.empty === 'string'
      ? []
      : ['"usermeta.empty" must be the text to show without rows, as a string']),
    ...['facet', 'repeat', 'concat', 'hconcat', 'vconcat', 'datasets']
      .filter((key) => Object.hasOwn(spec, key))
      .map((key) => `"${key}" is not supported: one chart is one view or one layer`),
    ...foreignData(rest, ''),
    ...untitledAxes(rest),
  ]
  if (issues.length > 0) throw userError.chart(`${from}:\n  ${issues.join('\n  ')}`)
  return {
    title: String(title),
    description: String(description),
    empty: String(meta.empty),
    heightPx: typeof height === 'number' ? height : 240,
    stepPx: typeof meta.stepPx === 'number' ? meta.stepPx : null,
    vegaLite: rest,
  }
}

/** Finds data other than the query's rows: a URL would make the page load it from the network. */
function foreignData(value: unknown, path: string): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((each, at) => foreignData(each, `${path}[${at}]`))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = path === '' ? key : `${path}.${key}`
    if (key === 'data' && isObject(inner) && inner.name !== 'rows') {
      return [`"${here}" must be { "name": "rows" }: rows come from the query next to the file`]
    }
    return key === 'url' ? [`"${here}" would load something`] : foreignData(inner, here)
  })
}

/** Axes without a title. */
function untitledAxes(spec: Json): readonly string[] {
  const views = [spec, ...(Array.isArray(spec.layer) ? spec.layer.filter(isObject) : [])]
  return (['x', 'y'] as const).flatMap((channel) => {
    const channels = views
      .map((view) => (isObject(view.encoding) ? view.encoding[channel] : undefined))
      .filter(isObject)
    if (channels.length === 0) return []
    const said = channels.some(
      (each) =>
        each.axis === null ||
        typeof each.title === 'string' ||
        (isObject(each.axis) && typeof each.axis.title === 'string'),
    )
    return said ? [] : [`"${channel}" must have a title, with its unit`]
  })
}
