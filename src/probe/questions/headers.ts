import { windows } from '../../contract/contract.ts'
import type { GapAnswer } from '../../contract/profile.ts'
import { cellsNamed } from '../../limits/band.ts'
import type { Asking } from '../asking.ts'
import { notAskable, ofFacets, type Question } from '../question.ts'

/** G-19, G-20: asked of nobody but of everything that came back so far. Stands last. */
export const headersShown: Question = {
  gaps: ['G-19', 'G-20'],
  price: () => 0,
  async ask(asking) {
    return { 'G-19': statusesWithHeaders(asking), 'G-20': windowShown(asking) }
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

function windowShown({ replies, contract }: Asking): GapAnswer {
  const shown = replies.flatMap(({ columns }) => {
    const [cell] = columns.rateLimit === null ? [] : cellsNamed(contract, columns.rateLimit)
    return cell === undefined ? [] : [{ window: cell.window, columns }]
  })
  if (shown.length === 0) return notAskable('no answer names a limit of the table')
  const counts = windows
    .map((window) => [window, shown.filter((each) => each.window === window).length] as const)
    .filter(([, count]) => count > 0)
  const evidence = counts.map(([window, count]) => `${window} ${count} times`).join(', ')
  if (counts.length === 1) {
    return ofFacets(
      { window: { oneOf: ['minute', 'failed'] } },
      `${evidence}; no longer window was full`,
    )
  }
  const onSuccess = shown.filter(({ columns }) => columns.outcome === 'ok')
  const others = onSuccess.filter(({ window }) => window !== 'minute')
  if (others.length === 0) return ofFacets({ window: 'failed' }, evidence)
  const changes = onSuccess.filter(
    (each, index) => index > 0 && each.window !== onSuccess[index - 1]!.window,
  ).length
  return ofFacets({ window: changes * 2 > onSuccess.length ? 'rotate' : 'tightest' }, evidence)
}
