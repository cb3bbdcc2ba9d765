import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

/**
 * Names of models, keys, accounts, fields and units are written by others. An object literal also has `constructor`,
 * `toString` and `__proto__`, so none of them is looked up in one: a table of our words is a `lookup` (src/user/lookup.ts) or a
 * Map, and whether a name is there is asked with `Object.hasOwn`.
 */
const source = resolve(import.meta.dirname, '../src')
const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.[jt]s$/.test(file))
  .map((file) => ({ file, text: codeOf(readFileSync(join(source, file), 'utf8')) }))

/** A text without its comments, and with empty strings. */
function codeOf(text: string): string {
  return text.replace(
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g,
    (part) => (part.startsWith('/') ? '' : "''"),
  )
}

test('tables of our words have no words of the language', { tags: 'whole' }, () => {
  const found = files.flatMap(({ file, text }) =>
    [
      ...text.matchAll(
        /(?:const|let) (\w+)\s*:\s*(?:Readonly<|Partial<)*Record<string\b[^={]*=\s*\(*\{/g,
      ),
    ]
      .map(([, name]) => name!)
      .filter((name) =>
        files.some((other) => {
          const isSeen =
            other.file === file || new RegExp(`import [^;]*\\b${name}\\b[^;]*from`).test(other.text)
          // A text in the brackets is our own.
          return isSeen && new RegExp(`(?<![.\\w])${name}\\[(?!'')`).test(other.text)
        }),
      )
      .map((name) => `${file}: ${name}`),
  )
  expect(found).toEqual([])
})

/** Looked up by one of a few words of ours, as the compiler checks. */
const ofOurWords = [
  'price/judge/expected.ts: [clock]',
  'report/focus/charges.ts: [type]',
  'report/focus/check.ts: [sign]',
  'report/focus/export-focus.ts: [type]',
  ...Array(3).fill('report/usage/engine/queries.ts: [pair]'),
  'store/files/export.ts: [packed]',
  // Of a type.
  'tokens/kinds.ts: [TokenName]',
]

test('nothing of others is looked up in an object literal on the spot', () => {
  const found = files.flatMap(({ file, text }) =>
    [...text.matchAll(/\}\)?(\[[a-zA-Z_][\w.]*!?\])/g)].map(([, place]) => `${file}: ${place}`),
  )
  expect(found.toSorted()).toEqual(ofOurWords)
})

test('whether a name is there is not asked of what every object has', () => {
  const found = files.flatMap(({ file, text }) =>
    [...text.matchAll(/(?:\(|!|&&|\|\||=>|\?)\s*([a-zA-Z_][\w.]* in [a-zA-Z_][\w.]*)/g)].map(
      ([, asked]) => `${file}: ${asked}`,
    ),
  )
  // A sentence.
  expect(found).toEqual(['store/import/aiperf.ts: timestamp_ns in older'])
})

/** Looked up by a word of ours: a dimension, a width, a metric, a size, a place in a column; a key of the keyboard is asked for first. */
const ofOurWordsInBrowsers = [
  'report/usage/board/cumulative-view.js: buckets[name]',
  'report/usage/board/cumulative-view.js: metrics[choice.metric]',
  'report/usage/board/explore.js: moves[event.key]',
  'report/usage/board/held-requests.js: sortedBy[sort]',
  'report/usage/board/sums.js: buckets[name]',
  'report/usage/board/sums.js: column[at]',
  'report/usage/board/sums.js: hours[name]',
  'report/usage/board/sums.js: metrics[metric]',
  'report/usage/board/tables.js: titles[by]',
  'report/usage/board/views.js: sizes[size]',
]

test('scripts of pages look up only our words in a table', () => {
  const scripts = files.filter(({ file }) => file.endsWith('.js'))
  const tables = new Set(
    scripts.flatMap(({ text }) =>
      [...text.matchAll(/\bconst (\w+) = \(*\{/g)].map(([, name]) => name!),
    ),
  )
  const found = scripts.flatMap(({ file, text }) =>
    [...text.matchAll(/(?<![.\w])(\w+)\[[a-zA-Z_][\w.]*\]/g)]
      .filter(([, name]) => tables.has(name!))
      .map(([place]) => `${file}: ${place}`),
  )
  expect([...new Set(found)].toSorted()).toEqual(ofOurWordsInBrowsers)
})
