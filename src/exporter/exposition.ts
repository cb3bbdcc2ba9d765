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

/** A text in quotes, as it is written. */
const quoted = String.raw`"((?:[^"\\]|\\.)*)"`
/** What a page of HTML or a JSON document begins with. A sample may begin with `{"name"`, followed by a comma or a brace. */
const otherText = new RegExp(String.raw`^\s*(?:<|\{(?!\s*${quoted}\s*[,}]))`)
const typeLine = new RegExp(String.raw`^#\s*TYPE\s+(?:${quoted}|(\S+))\s+(\S+)`)

/**
 * Reads the Prometheus text format 0.0.4, with the names in quotes of Prometheus 3, and OpenMetrics 1.0. Timestamps, exemplars and
 * the `_created` series of a family are left out.
 *
 * @throws NotAnExposition with the first line that cannot be read
 */
export function readExposition(text: string): readonly MetricSample[] {
  if (otherText.test(text)) throw new NotAnExposition('it is no text of metrics')
  if (text !== '' && !text.endsWith('\n')) throw new NotAnExposition('its last line is cut off')
  const typeOf = new Map<string, MetricType>()
  const samples: MetricSample[] = []
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line.startsWith('#')) {
      const [, name, plainName = unescaped(name ?? ''), type] = typeLine.exec(line) ?? []
      if (type !== undefined)
        typeOf.set(plainName, types.find((known) => known === type) ?? 'untyped')
    } else if (line !== '') {
      const read = sampleOf(line)
      const [family, type] = familyOf(read.name, typeOf)
      if (!isCreation(read.name, typeOf)) {
        samples.push({ ...read, family: family.replace(/_total$/, ''), type })
      }
    }
  }
  if (samples.length === 0) throw new NotAnExposition('it holds no metric')
  return samples
}

/** Whether it is when a series of another family began. Some exporters write a type for it. */
function isCreation(name: string, typeOf: ReadonlyMap<string, MetricType>): boolean {
  const base = name.replace(/_created$/, '')
  return base !== name && (typeOf.has(base) || typeOf.has(`${base}_total`))
}

function familyOf(
  name: string,
  typeOf: ReadonlyMap<string, MetricType>,
): readonly [string, MetricType] {
  const own = typeOf.get(name)
  if (own !== undefined) return [name, own]
  const [, base = '', suffix = ''] = /^(.*)(_[a-z]+)$/.exec(name) ?? []
  const type = typeOf.get(base)
  if (type !== undefined && suffixes[type].includes(suffix)) return [base, type]
  return [name, name.endsWith('_total') ? 'counter' : 'untyped']
}

/**
 * Parts of the line of a sample, with the blanks after each:
 *
 *     name { label = "text" , "label" = "text" } 1.5
 *     { "name" , label = "text" } 1.5
 */
const part = {
  name: /([a-zA-Z_:][\w:]*)(?=[\s{])\s*/y,
  open: /\{\s*/y,
  label: new RegExp(
    String.raw`(?:([a-zA-Z_]\w*)|${quoted})\s*(?:=\s*${quoted}\s*)?(?:,\s*|(?=\}))`,
    'y',
  ),
  close: /\}\s*/y,
  value: /(\S+)/y,
}

function sampleOf(line: string): Pick<MetricSample, 'name' | 'labels' | 'value'> {
  let at = 0
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const found = pattern.exec(line)
    if (found !== null) at = pattern.lastIndex
    return found
  }
  let name = next(part.name)?.[1]
  const labels: [string, string][] = []
  if (next(part.open) !== null) {
    while (next(part.close) === null) {
      const [, plainLabel, quotedLabel, said] = next(part.label) ?? unreadable(line)
      const label = plainLabel ?? unescaped(quotedLabel!)
      if (said !== undefined) labels.push([label, unescaped(said)])
      else if (plainLabel === undefined && name === undefined) name = label
      else unreadable(line)
    }
  }
  const value = numberOf(next(part.value)?.[1] ?? '')
  if (name === undefined || value === undefined) unreadable(line)
  return {
    name,
    labels: Object.fromEntries(labels.toSorted(([a], [b]) => (a < b ? -1 : 1))),
    value,
  }
}

function unreadable(line: string): never {
  throw new NotAnExposition(`it has the line ${JSON.stringify(line.slice(0, 80))}`)
}

const escapes: Readonly<Record<string, string>> = lookup({ '\\n': '\n', '\\"': '"', '\\\\': '\\' })

const unescaped = (text: string) => text.replace(/\\[n"\\]/g, (found) => escapes[found]!)

function numberOf(word: string): number | undefined {
  const inf = /^([+-]?)inf(?:inity)?$/i.exec(word)
  if (inf !== null) return inf[1] === '-' ? -Infinity : Infinity
  if (/^nan$/i.test(word)) return Number.NaN
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(word) ? Number(word) : undefined
}
