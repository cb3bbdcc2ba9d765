import { isObject } from '../user/json.ts'
import { numeric } from './fields.ts'

/** A grant as an answer of the credits endpoint says it. */
export interface SaidGrant {
  readonly name: string
  /** What is left of it. */
  readonly credits: number
  /** Unix microseconds; null if it never expires. */
  readonly expiresUs: number | null
}

const deepest = 4

/** The first list of objects that each have credits left and an expiry. */
export function grantsIn(value: unknown, depth = 0): readonly SaidGrant[] {
  if (depth > deepest) return []
  if (Array.isArray(value)) {
    const grants = value.map(grantOf)
    return grants.every((grant) => grant !== null) ? grants : []
  }
  if (!isObject(value)) return []
  for (const inner of Object.values(value)) {
    const grants = grantsIn(inner, depth + 1)
    if (grants.length > 0) return grants
  }
  return []
}

function grantOf(value: unknown): SaidGrant | null {
  if (!isObject(value)) return null
  const fields = Object.entries(value).map(([name, inner]) => [letters(name), inner] as const)
  const left = fields
    .filter(([name]) => ['remaining', 'creditsremaining', 'left', 'creditsleft'].includes(name))
    .map(([, inner]) => numeric(inner))
    .find((amount) => amount !== null)
  const expiry = fields.find(([name]) => /^(expires(at|us|ms)?|expiry|expiresinus)$/.test(name))
  if (left == null || expiry === undefined) return null
  const expiresUs = momentUs(expiry[1])
  // What nobody can read is not "never".
  if (expiresUs === undefined) return null
  const label = fields.find(([name]) =>
    ['name', 'package', 'source', 'kind', 'note'].includes(name),
  )
  return {
    name: typeof label?.[1] === 'string' ? label[1] : 'grant',
    credits: left,
    expiresUs,
  }
}

/**
 * ISO text, of UTC if it names no zone, or Unix seconds, milliseconds or microseconds, depending on size. Null if there is none, as
 * `null`, an empty text or `never` say; undefined if nobody can read it.
 */
function momentUs(value: unknown): number | null | undefined {
  if (value === undefined || value === null || value === '') return null
  const number = numeric(value)
  if (number !== null) return number < 1e11 ? number * 1e6 : number < 1e14 ? number * 1e3 : number
  if (typeof value !== 'string') return undefined
  if (/^(?:never|none)$/i.test(value)) return null
  const hasZone = /(?:Z|[A-Z]{3}|[+-]\d\d:?\d\d)$/i.test(value) || !/\d:\d/.test(value)
  const ms = Date.parse(hasZone ? value : `${value}Z`)
  return Number.isFinite(ms) ? ms * 1000 : undefined
}

const letters = (name: string): string => name.replace(/[^A-Za-z]/g, '').toLowerCase()
