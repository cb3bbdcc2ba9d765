/**
 * `npm run matrix [-- faults|variants [pattern]]`: the service once for each fault and each legal
 * variant, the audit scenarios against each, and two tables: faults x rules, variants x rules.
 *
 * Random variants come from a fresh seed, which is printed; MATRIX_SEED repeats one.
 */
import { allRules } from '../../src/audit/rules/list.ts'
import type { Finding } from '../../src/audit/verdict.ts'
import { faults } from '../../src/service/faults/list.ts'
import { actsOf, verdictsOf } from './acts.ts'
import { randomVariants, singleVariants } from './variants.ts'

const [what = 'all', pattern = '.'] = process.argv.slice(2)
const wanted = new RegExp(pattern)
const seed = Number(process.env.MATRIX_SEED ?? Date.now() % 1e6)
const randomCount = Number(process.env.MATRIX_RANDOM ?? 100)

const print = (line: string) => process.stdout.write(`${line}\n`)
const familyOf = (rule: string) => rule.slice(0, rule.indexOf('-'))
const isFail = ({ verdict }: Finding) => verdict.verdict === 'fail'

/** Rules that failed, the one asked for first. */
async function failures(...options: Parameters<typeof verdictsOf>) {
  const verdicts = await verdictsOf(...options)
  return { verdicts, failed: [...verdicts.values()].filter(isFail) }
}

async function faultsByRules(): Promise<number> {
  print('fault                               made for   verdict       also failed')
  const counts = { killed: 0, survived: 0, 'not covered': 0 }
  const covered = new Set<string>()
  // Rate faults need traffic of their own: test/audit/limits/faults.test.ts holds every one.
  const ours = faults.filter(({ rule }) => !rule.startsWith('RATE'))
  for (const fault of ours.filter(({ name, rule }) => wanted.test(name) || wanted.test(rule))) {
    const { verdicts, failed } = await failures(
      { faults: [fault.name] },
      actsOf[familyOf(fault.rule)],
    )
    const own = verdicts.get(fault.rule)?.verdict.verdict
    const result = own === 'fail' ? 'killed' : own === 'not-observed' ? 'not covered' : 'survived'
    counts[result]++
    covered.add(fault.rule)
    const others = failed.map(({ rule }) => rule).filter((rule) => rule !== fault.rule)
    print(`${fault.name.padEnd(36)}${fault.rule.padEnd(11)}${result.padEnd(14)}${others.join(' ')}`)
  }
  print(
    `\n${counts.killed} killed, ${counts.survived} survived, ${counts['not covered']} not covered`,
  )
  const bare = allRules.filter(({ id }) => !faults.some(({ rule }) => rule === id))
  print(`rules without a fault of their own: ${bare.map(({ id }) => id).join(' ') || 'none'}`)
  return counts.survived
}

async function variantsByRules(): Promise<number> {
  const variants = [...singleVariants, ...randomVariants(randomCount, seed)].filter(({ name }) =>
    wanted.test(name),
  )
  print(
    `\n${variants.length} legal variants, the random ones from seed ${seed}; rules that failed:`,
  )
  let alarms = 0
  for (const { name, profile } of variants) {
    const { failed } = await failures({ profile })
    if (failed.length > 0) alarms++
    print(`${name.padEnd(72)}${failed.map(({ rule }) => rule).join(' ') || '-'}`)
    if (failed.length > 0) print(`    ${JSON.stringify(profile)}`)
  }
  print(`\n${variants.length} variants, ${alarms} with a false alarm`)
  return alarms
}

const bad =
  (what === 'variants' ? 0 : await faultsByRules()) +
  (what === 'faults' ? 0 : await variantsByRules())
process.exit(bad === 0 ? 0 : 3)
