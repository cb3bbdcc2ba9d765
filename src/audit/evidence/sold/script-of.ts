import type { Script } from './slopes.ts'

const wordsAlone = /^[a-z]+(?: [a-z]+)*$/
const han = /\p{Script=Han}/gu
const sign = /[{}()[\];=<>_+.!&|]/g

/** What kind of text this is; words that have one token each are common ones. */
export function scriptOf(text: string, counted: number): Script {
  const words = wordsAlone.test(text) ? text.split(' ').length : 0
  if (words > 0 && counted <= words * 1.02 + 2) return 'words'
  const share = (pattern: RegExp) => (text.match(pattern)?.length ?? 0) / text.length
  if (share(han) > 0.5) return 'han'
  return share(sign) > 0.06 ? 'code' : 'prose'
}

/** The texts that repeat one word, with it and how often. */
export const repeatsIn = <Each extends { readonly text: string }>(texts: readonly Each[]) =>
  texts.flatMap((each) => {
    const repeated = repeatedWord(each.text)
    return repeated === null ? [] : [{ ...each, ...repeated }]
  })

/** The word of a text that repeats one word, and how often; null for any other text. */
function repeatedWord(text: string): { readonly word: string; readonly times: number } | null {
  const word = /^\s?(\S{1,40})(?=\s)/.exec(text)?.[1]
  if (word === undefined) return null
  const words = text.trim().split(/\s+/)
  return words.every((each) => each === word) ? { word, times: words.length } : null
}
