import { expect, test } from 'vitest'
import { corpusOf } from './corpus.ts'
import { targets } from './targets.ts'

test.each(targets.map((target) => [target.name, target] as const))(
  '%s reads its corpus and every earlier finding like other readers, or refuses it with an error',
  (name, target) => {
    const wrong = corpusOf(name).flatMap(({ file, input }) => {
      const words = target.check(input)
      return words === null ? [] : [`${file}: ${words}`]
    })
    expect(wrong).toEqual([])
  },
)
