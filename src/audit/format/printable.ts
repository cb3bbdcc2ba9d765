import { jsonEscape, withoutHostile } from '../../user/hostile.ts'

/** Text of a service as a terminal may print it: hostile characters are shown, not obeyed. */
export function printable(text: string): string {
  return withoutHostile(text, (character) => {
    const code = character.codePointAt(0)!
    return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : jsonEscape(character)
  })
}
