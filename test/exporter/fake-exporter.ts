import type { ServerResponse } from 'node:http'

/** Families of one kind of service, as its documentation names them, with counts that a test sets. */
export interface Exposed {
  readonly counters?: Readonly<Record<string, number>>
  readonly gauges?: Readonly<Record<string, number>>
  /** Values in seconds, by family. */
  readonly histograms?: Readonly<Record<string, readonly number[]>>
}

const edges = [0.3, 0.5, 1, 10, Infinity]

/** The text format of these, with `labels` on each series. */
export function expositionOf(
  { counters = {}, gauges = {}, histograms = {} }: Exposed,
  labels = '',
): string {
  const braces = labels === '' ? '' : `{${labels}}`
  const lines: string[] = []
  for (const [name, value] of Object.entries(counters)) {
    lines.push(`# TYPE ${name} counter`, `${name}${name.includes('{') ? '' : braces} ${value}`)
  }
  for (const [name, value] of Object.entries(gauges)) {
    lines.push(`# TYPE ${name} gauge`, `${name}${braces} ${value}`)
  }
  for (const [name, values] of Object.entries(histograms)) {
    lines.push(`# TYPE ${name} histogram`)
    for (const edge of edges) {
      const le = edge === Infinity ? '+Inf' : edge
      const count = values.filter((value) => value <= edge).length
      lines.push(`${name}_bucket{${labels}${labels === '' ? '' : ','}le="${le}"} ${count}`)
    }
    lines.push(`${name}_sum${braces} ${values.reduce((a, b) => a + b, 0)}`)
    lines.push(`${name}_count${braces} ${values.length}`)
  }
  return `${lines.join('\n')}\n`
}

export function answerMetrics(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' })
  response.end(text)
}
