import { windowUs } from '../../contract/contract.ts'
import { answered, notAskable, pricesOf, type Question } from '../question.ts'
import { at } from '../reply.ts'

/** Requests made with the first key before the second is looked at. */
const usedByFirst = 6

/** G-36: what a second key of the account shows after the first was used. */
export const newKey: Question = {
  gaps: ['G-36'],
  price: ({ contract }) => (usedByFirst + 2) * pricesOf(contract).least,
  obstacle: ({ hasSecondKey }) =>
    hasSecondKey ? null : 'it takes a second key of the same account in ASSAY_API_KEY_2',
  async ask(asking) {
    await asking.rest(2 * windowUs.minute + 1e6)
    for (let nth = 0; nth < usedByFirst; nth++) await asking.chat({}, { step: 'first key' })
    const second = await asking.chat({}, { step: 'second key', second: true })
    const { rateLimit, rateRemaining } = second.columns
    if (rateLimit === null || rateRemaining === null) {
      return { 'G-36': notAskable('the second key shows no remaining requests') }
    }
    const used = rateLimit - rateRemaining
    // A bucket regains some meanwhile, and rounds.
    const counts = used <= 2 ? 'fresh' : used >= usedByFirst - 1 ? 'inherited' : `${used} used`
    return {
      'G-36': answered(
        { counts },
        `${usedByFirst} used by the first key, then ${rateRemaining} of ${rateLimit} for the second`,
      ),
    }
  },
}

/** G-37: the same Idempotency-Key twice. */
export const idempotency: Question = {
  gaps: ['G-37'],
  price: ({ contract }) => 2 * pricesOf(contract).least + 6,
  async ask(asking) {
    const headers = { 'idempotency-key': `assay-${asking.options.runId}` }
    const before = await asking.idleBalance()
    const first = await asking.chat({ headers }, { step: 'first' })
    const between = await asking.idleBalance()
    const again = await asking.chat({ headers }, { step: 'again' })
    const after = await asking.idleBalance()
    const replayed =
      at(first.json, 'id') !== undefined && at(first.json, 'id') === at(again.json, 'id')
    const charge =
      between === null || after === null ? 'unknown' : between - after === 0 ? 'free' : 'charged'
    return {
      'G-37': answered(
        { answer: replayed ? 'replayed' : 'new', 'second time': charge },
        `balance ${before}, ${between}, ${after}; ${replayed ? 'the same id' : 'another id'}`,
      ),
    }
  },
}

/** G-34, G-35: answered by nobody's traffic. */
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
