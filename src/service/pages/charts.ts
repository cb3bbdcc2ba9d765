import type { ChartRow, ChartSpec } from '../../chart/spec.ts'

/** The bar of one hour or day. */
export interface Bar {
  /** Unique and in order: a date, or a local time with its offset. */
  readonly at: string
  readonly label: string
  readonly credits: number
}

interface Bars {
  readonly title: string
  readonly description: string
  readonly axis: string
  readonly bars: readonly Bar[]
  /** The bars whose labels are drawn. */
  readonly labelled: (bar: Bar) => boolean
}

/** Credits over time as bars. A range without use has a sentence in place of the bars. */
export function barChart({ title, description, axis, bars, labelled }: Bars): {
  readonly chart: ChartSpec
  readonly rows: readonly ChartRow[]
} {
  const used = bars.some((bar) => bar.credits !== 0)
  const shown = bars.filter(labelled)
  // A label is looked up by its index, so that no part of it is evaluated as an expression.
  const labels = { at: shown.map((bar) => bar.at), text: shown.map((bar) => bar.label) }
  return {
    rows: used ? bars.map(({ at, credits }) => ({ at, credits })) : [],
    chart: {
      title,
      description,
      empty: 'Nothing was used in this time.',
      heightPx: 190,
      vegaLite: {
        mark: { type: 'bar', cornerRadiusEnd: 2 },
        encoding: {
          x: {
            field: 'at',
            type: 'ordinal',
            sort: null,
            title: axis,
            scale: { paddingInner: 0.25, paddingOuter: 0.15 },
            axis: {
              values: labels.at,
              labelAngle: 0,
              labelExpr: `${JSON.stringify(labels.text)}[indexof(${JSON.stringify(labels.at)}, datum.value)]`,
            },
          },
          y: {
            field: 'credits',
            type: 'quantitative',
            title: 'credits',
            scale: { nice: 5 },
            axis: { tickMinStep: 1 },
          },
        },
      } as ChartSpec['vegaLite'],
    },
  }
}
