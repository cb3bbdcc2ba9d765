/**
 * Text of a service as it may be printed: control characters, terminal escapes and characters that
 * turn the direction of writing are shown, not obeyed.
 */
export function printable(text: string): string {
  return text.replace(unsafe, (character) => {
    const code = character.codePointAt(0)!
    return code < 256
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`
  })
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const unsafe = /[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g
