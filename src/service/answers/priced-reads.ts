import type { Call } from '../call.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { AnswerLayer } from './answer.ts'

/** The price of a read of the models or the credits, if it has one (G-17). */
const readPrice = 1

/**
 * A successful read costs a credit (G-17). It is deducted before the answer is made, so the answer
 * shows the balance that is left.
 */
export const pricedReads: AnswerLayer = (below, { profile, ledger }) => {
  const { readsCharged } = profile
  if (readsCharged === 'none') return {}
  return {
    chargeRead(call) {
      if (call.key === null || (readsCharged !== 'both' && readsCharged !== call.endpoint)) {
        return below.chargeRead(call)
      }
      // An invalid query is refused before anything is charged for it.
      if (call.endpoint === 'credits') below.creditsReport(call)
      call.price = readPrice
      if (!take(ledger, call)) return false
      call.available = below.available(call)
      return true
    },
  }
}

function take(ledger: Ledger, { key, incoming, endpoint }: Call): boolean {
  const note = {
    keyId: key!.id,
    requestId: incoming.id,
    endpoint,
    model: '',
    stream: false,
    promptTokens: 0,
    completionTokens: 0,
  }
  return ledger.charge(key!.accountId, readPrice, 0, note) !== null
}
