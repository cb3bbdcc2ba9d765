/**
 * `npm run matrix [-- faults|variants [pattern]] [--part 2/6]`: the service once for each fault and
 * each legal variant, the audit scenarios against each, and two tables: faults x rules and
 * variants x rules. A part takes every sixth line of each, so that the whole can be run in pieces.
 *
 * With the variants: what may happen between a client and an honest service (`conducts.ts`).
 *
 * Random variants come from a fresh seed, which is printed; MATRIX_SEED repeats one.
 *
 * `npm run matrix -- shipped [pattern] [--part 2/6]`: the scenarios of the package against each legal variant, audited
 * with the profile that a probe wrote of it. What is neither passed, nor unobserved, nor unpromised is a defect.
 *
 * `npm run matrix -- unnamed [found|quiet] [--part 2/6]`: 300 faults that are composed at random,
 * what found each and why the others were missed; and the same with no effect, where nothing may fail.
 *
 * `npm run matrix -- money [honest|faulty [usual|wide]]`: 300 worlds with prices, conducts and faults drawn at random (`worlds/`), how well the
 * judge tells each family of faults, and each world where it accuses what nothing explains, with as few requests as show it.
 *
 * `npm run matrix -- sold [pattern] [--part 2/6] [--rows FILE]`: honest services that careless rules of what is sold would accuse, each over
 * MATRIX_RANDOM seeds, and how often each rule passes, leaves open and fails. The file keeps each play, so that the whole can be
 * played in parts, with one MATRIX_SEED.
 */
import { allRules } from '../../src/audit/rules/list.ts'
import type { Finding } from '../../src/audit/verdict.ts'
import { faults } from '../../src/service/faults/list.ts'
import { askedOf } from '../asked.ts'
import { actsOf } from './acts.ts'
import { honestConducts } from './conducts.ts'
import { whyAlso } from './consequences.ts'
import { playShipped, probedProfile, shippedScenarios, unsettled } from './shipped.ts'
import { quietVariants, quietVerdicts } from './sold-quiet.ts'
import { soldTable } from './sold-table.ts'
import { alarmsOf, compositions, outcomeOf } from './unnamed.ts'
import { randomVariants, singleVariants } from './variants.ts'
import { verdictsOf } from './verdicts.ts'
import { worldsTable } from './worlds/table.ts'
import { widths } from './worlds/world.ts'

const usage = `npm run matrix [-- faults|variants|shipped [pattern] | unnamed [found|quiet] | money [honest|faulty [usual|wide]] | sold [pattern] [--rows FILE]] [--part 2/6]
MATRIX_SEED and MATRIX_RANDOM set the seed and how many are composed.`

const kinds = ['all', 'faults', 'variants', 'shipped', 'unnamed', 'money', 'sold']

const print = (line: string) => process.stdout.write(`${line}\n`)
const { positionals, values } = askedOf(usage, {
  part: { type: 'string', default: '1/1' },
  rows: { type: 'string' },
})
const [what = 'all', pattern = '.', width] = positionals
if (!kinds.includes(what)) {
  process.stderr.write(`${what} is no kind.\n${usage}\n`)
  process.exit(2)
}
const [part, parts] = values.part.split('/').map(Number) as [number, number]
const wanted = new RegExp(pattern)
const seed = Number(process.env.MATRIX_SEED ?? Date.now() % 1e6)
const randomCount = Number(process.env.MATRIX_RANDOM ?? 100)

const ofPart = <Line>(lines: readonly Line[]) => lines.filter((_, at) => at % parts === part - 1)
const failedIn = (verdicts: ReadonlyMap<string, Finding>) =>
  [...verdicts.values()].filter(({ verdict }) => verdict.verdict === 'fail')

/** @returns how many survived, were not covered, or failed an unexpected rule */
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

/** @returns how many variants failed a rule */
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

/** @returns how many kinds of conduct between a client and an honest service failed a rule */
async function conductsByRules(): Promise<number> {
  const chosen = ofPart(honestConducts.filter(({ name }) => wanted.test(name)))
  print('\nwhat happens between a client and an honest service; rules that failed:')
  let alarms = 0
  for (const { name, conduct, acts, rightly } of chosen) {
    const all = failedIn(await verdictsOf({ faults: [conduct] }, acts))
    const failed = all.filter(({ rule }) => !rightly.includes(rule))
    print(`${name.padEnd(72)}${failed.map(({ rule }) => rule).join(' ') || '-'}`)
    for (const { rule, verdict } of failed) print(`    ${rule} ${JSON.stringify(verdict)}`)
    alarms += failed.length
  }
  return alarms
}

/** @returns how many findings on honest services were a failure or inconclusive */
async function shippedByProfiles(): Promise<number> {
  const all = [{ name: 'default', profile: {} }, ...singleVariants]
  let defects = 0
  for (const { name, profile } of ofPart(all.filter((each) => wanted.test(each.name)))) {
    const probed = await probedProfile(profile)
    for (const shipped of shippedScenarios) {
      const findings = await playShipped(shipped, profile, probed)
      const open = unsettled(findings)
      const passed = findings.filter(({ verdict }) => verdict.verdict === 'pass').length
      print(
        `${name.padEnd(40)}${shipped.name.padEnd(16)}${String(passed).padStart(3)} passed  ${open.map(({ rule }) => rule).join(' ') || '-'}`,
      )
      for (const { rule, verdict } of open) print(`    ${rule} ${JSON.stringify(verdict)}`)
      defects += open.length
    }
  }
  return defects
}

const unnamed = () => ofPart(compositions(Number(process.env.MATRIX_RANDOM ?? 300), seed))

/** @returns how many were missed through a hole in a rule */
async function unnamedByRules(): Promise<number> {
  const all = unnamed()
  print(`faults composed at random from seed ${seed}; those that were not found:`)
  const found = new Map<string, number>()
  const reasons = new Map<string, number>()
  let wrongly = 0
  const count = (counts: Map<string, number>, name: string) =>
    counts.set(name, (counts.get(name) ?? 0) + 1)
  for (const [nth, each] of all.entries()) {
    const outcome = await outcomeOf(each).catch((error: unknown): never => {
      throw new Error(JSON.stringify(each), { cause: error })
    })
    if (outcome.is === 'found') {
      for (const rule of outcome.by) count(found, rule)
      count(reasons, 'found')
      if (outcome.wrongly.length > 0) {
        wrongly++
        print(
          `${nth + 1} ${JSON.stringify(each.when)} ${JSON.stringify(each.effect)}\n    accused wrongly: ${outcome.wrongly.join(' ')}, of ${outcome.by.join(' ')}`,
        )
      }
      continue
    }
    const why = outcome.is === 'missed' ? outcome.because : `inconclusive: ${outcome.by.join(' ')}`
    count(reasons, why.replace(/[:;].*/, ''))
    print(`${nth + 1} ${JSON.stringify(each.when)} ${JSON.stringify(each.effect)}\n    ${why}`)
  }
  const listed = (counts: Map<string, number>) =>
    [...counts]
      .sort(([, a], [, b]) => b - a)
      .map(([name, n]) => `${name} ${n}`)
      .join(', ')
  print(`\n${all.length} unnamed faults: ${listed(reasons)}\nby rule: ${listed(found)}`)
  const share = wrongly / Math.max(1, reasons.get('found') ?? 0)
  print(`a wrong rule accused in ${wrongly} of those found: ${(100 * share).toFixed(1)} %`)
  return (reasons.get('a hole in a rule') ?? 0) + (share > mostWrong ? wrongly : 0)
}

/** Of the faults found, at most this share may be blamed on something else. */
const mostWrong = 0.02

/** This many compositions without effect are switched on together. */
const together = 10

/** @returns how many rules failed on compositions without effect */
async function unnamedWithoutEffect(): Promise<number> {
  const all = unnamed()
  let alarms = 0
  for (let from = 0; from < all.length; from += together) {
    for (const alarm of await alarmsOf(all.slice(from, from + together))) {
      alarms++
      print(`without effect, from ${from}: ${alarm}`)
    }
  }
  print(`${all.length} of seed ${seed} without effect, ${together} at once: ${alarms} alarms`)
  return alarms
}

/** @returns how many worlds the judge is at fault in */
async function worldsInMoney(): Promise<number> {
  const count = Number(process.env.MATRIX_RANDOM ?? 300)
  const seeds = ofPart(Array.from({ length: count }, (_, at) => seed + at))
  const wanted = (['honest', 'faulty'] as const).filter((kind) => ['.', kind].includes(pattern))
  let bad = 0
  for (const each of widths.filter((name) => width === undefined || name === width)) {
    print(`${each} worlds of the ${count} seeds from ${seed}:`)
    bad += await worldsTable(seeds, wanted, each, print)
  }
  return bad
}

/** @returns how many honest services of the rules SOLD failed one of them */
async function quietOfSold(): Promise<number> {
  const count = Number(process.env.MATRIX_RANDOM ?? 100)
  print(`honest services over ${count} seeds from ${seed}: pass, inconclusive, fail`)
  return soldTable({
    variants: ofPart(quietVariants.filter((each) => wanted.test(each.name))),
    seeds: Array.from({ length: count }, (_, nth) => seed + nth),
    rowsPath: values.rows ?? null,
    play: quietVerdicts,
    print,
  })
}

async function play(): Promise<number> {
  if (what === 'money') return worldsInMoney()
  if (what === 'sold') return quietOfSold()
  if (what === 'shipped') return shippedByProfiles()
  if (what !== 'unnamed') {
    const survivors = what === 'variants' ? 0 : await faultsByRules()
    if (what === 'faults') return survivors
    return survivors + (await variantsByRules()) + (await conductsByRules())
  }
  const holes = pattern === 'quiet' ? 0 : await unnamedByRules()
  return holes + (pattern === 'found' ? 0 : await unnamedWithoutEffect())
}

const beganMs = performance.now()
const bad = await play()
print(`\n${Math.round((performance.now() - beganMs) / 1e3)} s`)
process.exit(bad === 0 ? 0 : 3)
