import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const [glossary, gone] = readFileSync(join(root, 'docs/glossary.md'), 'utf8').split('\n## ')
const terms = [...glossary!.matchAll(/^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| [^|]+ \|$/gm)]
  .map(([, term, , rooms]) => ({ term: term!, rooms: rooms!.split(', ') }))
  .slice(1)

const files = globSync('{src,test,bench}/**/*.{ts,js}', { cwd: root })
  .filter((file) => !/node_modules|glossary\.test/.test(file))
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
const named = (pattern: RegExp, within = /^src/) =>
  files
    .filter(({ file }) => within.test(file))
    .flatMap(({ file, text }) => [...text.matchAll(pattern)].map(([word]) => `${file}: ${word}`))

test('each term stands once, in order, with rooms that exist', () => {
  expect(terms.length).toBeGreaterThan(60)
  const all = terms.map(({ term }) => term)
  expect(all).toEqual([...new Set(all)].toSorted())
  const rooms = ['all', ...readdirSync(join(root, 'src'))]
  const unknown = terms.flatMap((term) => term.rooms.filter((room) => !rooms.includes(room)))
  expect(unknown).toEqual([])
})

test('a term that is an exported type is declared once, and once in the reference service', () => {
  const declared = (name: string, within?: RegExp) =>
    named(new RegExp(`^export (?:interface|type|(?:abstract )?class) ${name}\\b`, 'gm'), within)
  const names = terms.map(({ term }) =>
    term.replace(/(?:^| )(\w)/g, (_, letter: string) => letter.toUpperCase()),
  )
  const twice = [/^src\/(?!service)/, /^src\/service/]
    .flatMap((within) => names.map((name) => declared(name, within)))
    .filter((places) => places.length > 1)
  expect(twice).toEqual([])
  expect(declared('Fault')).toEqual(['src/service/faults/fault.ts: export interface Fault'])
})

test('words that the glossary says are gone are in no code', () => {
  expect(gone).toContain('`FlightDeck`')
  const types =
    /\b(?:interface|type|class) (?:Bench|Desk|OperatorDesk|FlightDeck|Course|History|Words)\b/g
  expect(named(types, /./)).toEqual([])
  const identifiers =
    /\b(?:FlightDeck|AnswerMemory|tiles|by-holes|by-sums|bySums|sightings?|asideOf|[Cc]oursesOf|BandCourse|TaskCourse|wholeOf|cameIn)\b/g
  expect(named(identifiers, /./)).toEqual([])
  expect(named(/\b(?:came|takes|says)\??: (?:string|'|`)/g)).toEqual([])
})

test('only the service has faults: what is given has issues', () => {
  const own = /^src\/(?!service\/|cli\/(?:commands|services)\/serve\.ts|public\/service\.ts)/
  expect(
    named(/\b[a-z]+(?<!De|de|Pre|pre)Faults?\b|\b[fF]aults?\b ?(?=[:=({])|\.faults?\b/g, own),
  ).toEqual([])
})
