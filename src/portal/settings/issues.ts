import type { z } from 'zod'

type Issue = z.core.$ZodIssue

/** What is wrong at one place of the settings. */
export interface SettingsIssue {
  /** The path; of a key that is unknown, with that key. */
  readonly place: readonly string[]
  readonly message: string
}

/** Of a file of a thousand accounts with the same fault, a reader needs some. */
const mostIssues = 100

/** The issues that are shown, and a sentence about the others; empty if all are. */
export function issuesOf({ issues }: z.ZodError): {
  readonly shown: readonly SettingsIssue[]
  readonly more: readonly string[]
} {
  const all = issues.flatMap((issue) => nearest(issue, []))
  const rest = all.length - mostIssues
  return { shown: all.slice(0, mostIssues), more: rest > 0 ? [`and ${rest} more`] : [] }
}

/** Of a value that fits no form, the issues of the form of its type: a text, a list, a mapping. */
function nearest(issue: Issue, above: readonly PropertyKey[]): readonly SettingsIssue[] {
  const path = [...above, ...issue.path]
  if (issue.code === 'invalid_union') {
    const forms = issue.errors.map((form) => form.flatMap((inner) => nearest(inner, path)))
    const isOfType = (at: number) => !issue.errors[at]!.every(isOtherType)
    const ofType = forms.find((_, at) => isOfType(at))
    if (ofType !== undefined) return ofType
  }
  const place = issue.code === 'unrecognized_keys' ? [...path, issue.keys[0]!] : path
  return [{ place: place.map(String), message: issue.message }]
}

const isOtherType = (issue: Issue): boolean =>
  issue.code === 'invalid_union'
    ? issue.errors.every((form) => form.every(isOtherType))
    : issue.code === 'invalid_type' && issue.path.length === 0
