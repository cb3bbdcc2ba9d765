import type { z } from 'zod'
import { shownBaseUrl } from '../contract/base-url.ts'
import { nearest } from '../user/nearest.ts'
import { UserError } from '../user/user-error.ts'
import { items } from './loose.ts'

/** A place in a scenario: keys and indexes from its top. */
export type Path = readonly (string | number)[]

export interface ScenarioIssue {
  readonly path: Path
  /** 1-based; null if the scenario is a module. */
  readonly line: number | null
  readonly message: string
}

/** An issue whose line is not looked up yet. */
export type Found = Omit<ScenarioIssue, 'line'>

/** The issues of conditions that hold, each at the path or at a place below it: `[isWrong, message, 'field']`. */
export const foundIf = (
  path: Path,
  ...cases: readonly (readonly [isWrong: unknown, message: string, ...at: Path])[]
): readonly Found[] =>
  cases.flatMap(([isWrong, message, ...at]) =>
    isWrong ? [{ path: [...path, ...at], message }] : [],
  )

/**
 * A scenario that cannot be run, with all its issues.
 *
 * @example
 * try {
 *   parseScenario('name: n')
 * } catch (error) {
 *   if (!(error instanceof ScenarioError)) throw error
 *   for (const { line, message } of error.issues) console.error(line, message)
 * }
 */
export class ScenarioError extends UserError {
  override readonly name = 'ScenarioError'
  readonly issues: readonly ScenarioIssue[]

  constructor(path: string, issues: readonly ScenarioIssue[]) {
    const told = new Map(issues.map((issue) => [`${pathText(issue.path)} ${issue.message}`, issue]))
    const sorted = [...told.values()].sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
    const lines = sorted.map(({ line, path, message }) => {
      const place = [line === null ? '' : `line ${line}`, pathText(path)].filter((part) => part)
      return place.length === 0 ? `  ${message}` : `  ${place.join(', ')}: ${message}`
    })
    const count = sorted.length === 1 ? 'an error' : `${sorted.length} errors`
    super('scenario', [`${path} has ${count}:`, ...lines].join('\n'))
    this.issues = sorted
  }
}

export function pathText(path: Path): string {
  return path
    .map((key, at) => (typeof key === 'number' ? `[${key}]` : at === 0 ? key : `.${key}`))
    .join('')
}

/** A value for an error, at most 60 characters. */
export function show(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}

export function valueAt(data: unknown, path: Path): unknown {
  let value = data
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Record<string | number, unknown>)[key]
  }
  return value
}

/** `there is no field "raet"; did you mean "rate"?` */
export function unknownName(name: string, known: readonly string[], what: string): string {
  const meant = nearest(name, known)
  const list = known.length > 0 ? `known: ${known.join(', ')}` : 'there are none'
  return meant === null
    ? `there is no ${what} ${show(name)}; ${list}.`
    : `there is no ${what} ${show(name)}; did you mean ${show(meant)}?`
}

export function unknownNames(
  list: unknown,
  known: readonly string[],
  what: string,
  path: Path,
): readonly Found[] {
  return items(list).flatMap((name, at) =>
    typeof name === 'string' && !known.includes(name)
      ? [{ path: [...path, at], message: unknownName(name, known, what) }]
      : [],
  )
}

/** The parameter of an issue with the name of the field that the value must reach. */
export const lowerField = 'lowerField'

function lowerFieldOf(issue: z.core.$ZodIssue): string | null {
  const low: unknown = issue.code === 'custom' ? issue.params?.[lowerField] : null
  return typeof low === 'string' ? low : null
}

/** Zod's issues as ours, with the expected and the given value. Each unknown key is an issue. */
export function issuesOf(
  error: z.ZodError,
  data: unknown,
  lineOf: (path: Path) => number | null,
): readonly ScenarioIssue[] {
  return error.issues.flatMap((issue) => {
    const path = issue.path as Path
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        path: [...path, key],
        line: lineOf([...path, key]),
        message: unknownName(key, issue.message.split(','), 'field'),
      }))
    }
    const observed = valueAt(data, path)
    // A value under `keys` may be a key itself, where only its source belongs.
    const shown =
      path[0] === 'keys'
        ? 'something else, which is not shown here'
        : path[0] === 'base_url' && typeof observed === 'string'
          ? show(shownBaseUrl(observed))
          : show(observed)
    const low = lowerFieldOf(issue)
    const than = low === null ? '' : `, ${show(valueAt(data, [...path.slice(0, -1), low]))}`
    const message =
      observed === undefined
        ? `expected ${issue.message}, and it is missing.`
        : `expected ${issue.message}${than}; got ${shown}.`
    return [{ path, line: lineOf(path), message }]
  })
}
