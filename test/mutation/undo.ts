/**
 * `npm run undo [-- WORD]`: is each cure held by a test? Undoes the cures whose kind has the word (`cures.ts`), one at a time in a copy
 * of the tree, and runs the test of each with the cure and without it. Prints the table of docs/auditing.md. Ends with 1 where a
 * test is red with the cure, or green without it.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { askedOf } from '../asked.ts'
import { cures } from './cures.ts'
import { copy, judged } from './tree-copy.ts'

const { positionals } = askedOf('npm run undo [-- WORD]', {})
const [word = ''] = positionals

process.stdout.write('| kind | test | without the cure |\n|---|---|---|\n')
for (const { kind, file, is, was, test, named } of cures.filter((each) =>
  each.kind.includes(word),
)) {
  const path = join(copy, file)
  const source = readFileSync(path, 'utf8')
  const args = [
    test,
    ...(named === '' ? [] : ['-t', named.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')]),
  ]
  const held = await judged(args)
  writeFileSync(
    path,
    source.replace(is, () => was),
  )
  const undone = held === 'held' ? await judged(args) : null
  writeFileSync(path, source)
  const result = undone === null ? 'RED WITH THE CURE' : undone === 'held' ? 'NOT NOTICED' : 'red'
  if (result !== 'red') process.exitCode = 1
  process.stdout.write(`| ${kind} | \`${test.replace(/^test\//, '')}\` | ${result} |\n`)
}
