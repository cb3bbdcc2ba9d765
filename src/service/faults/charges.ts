import type { Behaviour, Kit } from '../behaviour.ts'
import type { Call } from '../call.ts'
import { noteOf } from '../honest/billing.ts'
import type { RefusalKind } from '../refusal.ts'
import { type Fault, fault } from './fault.ts'
import { failureShare } from './transport.ts'

const lateUs = 5e6
const trustedAbove = 5_000
const risesAfterUs = 20e6

/** Charges refusals of some kinds. */
const chargedRefusals = (
  honest: Behaviour,
  { ledger }: Kit,
  kinds: readonly RefusalKind[],
): Pick<Behaviour, 'wireError'> => ({
  wireError(call, refusal) {
    if (call.key !== null && kinds.includes(refusal.kind)) {
      ledger.move(call.key.accountId, -1, 'charge', 'fault', { charge: noteOf(call) })
    }
    return honest.wireError(call, refusal)
  },
})

/** Deducts the price without a check of the balance. */
export const unguarded = ({ ledger }: Kit): Pick<Behaviour, 'settle' | 'release'> => ({
  settle(call, usage) {
    ledger.move(call.key!.accountId, -call.price, 'charge', 'fault', {
      charge: noteOf(call, usage),
    })
  },
  release() {},
})

/** Fails a share of the generations that would have succeeded. */
const failing = (honest: Behaviour, kind: 'internal' | 'unavailable') => ({
  outage: (call: Call) => honest.outage(call) ?? kind,
})

/** Charges 1 credit for the failures of `failing`. */
const chargedFailures = (kind: 'internal' | 'unavailable') => (honest: Behaviour, kit: Kit) => ({
  ...failing(honest, kind),
  ...chargedRefusals(honest, kit, [kind]),
})

/** What is charged for a request, and when. */
export const chargeFaults: readonly Fault[] = [
  fault('charge-2-thinking', 'BILL-01', 'svc-k2-thinking costs 2', (honest) => ({
    price: (call) => (call.model?.reasoning ? 2 : honest.price(call)),
  })),
  fault('k2.5-charged-1', 'BILL-02', 'svc-k2.5 costs 1', (honest) => ({
    price: (call) => Math.min(1, honest.price(call)),
  })),
  fault('alias-charged-1', 'BILL-02', 'SVC-K2.5 is accepted, and costs 1', (honest) => ({
    modelFor(call, id) {
      const model = honest.modelFor(call, id)
      const meant = model ?? honest.modelFor(call, id.toLowerCase())
      return meant === model || meant === null ? model : { ...meant, costCredits: 1 }
    },
  })),
  fault('charge-per-choice', 'BILL-03', 'n choices cost n times the price', (honest) => ({
    price: (call) => honest.price(call) * (call.request?.n ?? 1),
  })),
  fault(
    'long-prompts-double',
    'BILL-03',
    'above 4,096 prompt tokens the price doubles',
    (honest) => ({ price: (call) => honest.price(call) * (call.promptTokens > 4_096 ? 2 : 1) }),
  ),
  fault('streams-free', 'BILL-03', 'a stream costs nothing', (honest) => ({
    price: (call) => (call.request?.stream ? 0 : honest.price(call)),
  })),
  fault('messages-double', 'BILL-03', 'the messages format costs double', (honest) => ({
    price: (call) => honest.price(call) * (call.endpoint === 'messages' ? 2 : 1),
  })),
  fault('repeats-free', 'BILL-03', 'a request like an earlier one costs nothing', (honest) => {
    const known = new Set<string>()
    return {
      price(call) {
        const own = `${call.key?.accountId} ${call.endpoint} ${call.body.toString('latin1')}`
        if (known.has(own)) return 0
        known.add(own)
        return honest.price(call)
      },
    }
  }),
  fault(
    'price-rises',
    'BILL-01',
    'twenty seconds after the first request, each costs 1 more',
    (honest, { clock }) => {
      let firstUs: number | null = null
      return {
        price(call) {
          firstUs ??= clock.nowUs()
          return honest.price(call) + (clock.nowUs() - firstUs >= risesAfterUs ? 1 : 0)
        },
      }
    },
  ),
  fault('trusted-bypass', 'BILL-04', 'above 5,000 credits nothing is charged', (honest) => ({
    price: (call) => (call.available > trustedAbove ? 0 : honest.price(call)),
  })),
  fault('charge-on-400', 'BILL-05', 'a request that is not valid costs 1', (honest, kit) =>
    chargedRefusals(honest, kit, ['request', 'model', 'context']),
  ),
  fault('charge-on-429', 'BILL-05', 'a rate-limited request costs 1', (honest, kit) =>
    chargedRefusals(honest, kit, ['rate']),
  ),
  fault(
    'charge-on-503',
    'BILL-06',
    'one generation in ten is a 503, and costs 1',
    chargedFailures('unavailable'),
    failureShare,
  ),
  fault(
    'refund-forgotten',
    'BILL-06',
    'one generation in ten fails after its charge',
    (honest) => {
      const failed = new WeakSet<Call>()
      return {
        generate(call, sink) {
          failed.add(call)
          sink.fail({ kind: 'internal', message: 'the service failed' })
          return () => {}
        },
        release(call) {
          if (!failed.has(call)) honest.release(call)
          else honest.settle(call, { promptTokens: 0, completionTokens: 0, totalTokens: 0 })
        },
      }
    },
    failureShare,
  ),
  fault(
    'charged-at-start',
    'BILL-07',
    'charged at the start, without a refund on failure',
    (_honest, { ledger }) => ({
      reserve(call) {
        const accountId = call.key!.accountId
        const charged = ledger.charge(accountId, call.price, 0, noteOf(call))
        return charged === null ? null : charged.after - ledger.balance(accountId).held
      },
      settle() {},
      release() {},
    }),
  ),
  fault('async-settle', 'BILL-08', 'charged five seconds after the response', (honest, kit) => ({
    reserve: (call) => {
      const free = honest.available(call)
      return free < call.price ? null : free
    },
    settle(call, usage) {
      kit.clock.at(kit.clock.nowUs() + lateUs, () => unguarded(kit).settle(call, usage))
    },
    release() {},
  })),
]

/** What is charged for a request that is tried again. */
export const retryFaults: readonly Fault[] = [
  fault(
    'failed-attempt-charged',
    'BILL-17',
    'one generation in ten is a 500, and costs 1',
    chargedFailures('internal'),
    failureShare,
  ),
  fault(
    'replay-charged',
    'BILL-17',
    'a second request of an Idempotency-Key is charged twice',
    (honest, kit) => {
      const seen = new Set<string>()
      return {
        settle(call, usage) {
          honest.settle(call, usage)
          const name = call.incoming.headers['idempotency-key']
          if (typeof name !== 'string') return
          if (seen.has(name)) unguarded(kit).settle(call, usage)
          seen.add(name)
        },
      }
    },
  ),
]
