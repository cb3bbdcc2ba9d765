import { noteOf } from '../honest/billing.ts'
import { type Fault, fault } from './fault.ts'

/** Time between reading and writing the balance that lets a lost update show itself. */
const raceUs = 5_000

export const billingFaults: readonly Fault[] = [
  fault('charge-2-thinking', 'BILL-01', 'svc-k2-thinking costs 2', (honest) => ({
    price: (call) => (call.model?.reasoning ? 2 : honest.price(call)),
  })),
  fault('k2.5-charged-1', 'BILL-02', 'svc-k2.5 costs 1', (honest) => ({
    price: (call) => Math.min(1, honest.price(call)),
  })),
  fault('charge-on-400', 'BILL-05', 'a refused request costs its price', (honest, { ledger }) => ({
    wireError(call, refusal) {
      if (call.key !== null && ['request', 'model', 'context'].includes(refusal.kind)) {
        ledger.move(call.key.accountId, -1, 'charge', 'fault', { charge: noteOf(call) })
      }
      return honest.wireError(call, refusal)
    },
  })),
  fault('charge-on-429', 'BILL-05', 'a rate-limited request costs 1', (honest, { ledger }) => ({
    wireError(call, refusal) {
      if (call.key !== null && refusal.kind === 'rate') {
        ledger.move(call.key.accountId, -1, 'charge', 'fault', { charge: noteOf(call) })
      }
      return honest.wireError(call, refusal)
    },
  })),
  fault('credits-header-missing', 'BILL-09', 'no X-Credits-Remaining', () => ({
    creditsHeader: () => null,
  })),
  fault('credits-header-missing-on-streams', 'BILL-09', 'none on streams', (honest) => ({
    creditsHeader: (call, credits) =>
      call.request?.stream ? null : honest.creditsHeader(call, credits),
  })),
  fault('credits-header-decimal', 'BILL-09', 'X-Credits-Remaining: 99.0', () => ({
    creditsHeader: (_call, credits) => credits.toFixed(1),
  })),
  fault('credits-header-negative', 'BILL-09', 'X-Credits-Remaining below zero', () => ({
    creditsHeader: (_call, credits) => String(-Math.abs(credits) - 1),
  })),
  fault(
    'double-charge',
    'BILL-10',
    'one success in fifty is charged twice',
    (honest, { ledger }) => ({
      settle(call, usage) {
        honest.settle(call, usage)
        ledger.move(call.key!.accountId, -call.price, 'charge', 'fault', {
          charge: noteOf(call, usage),
        })
      },
    }),
    0.02,
  ),
  fault('lost-update', 'BILL-11', 'the balance is read, and written later', (honest, kit) => {
    const read = new WeakMap<object, number>()
    return {
      reserve(call) {
        const { balance } = kit.ledger.balance(call.key!.accountId)
        if (balance < call.price) return null
        read.set(call, balance)
        return balance - call.price
      },
      settle(call, usage) {
        const accountId = call.key!.accountId
        const now = kit.ledger.balance(accountId).balance
        const written = (read.get(call) ?? now) - call.price
        kit.ledger.move(accountId, written - now, 'charge', 'fault', {
          charge: noteOf(call, usage),
        })
      },
      release() {},
      timing(call, answer) {
        const timing = honest.timing(call, answer)
        return { ...timing, toFirstUs: timing.toFirstUs + raceUs }
      },
    }
  }),
]
