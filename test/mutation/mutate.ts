/**
 * Do the tests notice? `npm run mutate -- [--each 12 | --room 24] [--seed 1] [files or folders of src]`.
 * `--each` draws that many changes of each file, `--room` of each file or folder that is named.
 *
 * Changes one operator, number, condition or piece of SQL at a time in a copy of the tree, runs the tests
 * nearest to the file, and counts the changes that no test notices. Ends with 1 where fewer than nine of ten
 * are noticed.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { randomOf } from '../../src/user/random.ts'
import { askedOf } from '../asked.ts'
import { importersOf, isOwnTest, isQuick, ringsOf, root, textOf } from '../nearest.ts'
import { type Mutant, mutantsOf } from './mutants.ts'
import { copy, judged } from './tree-copy.ts'

const usual = [
  'src/run/judge/verdict.ts',
  'src/run/count/run-figures.ts',
  'src/run/count/client-figures.ts',
  'src/run/count/tally.ts',
  'src/run/count/times-by-step.ts',
  'src/report/usage',
  'src/audit/rules/billing',
  'src/audit/evidence',
  'src/limits',
  'src/store/attempts/recorder.ts',
]
const { values, positionals } = askedOf(
  'npm run mutate -- [--each 12 | --room 24] [--seed 1] [files or folders of src]',
  {
    each: { type: 'string', default: '12' },
    room: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
)
const drawn = Number(values.room ?? values.each)
if (!Number.isInteger(drawn) || drawn < 1) {
  process.stderr.write(
    `mutate: expected --each or --room above 0, got ${values.room ?? values.each}\n`,
  )
  process.exit(2)
}
/** Left out of folder samples: their tests need the library of ClickHouse, and take minutes. */
const slow = ['src/report/usage/engine/clickhouse.ts']
/** The files of each sample. */
const samples = (positionals.length > 0 ? positionals : usual).flatMap((path) => {
  const files = path.endsWith('.ts')
    ? [path]
    : globSync(`${path}/**/*.ts`, { cwd: root })
        .filter((file) => !slow.includes(file))
        .sort()
  return values.room === undefined ? files.map((file) => [file]) : [files]
})

const importers = importersOf()

const most = 4
/**
 * At most four tests: of the file's own name, that name a rule of the file, or the fewest imports away; those that
 * import the file themselves and those of its own room, which take the least time, or else those of the nearest room
 * above it that has some, or of others. So what is counted is the least that the whole suite notices.
 */
function nearestTests(file: string): readonly string[] {
  const isOwn = (test: string) => isOwnTest(test, file, importers)
  const direct = importers.get(file) ?? []
  const rings = [...ringsOf(file, importers)]
    .map((ring) =>
      ring.filter((each) => each.endsWith('.test.ts') && (isOwn(each) || isQuick(each))),
    )
    .filter((ring) => ring.length > 0)
  const reached = rings.flat()
  let room = dirname(file).replace('src', 'test')
  let tests = reached.filter((each) => direct.includes(each) || each.startsWith(room))
  while (tests.length === 0 && room !== 'test') {
    room = dirname(room).replace(/\/rules$/, '')
    tests = room === 'test' ? (rings[0] ?? []) : reached.filter((each) => each.startsWith(room))
  }
  const idsOf = (text: string) =>
    [...text.matchAll(/ id: '([A-Z]+-\d+)'/g)].flatMap(([, id]) => [
      `'${id}`,
      id!.toLowerCase().replace('-', ''),
    ])
  const ids = idsOf(textOf(file))
  // Mutants of files that rules share are noticed by these tests.
  const rules =
    ids.length > 0 ? ids : (importers.get(file) ?? []).flatMap((each) => idsOf(textOf(each)))
  const isNearest = (test: string) => isOwn(test) || rules.some((id) => textOf(test).includes(id))
  // Many tests of other rooms import a file only to set something up.
  const ofRoom = (test: string) =>
    dirname(file)
      .split('/')
      .findLastIndex((name, at) => at > 0 && name === test.split('/')[at])
  return tests
    .toSorted((a, b) => Number(isNearest(b)) - Number(isNearest(a)) || ofRoom(b) - ofRoom(a))
    .slice(0, most)
}

const random = randomOf(Number(values.seed))

/** Some mutants of these files, by file, in order of position. */
function sampleOf(files: readonly string[]): readonly (readonly [string, readonly Mutant[]])[] {
  const all = files.flatMap((file) =>
    mutantsOf(textOf(file)).map((mutant) => ({
      file,
      mutant,
      key: random(),
    })),
  )
  const sample = new Set(all.toSorted((a, b) => a.key - b.key).slice(0, drawn))
  return files.map((file) => [
    file,
    all.filter((each) => each.file === file && sample.has(each)).map(({ mutant }) => mutant),
  ])
}

let [all, noticed] = [0, 0]
for (const [file, mutants] of samples.flatMap(sampleOf)) {
  // From the copy: the tree may change meanwhile.
  const source = readFileSync(join(copy, file), 'utf8')
  if (mutants.length === 0) continue
  const tests = nearestTests(file)
  // Most changes are noticed by the nearest test; the others run only if it passes.
  const rounds: { readonly tests: readonly string[]; readonly mostS: number }[] = []
  for (const some of [tests.slice(0, 1), tests.slice(1)].filter(({ length }) => length > 0)) {
    const began = performance.now()
    if ((await judged(some)) !== 'held') break
    rounds.push({ tests: some, mostS: 20 + (4 * (performance.now() - began)) / 1000 })
  }
  if (rounds.flatMap((round) => round.tests).length < tests.length || tests.length === 0) {
    process.stdout.write(
      `${file}: ${tests.length === 0 ? 'no test is near' : `red without a change: ${tests.join(' ')}`}\n`,
    )
    process.exitCode = 1
    continue
  }
  const judgedInRounds = async () => {
    for (const round of rounds) {
      const result = await judged(round.tests, round.mostS)
      if (result !== 'held') return result
    }
    return 'held'
  }
  const lines: string[] = []
  let survivors = 0
  for (const { start, end, replacement } of mutants) {
    writeFileSync(join(copy, file), source.slice(0, start) + replacement + source.slice(end))
    const result = await judgedInRounds()
    if (result === 'red') continue
    if (result === 'held') survivors++
    const line = source.slice(0, start).split('\n').length
    const note = result === 'endless' ? ' (noticed: it never ends)' : ''
    lines.push(`  line ${line}: ${source.slice(start, end)}  →  ${replacement}${note}`)
  }
  writeFileSync(join(copy, file), source)
  all += mutants.length
  noticed += mutants.length - survivors
  const row = `${mutants.length - survivors} of ${mutants.length}`
  process.stdout.write(`${[`${row.padEnd(9)} ${file}`, ...lines].join('\n')}\n`)
}
process.stdout.write(`${noticed} of ${all} noticed, ${((100 * noticed) / all).toFixed(1)} %\n`)
if (all === 0 || noticed < 0.9 * all) process.exitCode = 1
