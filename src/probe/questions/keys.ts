import type { AttemptRow } from '../../attempt/columns.ts'
import { windowUs } from '../../contract/contract.ts'
import type { GapAnswer } from '../../contract/profile.ts'
import { pricesOf } from '../prices.ts'
import { at } from '../probe-response.ts'
import {
  ambiguous,
  answered,
  idleReads,
  notAskable,
  ofFacets,
  oneGap,
  type Question,
} from '../question.ts'

/** Requests with the first key before the second is used. */
const usedByFirst = 6

const obstacles = {
  none: 'it takes a second key of the same account in ASSAY_API_KEY_2',
  same: 'ASSAY_API_KEY_2 holds the same key as ASSAY_API_KEY; it takes a second one of the same account',
  another: null,
} as const

/** G-36: what a second key of the account shows after the first was used. */
export const newKey = oneGap('G-36', {
  price: ({ contract }) => (usedByFirst + 2) * pricesOf(contract).least,
  obstacle: ({ secondKey }) => obstacles[secondKey],
  async ask(prober) {
    await prober.rest(2 * windowUs.minute + 1e6)
    const first: Shown[] = []
    const useFirst = async () => first.push((await prober.chat({}, { step: 'first key' })).columns)
    for (let nth = 0; nth < usedByFirst; nth++) await useFirst()
    const second = await prober.chat({}, { step: 'second key', second: true })
    await useFirst()
    return countsOf(first, second.columns)
  },
})

type Shown = Pick<AttemptRow, 'rateLimit' | 'rateRemaining'>

/**
 * Where the count of the second key begins. It must fall visibly, as a limiter that paces shows nothing remaining, and go on
 * falling: no window ended before.
 *
 * @param first responses to the first key, the last one after the second key's
 */
export function countsOf(first: readonly Shown[], second: Shown): GapAnswer {
  const { rateLimit, rateRemaining } = second
  if (rateLimit === null || rateRemaining === null)
    return notAskable('the second key shows no remaining requests')
  const last = first.length - 1
  const shown = first.flatMap((each, nth) =>
    each.rateLimit === rateLimit && each.rateRemaining !== null
      ? [{ nth, remaining: each.rateRemaining }]
      : [],
  )
  const fallsByOne = shown.slice(1).every(({ nth, remaining }, index) => {
    const before = shown[index]!
    const more = before.remaining - remaining - (nth - before.nth)
    // If the keys share a count, it includes the second key's request.
    return more === 0 || (more === 1 && nth === last)
  })
  if (shown.length < 2 || !fallsByOne)
    return notAskable('no answer shows what remains, or it does not fall by one')
  const used = rateLimit - rateRemaining
  const evidence = `${last} used by the first key, then ${rateRemaining} of ${rateLimit} for the second`
  // A bucket regains some meanwhile, and rounds.
  const counts = used <= 2 ? 'fresh' : used >= last - 1 ? 'inherited' : `${used} used`
  return counts === 'inherited' || shown.at(-1)!.nth === last
    ? answered({ counts }, evidence)
    : ambiguous({ counts: ['fresh', 'inherited'] }, {}, `${evidence}; a window may have ended`)
}

/** G-37: the same Idempotency-Key twice. */
export const idempotency = oneGap('G-37', {
  price: ({ contract, readCredits }) => 2 * pricesOf(contract).least + 3 * idleReads * readCredits,
  async ask(prober) {
    const headers = { 'idempotency-key': `assay-${prober.options.runId}` }
    const before = await prober.idleBalance()
    const first = await prober.chat({ headers }, { step: 'first' })
    const between = await prober.idleBalance()
    const again = await prober.chat({ headers }, { step: 'again' })
    const after = await prober.idleBalance()
    if (first.status !== 200 || again.status !== 200) {
      const statuses = `${first.status ?? 'none'} and ${again.status ?? 'none'}`
      return notAskable(`one of the two was not served: statuses ${statuses}`)
    }
    const ids = [at(first.json, 'id'), at(again.json, 'id')]
    const answer = ids.includes(undefined)
      ? { oneOf: ['replayed', 'new'] }
      : ids[0] === ids[1]
        ? 'replayed'
        : 'new'
    return ofFacets(
      { answer, 'second time': secondCharge(before, between, after) },
      `balance ${before}, ${between}, ${after}; ids ${ids.join(', ')}`,
    )
  },
})

/** The charge of the second request, known only if the first was seen to be charged. */
function secondCharge(before: number | null, between: number | null, after: number | null) {
  const wasSeen = before !== null && between !== null && after !== null && before > between
  if (!wasSeen || after > between) return { oneOf: ['free', 'charged'] }
  return after === between ? 'free' : 'charged'
}

/** G-34, G-35: no requests can answer these. */
export const unaskable: Question = {
  gaps: ['G-34', 'G-35'],
  price: () => 0,
  async ask() {
    return {
      'G-34': notAskable(
        'a policy of clients, not of the service: Assay retries at most three times after the first attempt',
      ),
      'G-35': notAskable(
        'it takes an account with two packages of different expiry, and a month for one to expire',
      ),
    }
  },
}
