import { expect, test } from 'vitest'
import { corpusOf } from './corpus.ts'
import { targets } from './targets.ts'

test.each(targets.map((target) => [target.name, target] as const))(
  'what %s is meant to read, and what was once found, is read as by others or refused in words',
  (name, target) => {
    const wrong = corpusOf(name).flatMap(({ file, input }) => {
      const words = target.check(input)
      return words === null ? [] : [`${file}: ${words}`]
    })
    expect(wrong).toEqual([])
  },
)
