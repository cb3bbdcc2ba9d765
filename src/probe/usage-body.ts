import type { Grant } from '../contract/grant.ts'
import { fieldsOf, numeric } from '../credits/fields.ts'
import { saidIn } from '../credits/said.ts'
import { isObject, objectOf } from '../user/json.ts'

/** The figures in `GET /user/credits`, as far as known. The specification leaves its body open. */
export interface CreditsFigures {
  readonly consumed: number | null
  readonly remaining: number | null
  readonly requests: number | null
  readonly averageTokens: number | null
  readonly grants: readonly Grant[]
}

export const creditsFields = ['consumed', 'remaining', 'requests', 'averageTokens'] as const
export type CreditsField = (typeof creditsFields)[number]

/** Paths of the fields in a deployment's body: `usage.total`. */
export type CreditsFieldMap = Readonly<Partial<Record<CreditsField, string>>>

const deepest = 4
/** The store keeps smaller figures only; a larger one is not known. */
const beyond = 1e12

/** The figures of a body by the map, or else by their names. Null if missing or 10^12 and more. */
export function readCreditsBody(body: unknown, map: CreditsFieldMap = {}): CreditsFigures {
  const fields = fieldsOf(objectOf(body))
  const said = saidIn(fields)
  const figure = (name: CreditsField): number | null => {
    const path = map[name]
    const value =
      path === undefined ? said[name] : numeric(fields.find((field) => field.path === path)?.value)
    return value !== null && Math.abs(value) < beyond ? value : null
  }
  return {
    consumed: figure('consumed'),
    remaining: figure('remaining'),
    requests: figure('requests'),
    averageTokens: figure('averageTokens'),
    grants: grantsOf(body, 0),
  }
}

/** A list of objects that each have credits and an optional expiry. */
function grantsOf(value: unknown, depth: number): readonly Grant[] {
  if (depth > deepest) return []
  if (Array.isArray(value)) {
    const grants = value.map(grantOf)
    return grants.every((grant) => grant !== null) ? grants : []
  }
  if (!isObject(value)) return []
  for (const inner of Object.values(value)) {
    const grants = grantsOf(inner, depth + 1)
    if (grants.length > 0) return grants
  }
  return []
}

function grantOf(value: unknown): Grant | null {
  if (!isObject(value)) return null
  const fields = Object.entries(value).map(([name, inner]) => [letters(name), inner] as const)
  const left = fields
    .filter(([name]) => ['remaining', 'creditsremaining', 'left', 'creditsleft'].includes(name))
    .map(([, inner]) => numeric(inner))
    .find((amount) => amount !== null)
  const expiry = fields.find(([name]) => /^(expires(at|us|ms)?|expiry|expiresinus)$/.test(name))
  if (left == null || Math.abs(left) >= beyond || expiry === undefined) return null
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
