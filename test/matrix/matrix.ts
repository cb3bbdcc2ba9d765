/**
 * `npm run matrix [-- faults|variants [pattern]] [--part 2/6]`: the service once for each fault and
 * each legal variant, the audit scenarios against each, and two tables: faults x rules and
 * variants x rules. A part takes every sixth line of each, so that the whole can be run in pieces.
 *
 * Random variants come from a fresh seed, which is printed; MATRIX_SEED repeats one.
 */
import { parseArgs } from 'node:util'
import { allRules } from '../../src/audit/rules/list.ts'
import type { Finding } from '../../src/audit/verdict.ts'
import { faults } from '../../src/service/faults/list.ts'
import { actsOf } from './acts.ts'
import { whyAlso } from './consequences.ts'
import { randomVariants, singleVariants } from './variants.ts'
import { verdictsOf } from './verdicts.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { part: { type: 'string', default: '1/1' } },
})
const [what = 'all', pattern = '.'] = positionals
const [part, parts] = values.part.split('/').map(Number) as [number, number]
const wanted = new RegExp(pattern)
const seed = Number(process.env.MATRIX_SEED ?? Date.now() % 1e6)
const randomCount = Number(process.env.MATRIX_RANDOM ?? 100)

const print = (line: string) => process.stdout.write(`${line}\n`)
const ofPart = <Line>(lines: readonly Line[]) => lines.filter((_, at) => at % parts === part - 1)
const failedIn = (verdicts: ReadonlyMap<string, Finding>) =>
  [...verdicts.values()].filter(({ verdict }) => verdict.verdict === 'fail')

/** @returns how many survived, were not covered, or were noticed by a rule that nobody expects */
async function faultsByRules(): Promise<number> {
  print('fault                              made for  verdict      also failed (! unexplained)')
  const counts = { killed: 0, survived: 0, 'not covered': 0 }
  const unexplained: string[] = []
  const chosen = ofPart(faults.filter(({ name, rule }) => wanted.test(name) || wanted.test(rule)))
  for (const { name, rule } of chosen) {
    const verdicts = await verdictsOf({ faults: [name] }, actsOf(rule))
    const own = verdicts.get(rule)?.verdict.verdict
    const result = own === 'fail' ? 'killed' : own === 'not-observed' ? 'not covered' : 'survived'
    counts[result]++
    const others = failedIn(verdicts)
      .filter((finding) => finding.rule !== rule)
      .map((finding) => {
        if (whyAlso(name, finding.rule) !== null) return finding.rule
        unexplained.push(`${name}: ${finding.rule} ${JSON.stringify(finding.verdict)}`)
        return `!${finding.rule}`
      })
    print(`${name.padEnd(35)}${rule.padEnd(10)}${result.padEnd(13)}${others.join(' ')}`)
  }
  print(
    `\n${chosen.length} faults: ${counts.killed} killed, ${counts.survived} survived, ${counts['not covered']} not covered, ${unexplained.length} other failures unexplained`,
  )
  for (const each of unexplained) print(each)
  const bare = allRules.filter(({ id }) => !faults.some(({ rule }) => rule === id))
  print(`rules without a fault of their own: ${bare.map(({ id }) => id).join(' ') || 'none'}`)
  return counts.survived + counts['not covered'] + unexplained.length
}

/** @returns how many variants were accused of something */
async function variantsByRules(): Promise<number> {
  const all = [...singleVariants, ...randomVariants(randomCount, seed)]
  const variants = ofPart(all.filter(({ name }) => wanted.test(name)))
  print(`\nlegal variants, the random ones from seed ${seed}; rules that failed:`)
  let alarms = 0
  for (const { name, profile } of variants) {
    const failed = failedIn(await verdictsOf({ profile }))
    print(`${name.padEnd(72)}${failed.map(({ rule }) => rule).join(' ') || '-'}`)
    if (failed.length === 0) continue
    alarms++
    print(`    ${JSON.stringify(profile)}`)
    for (const { rule, verdict } of failed) print(`    ${rule} ${JSON.stringify(verdict)}`)
  }
  print(`\n${variants.length} variants, ${alarms} with a false alarm`)
  return alarms
}

const beganMs = performance.now()
const bad =
  (what === 'variants' ? 0 : await faultsByRules()) +
  (what === 'faults' ? 0 : await variantsByRules())
print(`\n${Math.round((performance.now() - beganMs) / 1e3)} s`)
process.exit(bad === 0 ? 0 : 3)
