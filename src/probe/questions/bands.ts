import { edgesOf } from '../../limits/band.ts'
import { largest, smallest } from '../../user/extremes.ts'
import { pricesOf } from '../prices.ts'
import type { ProbeResponse } from '../probe-response.ts'
import type { Prober } from '../prober.ts'
import { ambiguous, answered, notAskable, oneGap, type Question } from '../question.ts'

const needsOperator = 'it takes a balance of an exact height: an operator (--operator)'

/** Requests of a walk across an edge. */
const walkSteps = 6

/** G-24, G-25: the limit shown just above an edge, on a shared edge, and at zero. */
export const bandEdges: Question = {
  gaps: ['G-24', 'G-25'],
  price: ({ contract }) => (3 + walkSteps * edgesOf(contract).length) * pricesOf(contract).least,
  obstacle: ({ hasOperator }) => (hasOperator ? null : needsOperator),
  async ask(prober) {
    const edges = edgesOf(prober.contract)
    const clean = edges.find(({ lower, upper }) => lower.maxBalance! < upper.minBalance)
    const shared = edges.find(({ lower, upper }) => lower.maxBalance === upper.minBalance)
    const price = pricesOf(prober.contract).least
    const answerAt = async (balance: number) => {
      await prober.setBalance(balance)
      return prober.chat({ maxTokens: 1 }, { step: `balance ${balance}`, expects: 'any' })
    }
    // For the auditor: crosses each edge slowly, with the limit shown on both sides.
    for (const { upper } of edges) {
      await prober.setBalance(upper.minBalance + 2 * price)
      await prober.rest(121e6)
      for (let nth = 0; nth < walkSteps; nth++)
        await prober.chat({ maxTokens: 1 }, { step: `walk over ${upper.minBalance}` })
    }
    const rowOf = (limit: number | null, edge: (typeof edges)[number]) =>
      limit === null
        ? null
        : Object.values(edge.upper.requests).includes(limit)
          ? 'upper'
          : Object.values(edge.lower.requests).includes(limit)
            ? 'lower'
            : null
    const just = clean && rowOf((await answerAt(clean.upper.minBalance)).columns.rateLimit, clean)
    const basis =
      just === 'upper' ? 'before the charge' : just === 'lower' ? 'after the charge' : null
    // The balance that decides is exactly the shared edge, before or after the charge.
    const onEdge =
      shared &&
      rowOf(
        (await answerAt(shared.upper.minBalance + (basis === 'after the charge' ? price : 0)))
          .columns.rateLimit,
        shared,
      )
    const empty = await answerAt(0)
    const zero = `status ${empty.status}, limit ${empty.columns.rateLimit ?? 'none'}`
    return {
      'G-24':
        basis === null
          ? notAskable('no limit header at the edge')
          : answered({ basis }, `balance ${clean!.upper.minBalance} showed the ${just} row`),
      'G-25':
        onEdge === null || onEdge === undefined
          ? ambiguous({ 'shared edge': ['upper', 'lower'] }, { zero }, 'no limit header there')
          : answered({ 'shared edge': onEdge, zero }, `balance ${shared!.upper.minBalance}`),
    }
  },
}

/** Requests above the edge before it is crossed. */
const usedAbove = 30

/** Most walks across the edge: a window may end in one walk, but none ends in the next. */
const mostWalks = 2

/** Requests that a bucket may regain during a walk. The answers differ by more than this. */
const slack = 2

type Edge = ReturnType<typeof edgesOf>[number]

/** G-23: the count right after the balance falls into a lower band. */
export const bandChange = oneGap('G-23', {
  price: ({ contract }) => mostWalks * (usedAbove + 4) * pricesOf(contract).least,
  obstacle: ({ hasOperator }) => (hasOperator ? null : needsOperator),
  async ask(prober) {
    const edge = edgesOf(prober.contract).find(
      ({ lower, upper }) =>
        upper.requests.minute > usedAbove + 2 && lower.requests.minute < usedAbove,
    )
    if (edge === undefined) return notAskable('no edge has limits far enough apart')
    for (let nth = 1; ; nth++) {
      const responses = await walkOver(edge, prober)
      const at = responses.findIndex(
        ({ columns }) => columns.rateLimit === edge.lower.requests.minute,
      )
      const below = responses[at]
      if (below === undefined) return notAskable('the limit had not changed after the edge')
      const evidence = `${usedAbove} used of ${edge.upper.requests.minute}; below the edge status ${below.status}, ${below.columns.rateRemaining} of ${below.columns.rateLimit} remaining`
      if (isOneCount(responses.slice(0, at + 1), edge))
        return answered({ counts: countsBelow(responses, at, edge) }, evidence)
      if (nth === mostWalks) {
        const why = 'what remained did not fall by one for each request, or a minute ended'
        return ambiguous({ counts: ['kept', 'reset', 'scaled'] }, {}, why, evidence)
      }
    }
  },
})

async function walkOver({ upper }: Edge, prober: Prober): Promise<readonly ProbeResponse[]> {
  await prober.setBalance(upper.minBalance - 1 + usedAbove * pricesOf(prober.contract).least)
  await prober.rest(121e6)
  const once = { patient: false, expects: 'any', step: 'over the edge' } as const
  const responses: ProbeResponse[] = []
  for (let nth = 0; nth < usedAbove + 3; nth++)
    responses.push(await prober.chat({ maxTokens: 1 }, once))
  return responses
}

/** Whether the requests above the edge, up to the first below, were counted one by one in one window: else answers cannot be told apart. */
function isOneCount(responses: readonly ProbeResponse[], { upper }: Edge): boolean {
  const counts = responses.flatMap(({ columns: { rateLimit, rateRemaining } }, nth) =>
    rateLimit === upper.requests.minute && rateRemaining !== null ? [rateRemaining + nth] : [],
  )
  const minutes = responses.map(({ columns }) => Math.floor((columns.dateS ?? Number.NaN) / 60))
  return (
    counts.length > usedAbove / 4 &&
    largest(counts) - smallest(counts) <= slack &&
    new Set(minutes).size === 1 &&
    !Number.isNaN(minutes[0])
  )
}

function countsBelow(
  responses: readonly ProbeResponse[],
  at: number,
  { lower, upper }: Edge,
): string {
  const { status, columns } = responses[at]!
  const lowerRow = Object.values(lower.requests)
  const crossing = responses.findIndex(({ columns }) => lowerRow.includes(columns.rateLimit ?? -1))
  const used = columns.rateLimit! - (columns.rateRemaining ?? 0)
  const scaled = (usedAbove * lower.requests.minute) / upper.requests.minute
  if (status === 429 || used >= lower.requests.minute) return 'kept'
  if (used <= at - crossing + slack) return 'reset'
  return Math.abs(used - scaled - (at - crossing)) <= slack ? 'scaled' : `${used} used`
}
