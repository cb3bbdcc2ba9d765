import { z } from 'zod'
import { lookup } from '../../user/lookup.ts'
import type { RouteName } from './openapi.ts'
import { Problem } from './problem.ts'
import { parameters } from './shapes.ts'

const lists = new Set(['model', 'key', 'endpoint', 'tag', 'outcome'])

/** @throws Problem 400 for a parameter that is unknown or wrong, so that a typo never widens a query */
export function parametersOf(name: RouteName, search: URLSearchParams): unknown {
  const shape = parameters[name]
  const given: Record<string, unknown> = lookup()
  for (const key of new Set(search.keys())) {
    if (!Object.hasOwn(shape.shape, key)) {
      throw new Problem(400, 'unknown-parameter', 'A parameter is unknown', {
        hint: `Known: ${Object.keys(shape.shape).join(', ') || 'none'}.`,
      })
    }
    const values = search.getAll(key)
    if (!lists.has(key) && values.length > 1)
      throw new Problem(400, 'bad-parameter', `${key} may stand once`)
    given[key] = lists.has(key) ? values : values[0]
  }
  const parsed = shape.safeParse(given)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]!
  const parameter = String(issue.path[0])
  const { description, examples } = z.toJSONSchema(
    shape.shape[parameter as keyof typeof shape.shape] as z.ZodType,
    { io: 'input' },
  )
  if (!Object.hasOwn(given, parameter)) {
    throw new Problem(400, 'missing-parameter', `${parameter} is missing`, {
      hint: [
        ...(description === undefined ? [] : [`${description}.`]),
        ...(Array.isArray(examples) ? [`For example, ${parameter}=${String(examples[0])}.`] : []),
      ].join(' '),
    })
  }
  const { title, hint } = said(parameter, issue)
  throw new Problem(400, 'bad-parameter', title, { hint })
}

/** What a check found, in the words of the API. */
function said(name: string, issue: z.core.$ZodIssue): { title: string; hint: string } {
  const wrong = `${name} has a value that is not known here`
  switch (issue.code) {
    case 'invalid_value':
      return { title: wrong, hint: `Known: ${issue.values.join(', ')}.` }
    case 'invalid_union': {
      const known = issue.errors.flat().flatMap((each) => ('values' in each ? each.values : []))
      return { title: wrong, hint: `Known: ${known.join(', ')}, and tag:NAME.` }
    }
    case 'too_big':
      if (issue.origin === 'array')
        return { title: `${name} stands too often`, hint: `It may stand ${issue.maximum} times.` }
      if (issue.origin === 'string')
        return { title: `${name} is too long`, hint: `It has ${issue.maximum} characters at most.` }
      return { title: `${name} is too large`, hint: `It is ${issue.maximum} at most.` }
    case 'too_small':
      return { title: `${name} is too small`, hint: `It is ${issue.minimum} at least.` }
    case 'invalid_type':
      return { title: `${name} is no whole number`, hint: `For example, ${name}=10.` }
    default:
      return { title: wrong, hint: 'The document at /openapi.json has what is known.' }
  }
}
