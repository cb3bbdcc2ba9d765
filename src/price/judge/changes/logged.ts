import type { LoggedTokens } from '../../../contract/prices.ts'
import { inputParts, outputParts, type Parts, type Usage } from '../../../tokens/usage.ts'
import type { LoggedOf } from '../price-judge.ts'
import { type Change, onTerms } from './change.ts'

/** Costs by the counts of the log, where they differ from those of the answer: alone, or with each of `changes`. */
export function loggedChanges(loggedOf: LoggedOf, changes?: readonly Change[]): readonly Change[] {
  const counts = (request: Parameters<LoggedOf>[0], usage: Usage) => {
    const logged = loggedOf(request)
    return logged === null ? null : withLogged(usage, logged)
  }
  if (changes !== undefined)
    return changes.map(({ summary, about, costOf }) => ({
      summary: `${summary}, by the counts of the log`,
      about,
      costOf(request, model, usage, context) {
        const logged = counts(request, usage)
        return logged === null ? null : costOf(request, model, logged, context)
      },
    }))
  return [
    onTerms(
      'the counts of the log, which are not those of the answer',
      'usage',
      (right, request) => {
        const usage = counts(request, right.usage)
        return usage && { usage }
      },
    ),
  ]
}

/** The usage with the counts of the log; null if they are the same. */
function withLogged({ parts, ...usage }: Usage, logged: LoggedTokens): Usage | null {
  const read = logged.cache_read ?? parts.cache_read
  const reasoning = logged.reasoning ?? parts.reasoning
  const inner: Partial<Parts> = {
    input_uncached: 0,
    cache_read: read,
    ...loggedWrites(parts, logged),
    output_visible: 0,
    reasoning,
  }
  const left = (whole: number | null, inner: readonly (number | null)[], own: number | null) =>
    whole === null ? own : Math.max(0, whole - inner.reduce<number>((sum, n) => sum + (n ?? 0), 0))
  const changed: Parts = {
    ...parts,
    ...inner,
    input_uncached: left(
      logged.prompt,
      inputParts.map((part) => inner[part] ?? parts[part]),
      parts.input_uncached,
    ),
    output_visible: left(
      logged.completion,
      outputParts.map((part) => inner[part] ?? parts[part]),
      parts.output_visible,
    ),
  }
  const isSame = Object.entries(changed).every(
    ([part, count]) => (count ?? 0) === (parts[part as keyof Parts] ?? 0),
  )
  return isSame ? null : { ...usage, parts: changed }
}

/** The writes of the log by their life. Its one count may be that of all writes. */
function loggedWrites(
  own: Parts,
  { cache_write: some, cache_write_1h: hour }: LoggedTokens,
): Pick<Parts, 'cache_write' | 'cache_write_1h'> {
  const ownAll = own.cache_write === null ? null : own.cache_write + (own.cache_write_1h ?? 0)
  const oneHour = hour ?? own.cache_write_1h
  if (some === null) return { cache_write: own.cache_write, cache_write_1h: oneHour }
  const isAll = some === ownAll || hour === null
  return { cache_write: isAll ? Math.max(0, some - (oneHour ?? 0)) : some, cache_write_1h: oneHour }
}
