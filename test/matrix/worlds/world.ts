import { type Ask, drawAsks } from './asks.ts'
import { Draw } from './draw.ts'
import type { Fault } from './fault.ts'
import { drawFault } from './faults.ts'
import { labelFor } from './label.ts'
import { play } from './play.ts'
import { drawTerms, type Need, type Terms } from './terms.ts'
import { widened } from './wider.ts'

/** What an honest service may do that looks wrong. */
export const conducts = [
  ...[
    'float costs',
    'short costs',
    'costs on plain answers alone',
    'late balance',
    'period restarts',
  ],
  ...['topped up', 'rows of attempts', 'bare usage', 'list of rows', 'balance before the charge'],
] as const
export type Conduct = (typeof conducts)[number]

/** A service, what it was asked, and what it does wrong, all of one seed. */
export interface World {
  readonly seed: number
  readonly terms: Terms
  readonly asks: readonly (Ask & { readonly isStruck: boolean })[]
  readonly conduct: ReadonlySet<Conduct>
  /** Null: an honest service. */
  readonly fault: Fault | null
  /** Whether the run stored the answers. */
  readonly isCaptured: boolean
  /** So many requests between two reads of a page. */
  readonly readEvery: number
}

/** Which worlds are drawn: those of most services, or with what few have (`wider.ts`). */
export const widths = ['usual', 'wide'] as const
export type Width = (typeof widths)[number]

export const drawHonest = (seed: number, width: Width = 'usual'): World =>
  drawn(seed, new Draw(seed), null, width)

/** Most draws of one seed; the last one counts if none shows its fault. */
const mostTries = 20

/** A world whose fault can be seen, but for one in eight: those prove that a rule says no more than it can know. */
export function drawFaulty(seed: number, width: Width = 'usual'): World {
  const draw = new Draw(seed)
  const isAny = draw.chance(1 / 8)
  for (let tried = 1; ; tried++) {
    const world = drawn(seed, draw, drawFault(draw, width === 'wide'), width)
    if (isAny || tried === mostTries || labelFor(world, play(world)).provenAt.length > 0)
      return world
  }
}

function drawn(seed: number, draw: Draw, fault: Fault | null, width: Width): World {
  const needs = new Set<Need>(fault?.needs)
  if (needs.has('fallback')) needs.add('models')
  const usualTerms = drawTerms(draw, needs)
  const usualAsks = drawAsks(draw, usualTerms, needs)
  const { terms, asks } =
    width === 'wide'
      ? widened(draw, usualTerms, usualAsks, needs)
      : { terms: usualTerms, asks: usualAsks }
  const struck = asks.flatMap((ask, nth) =>
    fault?.strikes(ask, terms) === true && !isHidden(fault, ask) ? [nth] : [],
  )
  const only = fault?.deed !== undefined || draw.chance(0.15) ? draw.one([...struck, -1]) : null
  return {
    ...{ seed, terms, fault },
    asks: asks.map((ask, nth) => ({
      ...ask,
      isStruck: struck.includes(nth) && (only === null || only < 0 || nth === only),
    })),
    conduct: new Set(conducts.filter(() => draw.chance(0.1))),
    isCaptured: draw.chance(0.85),
    readEvery: draw.one([1, 1, 2, 4, 100]),
  }
}

/** A row of an answer without an id cannot be told from another. */
const isHidden = ({ deed, places }: Fault, { other }: Ask) =>
  deed !== undefined && other !== undefined && places.includes('log')

/** `seed 17: tier ignored at log; answer header, log, balance page down; 5 requests`. */
export function labelOf({ seed, terms, asks, fault, conduct, isCaptured }: World): string {
  const { cost, log, balance } = terms
  const seen = [
    ...(cost !== null && isCaptured ? [`answer ${cost}`] : []),
    ...(log ? ['log'] : []),
    ...(balance === null ? [] : [`${balance.at} ${balance.moves}`]),
  ]
  const does = fault === null ? 'honest' : `${fault.name} at ${fault.places.join(', ')}`
  const ways = [...conduct].map((each) => `, ${each}`).join('')
  return `seed ${seed}: ${does}${ways}; seen: ${seen.join(', ') || 'tokens alone'}; ${asks.length} requests`
}
