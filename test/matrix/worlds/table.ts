import { type Outcome, outcomeOf } from './outcome.ts'
import { isBad, shownWorld, shrunk } from './shrink.ts'
import { drawFaulty, drawHonest, labelOf, type Width } from './world.ts'

/** How well the faults of one family are told. */
interface Line {
  worlds: number
  proven: number
  readonly counts: Record<Outcome['is'], number>
  wrong: number
}

/** Of the faults that the evidence proves, at least this share is told by its cause. */
export const leastByCause = 0.9
/** So many bad worlds are shrunk and shown. */
const mostShown = 20

/**
 * The judge's table over worlds of these seeds, honest ones and faulty ones.
 *
 * @param width worlds of most services, or with what few have
 * @param print takes each bad world, and then the table
 * @returns how many worlds the judge is at fault in
 */
export async function worldsTable(
  seeds: readonly number[],
  kinds: readonly ('honest' | 'faulty')[],
  width: Width,
  print: (line: string) => void,
): Promise<number> {
  const lines = new Map<string, Line>()
  let [bad, needless] = [0, 0]
  const withoutCause: string[] = []
  for (const kind of kinds) {
    for (const seed of seeds) {
      const world = kind === 'honest' ? drawHonest(seed, width) : drawFaulty(seed, width)
      const outcome = await outcomeOf(world)
      const family = world.fault?.family ?? 'honest'
      const line = lines.get(family) ?? newLine()
      lines.set(family, line)
      line.worlds++
      if (outcome.is !== 'honest' && outcome.is !== 'not shown') line.proven++
      line.counts[outcome.is]++
      if (outcome.wrongly.length > 0) line.wrong++
      needless += outcome.needlessly.length > 0 ? 1 : 0
      if (outcome.is === 'told') withoutCause.push(labelOf(world))
      if (!isBad(outcome)) continue
      bad++
      if (bad <= mostShown) print(`\n${shownWorld(...(await shrunk(world, outcome)))}`)
    }
  }
  for (const line of tableOf(lines)) print(line)
  for (const label of withoutCause) print(`detected without its cause: ${label}`)
  if (kinds.includes('honest'))
    print(`honest worlds where a rule is inconclusive although every cost is known: ${needless}`)
  const faulty = [...lines.values()].filter(({ counts }) => counts.honest === 0)
  const sum = (of: (line: Line) => number) => faulty.reduce((total, line) => total + of(line), 0)
  const share =
    sum(({ counts }) => counts['by cause']) /
    Math.max(
      1,
      sum(({ proven }) => proven),
    )
  if (faulty.length > 0) print(`named by cause: ${(100 * share).toFixed(1)} %`)
  return bad + (share < leastByCause && faulty.length > 0 ? 1 : 0)
}

const newLine = (): Line => ({
  ...{ worlds: 0, proven: 0, wrong: 0 },
  counts: { honest: 0, 'not shown': 0, 'by cause': 0, told: 0, inconclusive: 0, missed: 0 },
})

function tableOf(lines: ReadonlyMap<string, Line>): readonly string[] {
  const row = (name: string, { worlds, proven, counts, wrong }: Line) =>
    `| ${[name, worlds, proven, counts['by cause'], counts.told, counts.inconclusive, counts.missed, wrong].join(' | ')} |`
  const all = newLine()
  for (const { worlds, proven, counts, wrong } of lines.values()) {
    all.worlds += worlds
    all.proven += proven
    all.wrong += wrong
    for (const is of Object.keys(counts) as Outcome['is'][]) all.counts[is] += counts[is]
  }
  return [
    '',
    '| fault of | worlds | proven | named by cause | detected | inconclusive | missed | wrongly accused |',
    '|---|---|---|---|---|---|---|---|',
    ...[...lines].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, line]) => row(name, line)),
    row('all', all),
  ]
}
