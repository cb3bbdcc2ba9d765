/** Parses Prometheus text as a scraper does, by the rules of format 0.0.4. */
export interface Family {
  readonly type: string
  readonly help: string
  readonly samples: readonly {
    readonly name: string
    readonly labels: Map<string, string>
    readonly value: number
  }[]
}

const nameRule = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const label = '([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\\\\n]|\\\\[\\\\"n])*)"'
const sampleRule = new RegExp(`^(${nameRule})(?:\\{(${label}(?:,${label})*)\\})? (\\S+)$`)

/** @throws Error for a line that is not in the format, and for a family that breaks its rules */
export function readPrometheus(text: string): ReadonlyMap<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const families = new Map<string, Family & { samples: Family['samples'][number][] }>()
  let now = ''
  let help = ''
  for (const line of text.slice(0, -1).split('\n')) {
    const told = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line)
    if (told?.[1] === 'HELP') {
      help = told[3]!
    } else if (told?.[1] === 'TYPE') {
      now = told[2]!
      if (families.has(now)) throw new Error(`${now} begins twice`)
      families.set(now, { type: told[3]!, help, samples: [] })
    } else {
      const [, name, labels = ''] = sampleRule.exec(line) ?? []
      if (name === undefined) throw new Error(`no sample: ${line}`)
      const { type, samples } = families.get(now)!
      const endings = type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
      if (!endings.some((ending) => name === now + ending)) throw new Error(`${name} is in ${now}`)
      if (type === 'counter' && !name.endsWith('_total')) throw new Error(`${name} counts`)
      const value = Number(line.slice(line.lastIndexOf(' ') + 1))
      if (Number.isNaN(value)) throw new Error(`no number: ${line}`)
      const read = [...labels.matchAll(new RegExp(label, 'g'))].map(
        ([, of, words]) =>
          [of!, words!.replace(/\\(.)/g, (_, sign) => (sign === 'n' ? '\n' : sign))] as const,
      )
      samples.push({ name, labels: new Map(read), value })
    }
  }
  for (const [name, family] of families) if (family.type === 'histogram') mustAddUp(name, family)
  return families
}

/** Buckets increase up to +Inf, which holds the total count. */
function mustAddUp(name: string, { samples }: Family): void {
  const series = new Map<string, number[]>()
  for (const sample of samples) {
    const key = JSON.stringify([...sample.labels].filter(([label]) => label !== 'le'))
    const values = series.get(key) ?? []
    series.set(key, values)
    if (sample.name === `${name}_bucket`) {
      if (sample.value < (values.at(-1) ?? 0)) throw new Error(`${name}: buckets fall`)
      values.push(sample.value)
    }
    if (sample.name === `${name}_count` && sample.value !== values.at(-1)) {
      throw new Error(`${name}: the count is not the last bucket`)
    }
  }
}
