import { jsonEscape, withoutHostile } from '../../user/hostile.ts'

/** Makes a service's text safe for a terminal: hostile characters are shown as escapes. */
export function printable(text: string): string {
  return withoutHostile(text, (character) => {
    const code = character.codePointAt(0)!
    return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : jsonEscape(character)
  })
}
