import { type Data, field, parse, type Scale, type Spec, View } from 'vega'
import { expressionInterpreter } from 'vega-interpreter'
import { isObject } from '../user/json.ts'
import { warningsInto } from './warnings.ts'

/** Scales that use the extent of their values. Other scales list the values, and may be empty. */
const continuous = new Set(['linear', 'log', 'pow', 'sqrt', 'symlog', 'time', 'utc'])

/**
 * Removes columns without values from each continuous scale, such as those of a layer without rows. Vega would warn
 * about their infinite extent and draw nothing for them.
 *
 * @returns null when an axis has no value left
 */
export function withoutEmptyDomains(spec: Spec): Spec | null {
  const scales = spec.scales ?? []
  const isMeasured = ({ type = 'linear' }: Scale) => continuous.has(type) || type === 'bin-ordinal'
  if (!scales.some(isMeasured)) return spec
  const warnings: string[] = []
  const hasValue = valuesOf(spec, warnings)
  // Without values, the width of bins is unknown.
  if (warnings.some((warning) => warning.startsWith('Infinite extent'))) return null
  const settled: Scale[] = []
  for (const scale of scales) {
    const kept = continuous.has(scale.type ?? 'linear')
      ? filled(scale.domain, hasValue)
      : scale.domain
    if (kept === null && (scale.name === 'x' || scale.name === 'y')) return null
    const { domain: _, ...rest } = scale
    settled.push((kept === null ? rest : { ...rest, domain: kept }) as Scale)
  }
  return { ...spec, scales: settled }
}

type HasValue = (data: string, column: string) => boolean

/** A domain without its empty columns; null if none is left. */
function filled(domain: unknown, hasValue: HasValue): unknown {
  if (!isObject(domain) || 'signal' in domain) return domain
  const { data, fields } = domain
  if (!Array.isArray(fields)) return isEmpty(domain, hasValue) ? null : domain
  const kept = fields.filter(
    (each) => !isEmpty(typeof each === 'string' ? { data, field: each } : each, hasValue),
  )
  return kept.length === 0 ? null : { ...domain, fields: kept }
}

function isEmpty(reference: unknown, hasValue: HasValue): boolean {
  return (
    isObject(reference) &&
    typeof reference.data === 'string' &&
    typeof reference.field === 'string' &&
    !hasValue(reference.data, reference.field)
  )
}

/** Runs only the data transforms of a spec, and reports which columns have a value. */
function valuesOf({ data, signals }: Spec, warnings: string[]): HasValue {
  const view = new View(
    parse({ data: data as Data[], signals: signals ?? [] }, undefined, { ast: true }),
    { expr: expressionInterpreter, renderer: 'none', logger: warningsInto(warnings) },
  ).run()
  const rows = new Map((data ?? []).map(({ name }) => [name, view.data(name) as readonly object[]]))
  view.finalize()
  return (name, column) => {
    const cellOf = field(column)
    return rows.get(name)?.some((row) => isFiniteValue(cellOf(row))) ?? true
  }
}

const isFiniteValue = (value: unknown) =>
  value !== null && value !== undefined && value !== '' && Number.isFinite(Number(value))
