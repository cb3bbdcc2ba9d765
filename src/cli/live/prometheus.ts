import type { TimeHistogram } from '../../run/count/time-histogram.ts'

type Labels = Readonly<Record<string, string>>
type Sample = readonly [Labels, number]

/** Upper bounds of buckets in seconds: those of OpenTelemetry for generation, and two lower ones. */
const bounds = [
  0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96,
  81.92,
]

/** A family of metrics as Prometheus text: a counter if its name ends with `_total`, else a gauge. Empty without samples. */
export function family(name: string, help: string, samples: readonly Sample[]): string {
  const type = name.endsWith('_total') ? 'counter' : 'gauge'
  return samples.length === 0
    ? ''
    : head(name, type, help) + samples.map(([labels, value]) => line(name, labels, value)).join('')
}

/** A family of histograms in seconds; each time counts as the lowest value of its cell, within 0.1 %. */
export function histogram(
  name: string,
  help: string,
  samples: readonly (readonly [Labels, TimeHistogram])[],
): string {
  if (samples.length === 0) return ''
  return (
    head(name, 'histogram', help) +
    samples.map(([labels, histogram]) => buckets(name, labels, histogram)).join('')
  )
}

function buckets(name: string, labels: Labels, histogram: TimeHistogram): string {
  const below = [...bounds, Infinity].map(() => 0)
  let [at, sumUs, seen] = [0, 0, 0]
  for (const [us, count] of histogram.filled()) {
    while (us > (bounds[at] ?? Infinity) * 1e6) at++
    below[at]! += count
    sumUs += us * count
  }
  return [
    ...bounds.map((bound, place) => {
      seen += below[place]!
      return line(`${name}_bucket`, { ...labels, le: String(bound) }, seen)
    }),
    line(`${name}_bucket`, { ...labels, le: '+Inf' }, histogram.samples),
    line(`${name}_sum`, labels, sumUs / 1e6),
    line(`${name}_count`, labels, histogram.samples),
  ].join('')
}

const head = (name: string, type: string, help: string) =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`
}

/** Escapes characters that could end a label or its line. */
const escaped = (text: string) =>
  text.toWellFormed().replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
