import { text } from './amounts.ts'
import { type Outcome, outcomeOf, wordsOf } from './outcome.ts'
import { play } from './play.ts'
import { contractText } from './terms.ts'
import { labelOf, type World } from './world.ts'

/** Whether the judge is at fault in a world: it accuses what nothing explains, or misses what it can see. */
export const isBad = ({ wrongly, is }: Outcome) => wrongly.length > 0 || is === 'missed'

/** The same world with as few requests and as little conduct as still show the same fault of the judge. */
export async function shrunk(world: World, outcome: Outcome): Promise<readonly [World, Outcome]> {
  let best: readonly [World, Outcome] = [world, outcome]
  const rules = ({ is, wrongly }: Outcome) => (wrongly[0] === undefined ? is : wrongly[0].rule)
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false
    for (const smaller of smallerThan(best[0])) {
      const found = await outcomeOf(smaller)
      if (!isBad(found) || rules(found) !== rules(outcome)) continue
      best = [smaller, found]
      isSmaller = true
      break
    }
  }
  return best
}

function smallerThan(world: World): readonly World[] {
  const without = world.asks.map((ask) => ({
    ...world,
    // A repeat goes with the request that it repeats.
    asks: world.asks.filter((each) => each !== ask && each.repeats !== ask.nth),
  }))
  const calmer = [...world.conduct].map((left) => ({
    ...world,
    conduct: new Set([...world.conduct].filter((each) => each !== left)),
  }))
  return [...without, ...calmer].filter(({ asks }) => asks.length > 0)
}

const mostLines = 40

/** A world and what was said of it, for a reader. */
export function shownWorld(world: World, { findings, label, is, wrongly }: Outcome): string {
  const played = play(world)
  const lines = [
    `${labelOf(world)}: ${is}; evidence suffices at ${label.provenAt.join(', ') || 'no place'}`,
    JSON.stringify(contractText(world.terms)),
    ...world.asks.map((ask, nth) => {
      const { right, ...places } = played.amounts[nth]!
      const amounts = Object.entries(places)
        .filter(([, shown]) => shown !== right)
        .map(([place, shown]) => `, ${text(shown)} in ${place}`)
      const counts = Object.entries(ask.counts).filter(([, count]) => count > 0)
      return `  ${ask.at.toFixed(1)} s ${ask.model} ${ask.dialect}${ask.isStream ? ' stream' : ''} ${ask.prompt} ${ask.ended}: ${counts.map(([part, count]) => `${part} ${count}`).join(' ')}; right ${text(right)}${amounts.join('')}`
    }),
    ...findings
      .filter(({ verdict: { verdict } }) => verdict === 'fail' || verdict === 'inconclusive')
      .map(
        (finding) =>
          `  ${wrongly.includes(finding) ? 'WRONG ' : ''}${finding.rule} ${finding.verdict.verdict}: ${wordsOf(finding).replaceAll('\n', ' | ').slice(0, 400)}`,
      ),
  ]
  return lines.slice(0, mostLines).join('\n')
}
