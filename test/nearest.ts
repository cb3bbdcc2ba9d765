import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '..')
export const textOf = (file: string) => readFileSync(join(root, file), 'utf8')

/** The importers of each file of `src` and `test`, by paths from the root. */
export function importersOf(): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>()
  for (const file of globSync(['src/**/*.ts', 'test/**/*.ts'], { cwd: root })) {
    for (const [, from] of textOf(file).matchAll(/from '(\.[^']+)'/g)) {
      const imported = relative(root, resolve(root, dirname(file), from!))
      importers.set(imported, [...(importers.get(imported) ?? []), file])
    }
  }
  return importers
}

/** The files that import a file: first those that do so themselves, then those that import these, and so on. */
export function* ringsOf(
  file: string,
  importers: ReadonlyMap<string, readonly string[]>,
): Generator<readonly string[]> {
  const seen = new Set([file])
  for (let ring: readonly string[] = [file]; ring.length > 0; ) {
    ring = [...new Set(ring.flatMap((each) => importers.get(each) ?? []))].filter(
      (each) => !seen.has(each),
    )
    for (const each of ring) seen.add(each)
    if (ring.length > 0) yield ring.toSorted()
  }
}

/** Whether a test is of the file's own name: in the folder that mirrors its own, or in any if it imports the file itself. */
export const isOwnTest = (
  test: string,
  file: string,
  importers: ReadonlyMap<string, readonly string[]>,
) =>
  test.startsWith(file.replace(/^src/, 'test').replace(/\.ts$/, '')) ||
  (basename(test, '.test.ts') === basename(file, '.ts') &&
    importers.get(file)?.includes(test) === true)

/** Tests that take minutes, check times or send the requests of a run say little about one line. */
export const isQuick = (file: string) =>
  !/timing|e2e|^test\/(cli|docs|clickhouse|foreign)\//.test(file) &&
  !textOf(file).includes("from './target.ts'")
