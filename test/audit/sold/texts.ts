/** Texts of three scripts and four sizes, as the scenario for integrity sends them. */

export const words =
  'time year people way day man thing woman life child world school state family'.split(' ')
const signs = ['{', '}', '(', ');', ' = ', ' => ', '\n  ', '.', '[0]']
const han = '的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出'

/** A text of about so many tokens, another for each seed. */
export function textOf(script: string, size: number, seed: number): string {
  const pick = <T>(list: ArrayLike<T>, at: number) =>
    list[(at * 7919 + seed * 104_729 + at ** 2) % list.length]!
  const all = Array.from({ length: script === 'code' ? size / 2 : size }, (_, at) =>
    script === 'words'
      ? (at === 0 ? '' : ' ') + pick(words, at)
      : script === 'code'
        ? pick(words, at) + pick(signs, at)
        : pick(han, at) + (at % 40 === 39 ? '。\n' : ''),
  )
  return all.join('')
}

const sizes = [64, 1_024, 2_048, 4_096]
export const audited = ['words', 'code', 'han'].flatMap((script) =>
  sizes.flatMap((size) => [1, 2].map((seed) => textOf(script, size, seed))),
)

/** One word, 500 and 1,500 times, for six words. */
export const repeated = words
  .slice(0, 6)
  .flatMap((word) => [500, 1_500].map((times) => Array(times).fill(word).join(' ')))
