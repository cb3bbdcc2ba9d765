import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Batch, Dictionary, nullCount, nullWord } from '../../src/attempt/batch.ts'
import {
  type AttemptRow,
  attemptColumns,
  type Column,
  columnNames,
} from '../../src/attempt/columns.ts'

const anyValue = (column: Column): fc.Arbitrary<string | number | null> => {
  const values: Record<Column['kind'], fc.Arbitrary<string | number>> = {
    micros: fc.nat({ max: 2 ** 50 }),
    index: fc.nat({ max: 2 ** 50 }),
    number: fc.double({ noNaN: true }),
    count: fc.integer({ min: -(2 ** 31) + 1, max: 2 ** 31 - 1 }),
    bits: fc.nat({ max: 2 ** 32 - 1 }),
    word: fc.string({ maxLength: 40 }),
    text: fc.string({ unit: 'binary', maxLength: 40 }).filter((text) => text.isWellFormed()),
  }
  const value = values[column.kind]
  return column.nullable ? fc.option(value, { nil: null }) : value
}

const anyRow = fc.record(
  Object.fromEntries(columnNames.map((name) => [name, anyValue(attemptColumns[name])])),
) as unknown as fc.Arbitrary<AttemptRow>

test('a row that is pushed into a batch is read back unchanged', () => {
  fc.assert(
    fc.property(fc.array(anyRow, { minLength: 1, maxLength: 8 }), (rows) => {
      const batch = new Batch()
      const words = new Dictionary()
      for (const row of rows) batch.push(row, words)
      const list = words.takeNew()
      const back = rows.map((_, at) =>
        Object.fromEntries(
          columnNames.map((name) => {
            const cells = batch.columns[name]
            const cell = cells[at]!
            switch (attemptColumns[name].kind) {
              case 'word':
                return [name, cell === nullWord ? null : list[cell]]
              case 'count':
                return [name, cell === nullCount ? null : cell]
              case 'bits':
                return [name, cell]
              case 'text': {
                const [start, length] = [cells[at * 2]!, cells[at * 2 + 1]!]
                return [
                  name,
                  length < 0 ? null : batch.arena.toString('utf8', start, start + length),
                ]
              }
              default:
                return [name, Number.isNaN(cell) ? null : cell]
            }
          }),
        ),
      )
      expect(back).toEqual(rows)
    }),
  )
})

test('a text that no longer fits the arena becomes null, not a truncated string', () => {
  const batch = new Batch()
  const long = 'x'.repeat(40_000)
  batch.setText('responseId', 0, long)
  batch.setText('responseId', 1, long)
  batch.setText('responseId', 2, long)
  const lengths = [0, 1, 2].map((row) => batch.columns.responseId[row * 2 + 1])
  expect(lengths).toEqual([40_000, -1, -1])
})

test('a word list stops growing at its bound when a service sends endless new words', () => {
  const words = new Dictionary()
  const codes = Array.from({ length: 10_000 }, (_, index) => words.saidCodeOf(`word ${index}`))
  expect(new Set(codes).size).toBe(4097)
  expect(words.takeNew().at(-1)).toBe('(more)')
})

test('names of a scenario are whole and as many as it has; only words of the service are cut', () => {
  const words = new Dictionary()
  const long = 'n'.repeat(200)
  const names = ['a', 'b', ''].map((end) => `${long}${end}`)
  const codes = names.map((name) => words.codeOf(name))
  expect(words.takeNew()).toEqual(names)
  // A service that names the model that was asked for names the same; one that names another does not.
  expect(names.map((name) => words.saidCodeOf(name))).toEqual(codes)
  expect(words.takeNew()).toEqual([])
  expect(codes).not.toContain(words.saidCodeOf(`${long}c`))
  expect(words.takeNew()).toEqual([`${'n'.repeat(199)}…`])
  for (let at = 0; at < 9000; at++) words.saidCodeOf(`said ${at}`)
  const accounts = Array.from({ length: 9000 }, (_, at) => words.codeOf(`account ${at}`))
  expect(new Set(accounts).size).toBe(9000)
})

test('two models and accounts that differ late are two in a row, too', () => {
  const batch = new Batch()
  const words = new Dictionary()
  const base = fc.sample(anyRow, { numRuns: 1, seed: 1 })[0]!
  const long = 'm'.repeat(300)
  for (const end of ['a', 'b'])
    batch.push(
      { ...base, model: long + end, account: long + end, errorMessage: `e${long}${end}` },
      words,
    )
  const cells = (name: 'model' | 'account' | 'errorMessage') =>
    new Set(batch.columns[name].slice(0, 2)).size
  expect([cells('model'), cells('account'), cells('errorMessage')]).toEqual([2, 2, 1])
})

test('a word of ours is whole, also after the service said it as one too many or too long', () => {
  const dictionary = new Dictionary()
  const long = 'x'.repeat(301)
  const said = [dictionary.saidCodeOf(long), dictionary.codeOf(long)]
  for (let nth = 0; nth < 5000; nth++) dictionary.saidCodeOf(`message ${nth}`)
  const late = [dictionary.saidCodeOf('timeout'), dictionary.codeOf('timeout')]
  const words = dictionary.takeNew()
  expect(said.map((code) => words[code]!.length)).toEqual([200, 301])
  expect(late.map((code) => words[code])).toEqual(['(more)', 'timeout'])
  expect(dictionary.saidCodeOf('timeout')).toBe(dictionary.codeOf('timeout'))
})
