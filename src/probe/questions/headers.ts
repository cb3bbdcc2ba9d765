import { flags } from '../../attempt/flags.ts'
import { type FullContract, windows } from '../../contract/contract.ts'
import type { GapAnswer } from '../../contract/profile.ts'
import { windowNamed } from '../../limits/band.ts'
import type { LimitedRequest } from '../../limits/limited-request.ts'
import { lookup } from '../../user/lookup.ts'
import { routeOf } from '../limited-request.ts'
import type { Prober } from '../prober.ts'
import { notAskable, ofFacets, type Question } from '../question.ts'

/** G-19, G-20: from all responses so far, without requests. It comes last. */
export const headersShown: Question = {
  gaps: ['G-19', 'G-20'],
  price: () => 0,
  async ask(prober) {
    return {
      'G-19': statusesWithHeaders(prober),
      'G-20': windowShown([...Map.groupBy(prober.limited, routeOf).values()], prober.contract),
    }
  },
}

function statusesWithHeaders({ responses }: Prober): GapAnswer {
  const found: Record<string, string> = lookup()
  const generations = responses.filter(
    ({ spec, status }) =>
      status !== null && (spec.endpoint === 'chat' || spec.endpoint === 'messages'),
  )
  if (generations.length === 0) return notAskable('no generation was asked for')
  for (const [status, group] of Map.groupBy(generations, (response) => response.status!)) {
    const share = (has: number) =>
      has === group.length ? 'always' : has === 0 ? 'never' : `${has} of ${group.length}`
    // A header whose value is no number is there, too.
    const has = (flag: number, value: 'rateLimit' | 'creditsRemaining') =>
      group.filter(({ columns }) => columns[value] !== null || (columns.flags & flag) !== 0).length
    found[`rate on ${status}`] = share(has(flags.malformedRateLimit, 'rateLimit'))
    found[`credits on ${status}`] = share(has(flags.malformedCredits, 'creditsRemaining'))
  }
  return ofFacets(found, `${generations.length} answers of the generation endpoints`)
}

type Shown = Pick<LimitedRequest, 'status' | 'limit' | 'remaining'>

/** This many changes are no coincidence of one window's share falling below another's. */
const manyChanges = 6

/**
 * The ways to choose a window that fit every response; while the minute has the least left, most do. Each key and route may have
 * its own windows.
 */
export function windowShown(
  routes: readonly (readonly Shown[])[],
  contract: FullContract,
): GapAnswer {
  const shown = routes.map((answers) => answers.flatMap((answer) => windowOf(answer, contract)))
  const all = shown.flat()
  if (all.length === 0) return notAskable('no answer names a limit of the table')
  const counts = windows
    .map((window) => [window, all.filter((each) => each.window === window).length] as const)
    .filter(([, count]) => count > 0)
  const free = shown.map((route) => route.filter(({ isRejection }) => !isRejection))
  const turns = free.flatMap(neighbours)
  const changes = turns.filter(([before, after]) => before.window !== after.window).length
  // Responses without a window may have had a turn, too. Without two neighbours, nothing speaks against turns.
  const takesTurns = changes * 2 >= turns.length
  // A window that rejects the next request had nothing left, but the minute, which had some, was shown.
  const passesOverLeast = shown
    .flatMap(neighbours)
    .some(
      ([before, { window, isRejection }]) =>
        isRejection &&
        window !== 'minute' &&
        before.window === 'minute' &&
        !before.isRejection &&
        before.remaining > 0,
    )
  // `failed`: the window that rejected the request, else the minute. `tightest`: the one with the smallest share left. `rotate`: each in turn.
  const fits = [
    ...(counts.length === 1 ? [counts[0]![0]] : []),
    ...(free.flat().every(({ window }) => window === 'minute') ? ['failed'] : []),
    ...(passesOverLeast || (takesTurns && changes >= manyChanges) ? [] : ['tightest']),
    ...(takesTurns ? ['rotate'] : []),
  ]
  const evidence = counts.map(([window, count]) => `${window} ${count} times`).join(', ')
  const [only, second] = fits
  if (only === undefined) return notAskable(`no way to choose a window fits: ${evidence}`)
  return ofFacets({ window: second === undefined ? only : { oneOf: fits } }, evidence)
}

function windowOf({ status, limit, remaining }: Shown, contract: FullContract) {
  const window = limit === null ? null : windowNamed(contract, limit)
  return window === null ? [] : [{ window, isRejection: status === 429, remaining: remaining ?? 0 }]
}

const neighbours = <Each>(list: readonly Each[]): readonly (readonly [Each, Each])[] =>
  list.slice(1).map((each, at) => [list[at]!, each] as const)
