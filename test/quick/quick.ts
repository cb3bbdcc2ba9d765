/**
 * `npm run check:quick [-- FILE…]`: lint, types and tests of what is not committed yet, or of the files that are named,
 * within 80 s. The nearest tests come first: those of a file's own name, then those that are the fewest
 * imports away, of its own room before others. It says how many of the tests ran; `npm test` runs more. It ends with 3 if none had the time to end.
 */
import { type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { importersOf, isOwnTest, isQuick, ringsOf, root } from '../nearest.ts'

const untilMs = performance.now() + 80_000
/** Files of the first start of vitest; each next one has twice as many. */
const firstFiles = 2

const linesOf = (...words: readonly string[]) =>
  spawnSync('git', words, { cwd: root, encoding: 'utf8' }).stdout.split('\n').filter(Boolean)

const changed =
  process.argv.length > 2
    ? process.argv.slice(2)
    : [
        ...linesOf('diff', '--name-only', '--relative', 'HEAD'),
        ...linesOf('ls-files', '--others', '--exclude-standard'),
      ]

const missing = process.argv.slice(2).filter((file) => !existsSync(join(root, file)))
if (missing.length > 0) {
  process.stderr.write(`check:quick: there is no ${missing.join(', ')}\n`)
  process.exit(2)
}

const importers = importersOf()

/** Tests that reach a file, with their distance: half a step less for a test of its own room, none for one of its own name. */
function distancesOf(file: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  const room = dirname(file).replace(/^src/, 'test')
  const isTest = (each: string) => each.endsWith('.test.ts') && existsSync(join(root, each))
  if (isTest(file)) found.set(file, 0)
  let steps = 0
  for (const ring of ringsOf(file, importers)) {
    steps++
    for (const test of ring.filter((each) => isTest(each) && !each.includes('.timing.'))) {
      const near = steps - (test.startsWith(room) ? 0.5 : 0)
      found.set(test, isOwnTest(test, file, importers) ? 0 : near + (isQuick(test) ? 0 : 100))
    }
  }
  // Queries, pictures and scenarios are read, not imported.
  if (!file.endsWith('.ts')) {
    const [top] = file.split('/')
    for (const test of globSync(`test/${top === 'reports' ? 'report' : top}/**/*.test.ts`, {
      cwd: root,
    })) {
      found.set(test, 1)
    }
  }
  return found
}

const distances = new Map<string, number>()
for (const file of changed) {
  for (const [test, distance] of distancesOf(file)) {
    distances.set(test, Math.min(distance, distances.get(test) ?? Number.POSITIVE_INFINITY))
  }
}
const tests = [...distances].toSorted((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1))

const options: SpawnOptions = { cwd: root, stdio: 'inherit', detached: true }

/** @returns whether it ended with 0; null if the time was over first */
async function ended(words: readonly string[]): Promise<boolean | null> {
  const child = spawn('npx', ['--no-install', ...words], options)
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    process.kill(-child.pid!, 'SIGKILL')
  }, untilMs - performance.now())
  const [code] = (await once(child, 'close')) as [number | null]
  clearTimeout(timer)
  return isLate ? null : code === 0
}

/** @returns the exit code */
async function check(): Promise<number> {
  const there = changed.filter((file) => existsSync(join(root, file)))
  const types = [['tsc'], ['tsc', '-p', 'tsconfig.browser.json']]
  const lint = ['biome', 'check', '--no-errors-on-unmatched', ...there]
  for (const words of there.length === 0 ? types : [lint, ...types]) {
    const held = await ended(words)
    if (held !== true) return held === false ? 1 : 3
  }
  let done = 0
  for (let size = firstFiles; done < tests.length && performance.now() < untilMs; size *= 2) {
    const some = tests.slice(done, done + size).map(([test]) => test)
    const held = await ended(['vitest', 'run', '--project', '!timing', ...some])
    if (held === false) return 1
    if (held === null) break
    done += some.length
  }
  const files = changed.length === 1 ? '1 changed file' : `${changed.length} changed files`
  const rest = done < tests.length ? ' The time is over: npm test runs more.' : ''
  process.stdout.write(`${done} of ${tests.length} test files that reach ${files} passed.${rest}\n`)
  return done === 0 && tests.length > 0 ? 3 : 0
}

process.exitCode = await check()
