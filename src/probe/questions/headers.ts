import type { AttemptRow } from '../../attempt/columns.ts'
import { type Contract, windows } from '../../contract/contract.ts'
import type { GapAnswer } from '../../contract/profile.ts'
import { cellsNamed } from '../../limits/band.ts'
import type { Asking } from '../asking.ts'
import { notAskable, ofFacets, type Question } from '../question.ts'

/** G-19, G-20: asked of nobody but of everything that came back so far. Stands last. */
export const headersShown: Question = {
  gaps: ['G-19', 'G-20'],
  price: () => 0,
  async ask(asking) {
    return {
      'G-19': statusesWithHeaders(asking),
      'G-20': windowShown(
        asking.replies.map(({ columns }) => columns),
        asking.contract,
      ),
    }
  },
}

function statusesWithHeaders({ replies }: Asking): GapAnswer {
  const found: Record<string, string> = {}
  const generations = replies.filter(
    ({ spec, status }) =>
      status !== null && (spec.endpoint === 'chat' || spec.endpoint === 'messages'),
  )
  if (generations.length === 0) return notAskable('no generation was asked for')
  for (const [status, group] of Map.groupBy(generations, (reply) => reply.status!)) {
    const share = (has: number) =>
      has === group.length ? 'always' : has === 0 ? 'never' : `${has} of ${group.length}`
    found[`rate on ${status}`] = share(
      group.filter(({ columns }) => columns.rateLimit !== null).length,
    )
    found[`credits on ${status}`] = share(
      group.filter(({ columns }) => columns.creditsRemaining !== null).length,
    )
  }
  return ofFacets(found, `${generations.length} answers of the generation endpoints`)
}

type Shown = Pick<AttemptRow, 'status' | 'rateLimit' | 'rateRemaining'>

/** So many changes are no share of one window that happens to pass another's. */
const manyChanges = 6

/** The ways to choose a window that fit every answer: while the minute has the least left, most do. */
export function windowShown(answers: readonly Shown[], contract: Contract): GapAnswer {
  const shown = answers.flatMap(({ status, rateLimit, rateRemaining }) => {
    const [cell] = rateLimit === null ? [] : cellsNamed(contract, rateLimit)
    return cell === undefined
      ? []
      : [{ window: cell.window, isRejection: status === 429, remaining: rateRemaining ?? 0 }]
  })
  if (shown.length === 0) return notAskable('no answer names a limit of the table')
  const counts = windows
    .map((window) => [window, shown.filter((each) => each.window === window).length] as const)
    .filter(([, count]) => count > 0)
  const free = shown.filter(({ isRejection }) => !isRejection)
  const changes = free.filter(({ window }, at) => at > 0 && window !== free[at - 1]!.window).length
  // Answers that show no window may have had a turn, too.
  const takesTurns = changes * 2 >= free.length - 1
  // A window that rejects the very next request had nothing left, and the minute was shown that had.
  const passesOverLeast = shown.some(({ window, isRejection }, at) => {
    const before = shown[at - 1]
    const isOther = isRejection && window !== 'minute'
    return isOther && before?.window === 'minute' && !before.isRejection && before.remaining > 0
  })
  const fits = [
    ...(counts.length === 1 ? [counts[0]![0]] : []),
    ...(free.every(({ window }) => window === 'minute') ? ['failed'] : []),
    ...(passesOverLeast || (takesTurns && changes >= manyChanges) ? [] : ['tightest']),
    ...(takesTurns ? ['rotate'] : []),
  ]
  const evidence = counts.map(([window, count]) => `${window} ${count} times`).join(', ')
  const [only, second] = fits
  if (only === undefined) return notAskable(`no way to choose a window fits: ${evidence}`)
  return ofFacets({ window: second === undefined ? only : { oneOf: fits } }, evidence)
}
