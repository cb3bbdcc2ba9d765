import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withParts } from '../../bench/peers/page.ts'

const page = readFileSync(resolve(import.meta.dirname, '../../docs/peers.md'), 'utf8')
const made =
  /<!-- made by npm run peers: (.*) -->\n\n([\s\S]*?)\n\n<!-- end of what npm run peers made -->/g
const partsOf = (text: string) =>
  [...text.matchAll(made)].map(([, name, part]) => [name!, part!] as const)
const byHand = (text: string) => text.split(made).filter((_, at) => at % 3 === 0)

test('docs/peers.md has the part of each work, and the same parts give the same page', () => {
  const names = partsOf(page).map(([name]) => name)
  const works = ['chat', 'streams', 'open', 'stall', 'streams', 'streams', 'start']
  expect(names.map((name) => name.split(':')[0])).toEqual(['tools', ...works])
  expect(withParts(page, new Map(partsOf(page)))).toBe(page)
})

test('new parts take the place of the old, and what was written by hand stays', () => {
  const names = partsOf(page).map(([name]) => name)
  const text = fc.stringMatching(/^[a-z$&|\n]{1,20}$/).map((each) => each.trim())
  fc.assert(
    fc.property(fc.uniqueArray(fc.constantFrom(...names)), text, (some, part) => {
      const after = withParts(page, new Map(some.map((name) => [name, part])))
      expect(byHand(after)).toEqual(byHand(page))
      for (const [name, is] of partsOf(after)) {
        expect(is).toBe(some.includes(name) ? part : new Map(partsOf(page)).get(name))
      }
    }),
  )
})

test('a part without a place is added at the end', () => {
  const after = withParts('# By hand\n\nText.\n', new Map([['chat', 'table']]))
  expect(after.startsWith('# By hand\n\nText.\n\n')).toBe(true)
  expect(partsOf(after)).toEqual([['chat', 'table']])
})

test('a part without an end is refused, so nothing written by hand is lost', () => {
  const [end] = /<!-- end .*-->/.exec(page)!
  expect(() => withParts(page.replace(end, ''), new Map([['tools', 'x']]))).toThrow(
    'the part "tools" has no end',
  )
})
