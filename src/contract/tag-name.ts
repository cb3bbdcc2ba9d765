/** A request has at most so many own dimensions (`src/measure/usage/tags.ts`). */
export const mostTags = 5
const longestName = 50

/** Why a text is no name of a tag; null if it is one. */
export function tagNameProblem(name: string): string | null {
  if (name.length < 1 || name.length > longestName)
    return `expected a name of 1 to ${longestName} characters`
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
  return /[\u0000-\u001f\u007f:=,]/.test(name)
    ? 'expected a name without control characters and the signs : = ,'
    : null
}
