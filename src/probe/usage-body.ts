import type { Grant } from '../contract/grant.ts'
import { fieldsOf, numeric } from '../credits/fields.ts'
import { grantsIn } from '../credits/grants.ts'
import { type SaidCredits, saidIn } from '../credits/said.ts'
import { objectOf } from '../user/json.ts'

/** The figures in `GET /user/credits`, as far as known. The specification leaves its body open. */
export interface CreditsFigures extends Pick<SaidCredits, CreditsField> {
  readonly grants: readonly Grant[]
}

export const creditsFields = ['consumed', 'remaining', 'requests', 'averageTokens'] as const
export type CreditsField = (typeof creditsFields)[number]

/** Paths of the fields in a deployment's body: `usage.total`. */
export type CreditsFieldMap = Readonly<Partial<Record<CreditsField, string>>>

/** The store keeps smaller figures only; a larger one is not known. */
const beyond = 1e12

/** The figures of a body by the map, or else by their names. Null if missing or 10^12 and more. */
export function readCreditsBody(body: unknown, map: CreditsFieldMap = {}): CreditsFigures {
  const fields = fieldsOf(objectOf(body))
  const said = saidIn(fields)
  const grants = grantsIn(body)
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
    grants: grants.every(({ credits }) => Math.abs(credits) < beyond) ? grants : [],
  }
}
