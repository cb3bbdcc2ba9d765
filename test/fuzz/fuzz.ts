/**
 * `npm run fuzz -- [--minutes 10] [--seed 7] [target…]`: readers of what others write get inputs that are
 * changed at random, and must agree with readers of another make, or refuse in an error for users.
 *
 * The smallest input of each finding joins the corpus, where a test reads it from then on; the exit code is 1.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { askedOf } from '../asked.ts'
import installForeign from '../foreign/installed.ts'
import { corpusFolder, corpusOf } from './corpus.ts'
import { mutated, randomOf, smallest } from './mutate.ts'

const { values, positionals } = askedOf('npm run fuzz -- [--minutes 10] [--seed 7] [target…]', {
  minutes: { type: 'string', default: '1' },
  seed: { type: 'string', default: String(Date.now() % 1e6) },
})
installForeign()
const { targets } = await import('./targets.ts')

const names = [...targets.map(({ name }) => name), 'http']
const chosen = names.filter((name) => positionals.length === 0 || positionals.includes(name))
const eachMs = (Number(values.minutes) * 60_000) / chosen.length
if (!(eachMs > 0) || positionals.some((name) => !names.includes(name))) {
  process.stderr.write(`fuzz: expected --minutes above 0, and of targets ${names.join(', ')}\n`)
  process.exit(2)
}
const seed = Number(values.seed)
process.stdout.write(`seed ${seed}\n`)
for (const name of chosen) {
  const found = name === 'http' ? fuzzHttp() : await fuzz(name)
  if (found) process.exitCode = 1
}

/** @returns whether a fault was found */
async function fuzz(name: string): Promise<boolean> {
  const target = targets.find((each) => each.name === name)!
  const inputs = corpusOf(name).map(({ input }) => input)
  const random = randomOf(seed)
  const endMs = performance.now() + eachMs
  const found = new Map<string, string>()
  let runs = 0
  while (performance.now() < endMs && found.size < 5) {
    const input = mutated(inputs[random(inputs.length)]!, inputs, random)
    runs++
    if (target.check(input) === null) continue
    const short = await smallest(input, async (bytes) => target.check(bytes) !== null)
    const words = target.check(short)!
    // One fault is found repeatedly, in other words.
    const kind = words.replace(/[\d"'].*/s, '')
    if (found.has(kind)) continue
    const file = join(name, createHash('sha256').update(short).digest('hex').slice(0, 12))
    mkdirSync(join(corpusFolder, name), { recursive: true })
    writeFileSync(join(corpusFolder, file), short)
    found.set(kind, `${file}: ${words}`)
  }
  process.stdout.write(`${name.padEnd(10)}${runs} inputs, ${found.size} findings\n`)
  for (const line of found.values()) process.stdout.write(`  ${line}\n`)
  return found.size > 0
}

/**
 * Complete exchanges, on our transport and on llhttp in undici: a property test that runs longer.
 */
function fuzzHttp(): boolean {
  const vitest = resolve(import.meta.dirname, '../../node_modules/vitest/vitest.mjs')
  const { status } = spawnSync(
    process.execPath,
    [
      vitest,
      'run',
      'test/client/transport.differential.test.ts',
      '--testTimeout',
      `${eachMs + 60_000}`,
    ],
    { stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, FUZZ_MS: `${eachMs / 3}` } },
  )
  return status !== 0
}
