import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import type { Argument, Option } from 'commander'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { program } from '../../src/cli/commands/program.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { exportTable } from '../../src/store/files/export.ts'
import { identityOf, mustStandApart } from '../../src/store/files/files-apart.ts'
import { importFile } from '../../src/store/import/import-file.ts'
import { openStore } from '../store/opened.ts'
import { plainRow } from '../store/plain-row.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-outputs-'))
afterAll(() => rmSync(folder, { recursive: true }))
const at = (name: string) => join(folder, name)
const db = at('s.duckdb')
const log = at('i.jsonl')
const logText = '{"id":"a","at":"never"}\n'

beforeAll(async () => {
  const store = await openStore(db)
  await appendAttempts(store, [plainRow(0), plainRow(1)])
  store.close()
  writeFileSync(log, logText)
  writeFileSync(at('b.jsonl'), logText)
  writeFileSync(at('map.yaml'), 'fields: { time: at, id: id }\n')
  writeFileSync(at('prompts.txt'), 'hello\n')
  writeFileSync(
    at('scenario.yaml'),
    `name: one
question: Does it answer?
steps: { chat: { endpoint: chat, model: m, prompt: { file: prompts.txt } } }
phases: [{ name: steady, load: constant, rate: 1/s, duration: 1s }]
`,
  )
  symlinkSync(db, at('link.csv'))
  linkSync(log, at('hard.jsonl'))
  symlinkSync(at('made-later.duckdb'), at('dangling.xml'))
  mkdirSync(at('pictures'))
  writeFileSync(at('pictures/keys.png'), '{}')
})

/** The words of a command, run in this process up to its first error. */
async function said(line: string): Promise<string> {
  const words = line.replaceAll('@', `${folder}/`).split(' ')
  return program()
    .parseAsync(words, { from: 'user' })
    .then(
      () => 'no error',
      (error: Error) => error.message.replaceAll(`${folder}/`, '@'),
    )
}

const apart = (option: string, path: string, why: string) =>
  `${option}: expected a file of its own; got ${path}, ${why}. Name another file. Nothing was done.`

test.each([
  [
    'export attempts --db @s.duckdb --out @s.duckdb --format csv',
    '--out',
    '@s.duckdb',
    'which is the store of --db',
  ],
  [
    'export attempts --db @s.duckdb --out @link.csv',
    '--out',
    '@link.csv',
    'which is the store of --db',
  ],
  [
    'export attempts --db @s.duckdb --out @x/../s.duckdb --format csv',
    '--out',
    '@x/../s.duckdb',
    'which is the store of --db',
  ],
  [
    'export attempts --db @s.duckdb --out @s.duckdb.wal --format csv',
    '--out',
    '@s.duckdb.wal',
    'which is a file of the store of --db',
  ],
  [
    'export attempts --db @s.duckdb --out @s.duckdb.bodies --format csv',
    '--out',
    '@s.duckdb.bodies',
    'which is a file of the store of --db',
  ],
  [
    'export usage --contract @c.yaml --db @s.duckdb --out @c.yaml --format csv',
    '--out',
    '@c.yaml',
    'which is also --contract',
  ],
  [
    'export usage --contract @c.csv.partial --db @s.duckdb --out @c.csv',
    '--out',
    '@c.csv',
    'which is first written to @c.csv.partial, also --contract',
  ],
  [
    'report launch --db @s.duckdb --out @s.duckdb',
    '--out',
    '@s.duckdb',
    'which is the store of --db',
  ],
  [
    'report usage --db @s.duckdb --key-names @pictures/keys.png --png @pictures',
    '--png',
    '@pictures',
    'which is also --key-names',
  ],
  [
    'report launch --db @s.duckdb --out @pictures/a.png --png @pictures',
    '--out',
    '@pictures/a.png',
    'which is in the folder of --png',
  ],
  [
    'summary --db @s.duckdb --format parquet --out @s.duckdb',
    '--out',
    '@s.duckdb',
    'which is the store of --db',
  ],
  [
    'compare a b --db @a.duckdb --db-b @s.duckdb --format html --out @s.duckdb',
    '--out',
    '@s.duckdb',
    'which is the store of --db-b',
  ],
  [
    'import @i.jsonl --map @map.yaml --db @s.duckdb --rejects @s.duckdb',
    '--rejects',
    '@s.duckdb',
    'which is the store of --db',
  ],
  [
    'import @i.jsonl --map @map.yaml --db @s.duckdb --rejects @i.jsonl',
    '--rejects',
    '@i.jsonl',
    'which is also <file>',
  ],
  [
    'import @i.jsonl --map @map.yaml --db @s.duckdb --rejects @hard.jsonl',
    '--rejects',
    '@hard.jsonl',
    'which is also <file>',
  ],
  [
    'import @i.jsonl --map @map.yaml --db @s.duckdb --rejects @map.yaml',
    '--rejects',
    '@map.yaml',
    'which is also --map',
  ],
  [
    'import @i.jsonl @i.jsonl.rejects.jsonl --map @map.yaml --db @s.duckdb',
    'the rejects of @i.jsonl',
    '@i.jsonl.rejects.jsonl',
    'which is also @i.jsonl.rejects.jsonl',
  ],
  [
    'run @scenario.yaml --db @s.duckdb --junit @s.duckdb',
    '--junit',
    '@s.duckdb',
    'which is the store of --db',
  ],
  [
    'run @scenario.yaml --db @s.duckdb --junit @scenario.yaml',
    '--junit',
    '@scenario.yaml',
    'which is also <scenario>',
  ],
  [
    'run @scenario.yaml --db @s.duckdb --junit @prompts.txt',
    '--junit',
    '@prompts.txt',
    'which is also a file of the scenario',
  ],
  [
    'run @scenario.yaml --db @made-later.duckdb --junit @dangling.xml',
    '--junit',
    '@dangling.xml',
    'which is the store of --db',
  ],
  [
    'bench http://127.0.0.1:1 --db @s.duckdb --save @s.duckdb',
    '--save',
    '@s.duckdb',
    'which is the store of --db',
  ],
  [
    'bench http://127.0.0.1:1 --db @s.duckdb --save @x.yaml --out @x.yaml',
    '--out',
    '@x.yaml',
    'which is also --save',
  ],
  [
    'bench http://127.0.0.1:1 --db @s.duckdb --ca-file @map.yaml --save @map.yaml',
    '--save',
    '@map.yaml',
    'which is also --ca-file',
  ],
  ['demo --db @s.duckdb --out @s.duckdb', '--out', '@s.duckdb', 'which is the store of --db'],
  [
    'probe --base-url http://127.0.0.1:1 --db @s.duckdb --out @s.duckdb',
    '--out',
    '@s.duckdb',
    'which is the store of --db',
  ],
  [
    'probe --base-url http://127.0.0.1:1 --db @s.duckdb --contract @map.yaml --out @map.yaml',
    '--out',
    '@map.yaml',
    'which is also --contract',
  ],
  ['serve --data @map.yaml --profile @map.yaml', '--data', '@map.yaml', 'which is also --profile'],
])('assay %s is refused before anything is done', async (line, option, path, why) => {
  const before = readFileSync(db)
  expect(await said(line)).toBe(apart(option, path, why))
  expect(readFileSync(db).equals(before)).toBe(true)
  expect(readFileSync(log, 'utf8')).toBe(logText)
  expect(existsSync(at('i.jsonl.rejects.jsonl'))).toBe(false)
})

test('one file for the rejects of several logs is refused, because each would replace the last', async () => {
  expect(
    await said('import @i.jsonl @b.jsonl --map @map.yaml --db @s.duckdb --rejects @r.jsonl'),
  ).toBe(
    '--rejects: expected one log, because each log has its own rejects; got 2. Import them one by one, or leave --rejects out.',
  )
})

test('every option and argument that names a file says what a command does with it', () => {
  const commands = program().commands.flatMap((command) => [command, ...command.commands])
  const named = commands.flatMap((command): readonly (Option | Argument)[] => [
    ...command.options.filter(
      ({ flags }) => /<(file|folder)>/.test(flags) && !/--reports/.test(flags),
    ),
    ...command.registeredArguments.filter((argument) =>
      ['file', 'scenario', 'stores', 'reports'].includes(argument.name()),
    ),
  ])
  expect(named.length).toBeGreaterThan(40)
  expect(named.filter((each) => !('role' in each))).toEqual([])
})

test('a program that exports onto a store that it has open loses nothing', async () => {
  const store = await openStore(db)
  await expect(exportTable(store, { what: 'attempts', file: db, format: 'csv' })).rejects.toThrow(
    `the output: expected a file of its own; got ${db}, which is the store of --db.`,
  )
  expect(await store.rows('SELECT count(*) AS n FROM attempts')).toEqual([{ n: 2 }])
  await expect(importFile(store, { file: log, rejectsFile: at('hard.jsonl') })).rejects.toThrow(
    'which is also the log',
  )
  store.close()
  await exportAgain()
})

/** A store that is closed is a file like any other. */
async function exportAgain() {
  const [other, old] = [await openStore(at('other.duckdb')), at('old.duckdb')]
  ;(await openStore(old)).close()
  await exportTable(other, { what: 'attempts', file: old, format: 'csv' })
  other.close()
  expect(readFileSync(old, 'utf8')).toMatch(/^run_id,/)
}

test('a path has one identity, however it is spelled', () => {
  const names = fc.constantFrom('s.duckdb', 'not-there', 'pictures/keys.png', 'pictures/none')
  const detours = fc.array(fc.constantFrom('.', 'pictures/..', `../${basename(folder)}`))
  fc.assert(
    fc.property(names, detours, fc.boolean(), (name, detour, isRelative) => {
      const path = `${folder}/${[...detour, name].join('/')}`
      const spelled = isRelative
        ? `${relative(process.cwd(), dirname(path))}/${basename(path)}`
        : path
      expect(identityOf(spelled)).toBe(identityOf(at(name)))
    }),
  )
})

test('pipes and devices may be named twice', () => {
  mustStandApart([
    { name: '--out', path: '/dev/null', role: 'output' },
    { name: '--junit', path: '/dev/null', role: 'output' },
  ])
})
