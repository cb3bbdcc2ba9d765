import { lookup } from '../user/lookup.ts'

/** Types of metrics in the Prometheus text format and in OpenMetrics; `untyped` if the text does not say. */
const types = ['counter', 'gauge', 'histogram', 'summary', 'untyped'] as const
export type MetricType = (typeof types)[number]

/** A value of one series at the time of the scrape. */
export interface MetricSample {
  /** As in the text, so that a histogram's are `…_bucket`, `…_sum` and `…_count`. */
  readonly name: string
  /** Name of the family, without `_total`. */
  readonly family: string
  readonly type: MetricType
  /** Sorted by name. */
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** A text that is no whole exposition: a page of HTML, a cut answer, a line that cannot be read. */
export class NotAnExposition extends Error {}

/** Suffixes of the samples of a family, by its type. */
const suffixes: Readonly<Record<MetricType, readonly string[]>> = {
  counter: ['_total'],
  gauge: [],
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['_sum', '_count'],
  untyped: [],
}

/**
 * Reads the Prometheus text format 0.0.4 and OpenMetrics 1.0. Timestamps, exemplars and `_created` series are left out.
 *
 * @throws NotAnExposition with the first line that cannot be read
 */
export function readExposition(text: string): readonly MetricSample[] {
  if (/^\s*[<{]/.test(text)) throw new NotAnExposition('it is no text of metrics')
  if (text !== '' && !text.endsWith('\n')) throw new NotAnExposition('its last line is cut off')
  const typeOf = new Map<string, MetricType>()
  const samples: MetricSample[] = []
  for (const line of text.split('\n')) {
    if (line.startsWith('#')) {
      const [, name, type] = /^#\s*TYPE\s+(\S+)\s+(\S+)/.exec(line) ?? []
      if (name !== undefined) typeOf.set(name, types.find((known) => known === type) ?? 'untyped')
    } else if (line.trim() !== '') {
      const read = sampleOf(line)
      const [family, type] = familyOf(read.name, typeOf)
      if (!read.name.endsWith('_created')) {
        samples.push({ ...read, family: family.replace(/_total$/, ''), type })
      }
    }
  }
  if (samples.length === 0) throw new NotAnExposition('it holds no metric')
  return samples
}

function familyOf(
  name: string,
  typeOf: ReadonlyMap<string, MetricType>,
): readonly [string, MetricType] {
  const own = typeOf.get(name)
  if (own !== undefined) return [name, own]
  for (const [, base, suffix] of [/^(.*)(_[a-z]+)$/.exec(name) ?? []]) {
    const type = typeOf.get(base ?? '')
    if (type !== undefined && suffixes[type].includes(suffix!)) return [base!, type]
  }
  return [name, name.endsWith('_total') ? 'counter' : 'untyped']
}

function sampleOf(line: string): Pick<MetricSample, 'name' | 'labels' | 'value'> {
  const unreadable = () =>
    new NotAnExposition(`it has the line ${JSON.stringify(line.slice(0, 80))}`)
  const name = /^[a-zA-Z_:][\w:]*/.exec(line)?.[0]
  if (name === undefined) throw unreadable()
  const labels: [string, string][] = []
  let at = name.length
  if (line[at] === '{') {
    at++
    const label = /\s*([a-zA-Z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*,?\s*/y
    while (line[at] !== '}') {
      label.lastIndex = at
      const found = label.exec(line)
      if (found === null) throw unreadable()
      labels.push([found[1]!, unescaped(found[2]!)])
      at = label.lastIndex
    }
    at++
  }
  const word = /^\s+(\S+)/.exec(line.slice(at))?.[1]
  const value = word === undefined ? undefined : numberOf(word)
  if (value === undefined) throw unreadable()
  return {
    name,
    labels: Object.fromEntries(labels.toSorted(([a], [b]) => (a < b ? -1 : 1))),
    value,
  }
}

const escapes: Readonly<Record<string, string>> = lookup({ '\\n': '\n', '\\"': '"', '\\\\': '\\' })

const unescaped = (text: string) => text.replace(/\\[n"\\]/g, (found) => escapes[found]!)

function numberOf(word: string): number | undefined {
  const inf = /^([+-]?)inf(?:inity)?$/i.exec(word)
  if (inf !== null) return inf[1] === '-' ? -Infinity : Infinity
  if (/^nan$/i.test(word)) return Number.NaN
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(word) ? Number(word) : undefined
}
