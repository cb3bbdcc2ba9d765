import { compile, type TopLevelSpec } from 'vega-lite'
import { withoutHostile } from '../user/hostile.ts'
import { withoutEmptyDomains } from './domains.ts'
import type { ChartRow, ChartSpec, Json } from './spec.ts'
import { chartConfig } from './theme.ts'
import { tidy } from './tidy.ts'
import { warningsInto } from './warnings.ts'

export interface Size {
  readonly widthPx: number
  /** The spec's own height if absent. */
  readonly heightPx?: number
}

/** Drawings below this width are for phones. */
const narrowBelowPx = 480

/** A Vega spec with its rows, and the warnings of Vega-Lite. */
export interface Compiled {
  readonly spec: Json
  readonly warnings: readonly string[]
}

/**
 * Compiles Vega-Lite to Vega. The chart's title is omitted: pages set it as text, pictures add it.
 *
 * @returns null when there is nothing to draw: no row, or no value for an axis
 */
export function compileChart(
  chart: ChartSpec,
  rows: readonly ChartRow[],
  size: Size,
): Compiled | null {
  if (rows.length === 0) return null
  const warnings: string[] = []
  const narrow = size.widthPx < narrowBelowPx
  // Scales name the values of rows, so both take the same text.
  const shown = rows.map(plain)
  const whole: Json = {
    ...tidy(chart.vegaLite, shown, size.widthPx),
    width: size.widthPx,
    height: size.heightPx ?? heightOf(chart, shown),
    data: { name: 'rows' },
    datasets: { rows: shown },
  }
  const compiled = compile(whole as unknown as TopLevelSpec, {
    config: chartConfig(narrow),
    logger: warningsInto(warnings),
  })
  const spec = withoutEmptyDomains(compiled.spec)
  return spec === null ? null : { spec: { ...spec }, warnings }
}

/** Height of axis, legend and title, for charts that grow with their rows. */
const besideStepsPx = 84

function heightOf({ stepPx, heightPx, vegaLite }: ChartSpec, rows: readonly ChartRow[]): number {
  if (stepPx === null || stepPx === undefined) return heightPx
  const view = vegaLite as { encoding?: Channels; layer?: readonly { encoding?: Channels }[] }
  const field = (view.encoding ?? view.layer?.[0]?.encoding)?.y?.field
  const names = new Set(field === undefined ? [] : rows.map((row) => row[field]))
  return besideStepsPx + stepPx * names.size
}

type Channels = Readonly<Record<string, { readonly field?: string } | undefined>>

/** Converts values for Vega: dates to milliseconds, bigint to number, strings without control codes. */
const plain = (row: ChartRow): ChartRow =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plainValue(value)]))

const longestLabel = 120

function plainValue(value: unknown): unknown {
  if (value instanceof Date) return value.getTime()
  if (typeof value === 'bigint') return Number(value)
  // 1.9 instead of 1.9000000000000001.
  if (typeof value === 'number') return Number(value.toPrecision(15))
  if (typeof value !== 'string') return value
  const visible = withoutHostile(value, () => '\ufffd')
  // Vega looks names up in plain objects, where `constructor` is something else. The joiner has no width.
  if (Object.hasOwn(Object.prototype, visible)) return `${visible}\u2060`
  return visible.length > longestLabel ? `${visible.slice(0, longestLabel)}…` : visible
}
