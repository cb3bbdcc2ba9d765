/** The lines of a stored head, `name: value` each, with names in lower case. */
export const headerLines = (
  head: string | null | undefined,
): readonly (readonly [name: string, value: string])[] =>
  (head ?? '').split('\n').flatMap((line) => {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon)).trim().toLowerCase()
    return colon <= 0 ? [] : [[name, line.slice(colon + 1).trim()] as const]
  })
