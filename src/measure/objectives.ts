import type { LimitSql } from './limit.ts'
import { columnOf, type MeasureName } from './measures.ts'

/** The measure that each objective of a scenario bounds. */
const objectives = {
  ttftUs: 'ttft',
  tpotUs: 'tpot',
  serviceUs: 'service',
  responseUs: 'response',
} as const satisfies Record<string, MeasureName>
export type ObjectiveName = keyof typeof objectives
export const objectiveNames = Object.keys(objectives) as readonly ObjectiveName[]

/**
 * SQL: whether a row of `attempt_values` is good, a success that met every objective, whose answer is not
 * known to be wrong or unchecked, and that is not empty. An objective that a row cannot have (TTFT of a plain body) is
 * met; one that it has, but that is not known (TPOT of a stream without token counts, or a limit by length of a request
 * without token counts), is not.
 *
 * @param boundOf SQL of each bound; null for none
 */
export const goodSql = (boundOf: Bounds): string => met(boundOf, 'coalesce(correct, true)', false)

/** SQL: whether a row that is not good would be, if what is not known of it were as it should be. */
export function maybeGoodSql(boundOf: Bounds): string {
  const open = [
    `coalesce(answer = 'unchecked', false)`,
    ...objectiveNames.flatMap((name) => unknownOf(boundOf, name)),
  ]
  const isCorrect = `coalesce(answer IN ('correct', 'unchecked'), true)`
  return `((${open.join(' OR ')}) AND ${met(boundOf, isCorrect, true)})`
}

type Bounds = (name: ObjectiveName) => LimitSql | null

/** SQL: how a row may have an objective of which it is not known whether it meets it. */
function unknownOf(boundOf: Bounds, name: ObjectiveName): readonly string[] {
  const bound = boundOf(name)
  if (bound === null) return []
  return [
    ...(name === 'tpotUs' ? ['untimed'] : []),
    ...(bound.isUnknown === 'false'
      ? []
      : [`(${columnOf(objectives[name])} IS NOT NULL AND ${bound.isUnknown})`]),
  ]
}

/** @param ifUnknown whether a row meets an objective of which that is not known */
function met(boundOf: Bounds, isCorrect: string, ifUnknown: boolean): string {
  const within = objectiveNames.flatMap((name) => {
    const bound = boundOf(name)
    if (bound === null) return []
    const unknown = ifUnknown ? [] : unknownOf(boundOf, name)
    const unless = unknown.length === 0 ? 'true' : `NOT (${unknown.join(' OR ')})`
    return [`coalesce(${columnOf(objectives[name])} <= ${bound.us}, ${unless})`]
  })
  return `(${['succeeded', 'NOT empty', isCorrect, ...within].join(' AND ')})`
}
