import { type Part, parts, promptOf } from '../../tokens/usage.ts'
import { largest, smallest } from '../../user/extremes.ts'
import { endedWords } from './ended-words.ts'
import { momentText, ordersOf } from './in-order.ts'
import type { Judged } from './judge.ts'

/** Nothing tells these requests from right ones that their cause would have changed. */
export const onlyThese = 'only these requests'

/** What some requests have in common, in words, and the numbers that were fitted to them: the moment of `from 12:00 on`. */
export interface Scope {
  readonly words: string
  readonly numbers: number
}

/**
 * What requests that a cause explains have in common, and those that it would have changed, and that are right, have not: `of streams`,
 * `of model big`. A cause with such a trait contradicts nothing.
 *
 * @param spared right ones that the cause would have changed
 * @returns no words without any, `only these requests` where no trait tells them apart
 */
export function scopeOf(fits: readonly Judged[], spared: readonly Judged[]): Scope {
  if (spared.length === 0) return { words: '', numbers: 0 }
  const trait = traitOf(fits, spared)
  if (trait !== null) return { words: trait, numbers: 0 }
  const side = sideOf(fits, spared)
  return side === null ? { words: onlyThese, numbers: 0 } : { words: side, numbers: 1 }
}

function traitOf(fits: readonly Judged[], spared: readonly Judged[]): string | null {
  for (const [trait, has] of traits) {
    if (fits.every(has) && !spared.some(has)) return trait
  }
  for (const [word, of] of names) {
    const value = of(fits[0]!)
    const isCommon = value !== null && fits.every((each) => of(each) === value)
    if (isCommon && !spared.some((each) => of(each) === value)) return `of ${word}${value}`
  }
  return null
}

const traits: readonly (readonly [string, (each: Judged) => boolean])[] = [
  ['of streams', ({ request }) => request.isStream],
  ['of plain answers', ({ request }) => !request.isStream],
  ['of amounts in another currency', ({ statement: { times } }) => times !== undefined],
  [
    'of requests by an alias',
    ({ request, expected }) => expected.readings[0]?.model.id !== request.requestedModel,
  ],
  ...innerParts().map(
    (part) =>
      [
        `of requests with ${part}`,
        ({ expected }: Judged) => (expected.readings[0]?.usage.parts[part] ?? 0) > 0,
      ] as const,
  ),
]

/** Parts that most requests do not have. */
function innerParts(): readonly Part[] {
  return parts.filter((part) => part !== 'input_uncached' && part !== 'output_visible')
}

const names: readonly (readonly [string, (each: Judged) => string | null])[] = [
  ['', ({ request }) => endedWords(request)],
  ['model ', ({ request }) => request.requestedModel],
  ['account ', ({ request }) => request.account],
  ['service tier ', ({ request }) => request.serviceTier],
]

/** A side that so many orders of these requests would have by chance is no trait. */
const rarer = 400

/** Requests before or after a moment, or with long or short prompts. Null if these are not so on their own, or may be by chance. */
function sideOf(fits: readonly Judged[], spared: readonly Judged[]): string | null {
  if (ordersOf(fits.length, spared.length, rarer) < rarer) return null
  for (const { of, words } of sides) {
    const [own, others] = [fits.map(of), spared.map(of)]
    const all = [...own, ...others]
    if (all.some((value) => value === null)) continue
    const [a, b] = [own as number[], others as number[]]
    if (smallest(a) > largest(b)) return words.from(smallest(a))
    if (largest(a) < smallest(b)) return words.before(smallest(b))
  }
  return null
}

const sides: readonly {
  readonly of: (each: Judged) => number | null
  readonly words: Readonly<Record<'from' | 'before', (edge: number) => string>>
}[] = [
  {
    of: ({ request }) => request.startMs,
    words: {
      from: (ms) => `of requests from ${momentText(ms)} on`,
      before: (ms) => `of requests before ${momentText(ms)}`,
    },
  },
  {
    of({ expected: { readings } }) {
      const parts = readings[0]?.usage.parts
      return parts === undefined ? null : promptOf(parts)
    },
    words: {
      from: (tokens) => `of prompts of ${tokens} tokens or more`,
      before: (tokens) => `of prompts of fewer than ${tokens} tokens`,
    },
  },
]
