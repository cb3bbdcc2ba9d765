import type { Behaviour, Kit } from '../behaviour.ts'
import type { Call } from '../call.ts'
import { noteOf } from '../honest/billing.ts'
import type { RefusalKind } from '../refusal.ts'
import { type Fault, fault } from './fault.ts'
import { failureShare } from './transport.ts'

/** Time between check and act, or read and write: long enough for a race to show. */
const raceUs = 25_000
const lateUs = 5e6
const trustedAbove = 5_000
const risesAfterUs = 20e6
const workers = 2

const slower = (honest: Behaviour): Pick<Behaviour, 'timing'> => ({
  timing(call, answer) {
    const timing = honest.timing(call, answer)
    return { ...timing, toFirstUs: timing.toFirstUs + raceUs }
  },
})

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
const unguarded = ({ ledger }: Kit): Pick<Behaviour, 'settle' | 'release'> => ({
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

export const billingFaults: readonly Fault[] = [
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
    (honest, kit) => ({
      settle(call, usage) {
        honest.settle(call, usage)
        unguarded(kit).settle(call, usage)
      },
    }),
    0.02,
  ),
  fault(
    'lost-update',
    'BILL-11',
    'the balance is read, and written later without a lock',
    (honest, { ledger }) => {
      const read = new WeakMap<Call, number>()
      return {
        reserve(call) {
          const { balance } = ledger.balance(call.key!.accountId)
          if (balance < call.price) return null
          read.set(call, balance)
          return balance - call.price
        },
        settle(call, usage) {
          const accountId = call.key!.accountId
          const now = ledger.balance(accountId).balance
          const written = (read.get(call) ?? now) - call.price
          ledger.move(accountId, written - now, 'charge', 'fault', { charge: noteOf(call, usage) })
        },
        release() {},
        ...slower(honest),
      }
    },
  ),
  fault(
    'balance-per-worker',
    'BILL-11',
    'each of two workers shows a balance without what the other charged',
    (honest) => {
      // Shown = balance + what all workers charged − what this one charged.
      const charged = new Map<string, number>()
      const accountOf = ({ key }: Call) => `${key?.accountId}`
      const workerOf = (call: Call) => `${accountOf(call)} ${call.incoming.sequence % workers}`
      const chargedBy = (name: string) => charged.get(name) ?? 0
      return {
        settle(call, usage) {
          honest.settle(call, usage)
          for (const name of [accountOf(call), workerOf(call)])
            charged.set(name, chargedBy(name) + call.price)
        },
        creditsHeader(call, credits) {
          const unseen = chargedBy(accountOf(call)) - chargedBy(workerOf(call))
          return honest.creditsHeader(call, credits + unseen)
        },
      }
    },
  ),
  fault(
    'balance-cached-60s',
    'BILL-12',
    '/user/credits shows a balance of up to 60 s ago',
    (honest, { clock }) => {
      const cached = new Map<number, { readonly atUs: number; readonly remaining: number }>()
      return {
        creditsReport(call) {
          const report = honest.creditsReport(call)
          const accountId = call.key!.accountId
          const nowUs = clock.nowUs()
          const before = cached.get(accountId)
          if (before !== undefined && nowUs - before.atUs < 60e6) {
            return { ...report, remaining: before.remaining }
          }
          cached.set(accountId, { atUs: nowUs, remaining: report.remaining })
          return report
        },
      }
    },
  ),
  fault('overdraft-by-one', 'BILL-13', 'any balance above zero suffices', (_honest, kit) => ({
    affords: (call) => call.available > 0,
    reserve: (call) => call.available - call.price,
    ...unguarded(kit),
  })),
  fault('last-credit-unusable', 'BILL-14', 'the last credit cannot be spent', () => ({
    affords: (call) => call.available > call.price,
  })),
  fault(
    'aborts-stay-held',
    'BILL-14',
    'the price of an abandoned request is shown in the balance, and cannot be spent',
    (honest) => {
      const held = new Map<number, number>()
      return {
        onLeave(call) {
          const { accountId } = call.key!
          held.set(accountId, (held.get(accountId) ?? 0) + call.price)
          return honest.onLeave(call)
        },
        affords: (call) => call.available - (held.get(call.key!.accountId) ?? 0) >= call.price,
      }
    },
  ),
  fault(
    'check-then-act',
    'BILL-15',
    'the balance is checked first and charged later',
    (honest, kit) => ({
      reserve: (call) => call.available - call.price,
      ...unguarded(kit),
      ...slower(honest),
    }),
  ),
  fault('per-key-balance', 'BILL-16', 'each key has a balance of its own', (honest) => {
    // The balance of a key = that of the account + what its other keys were charged.
    const byAccount = new Map<number, number>()
    const byKey = new Map<number, number>()
    const others = ({ key }: Call) =>
      key === null ? 0 : (byAccount.get(key.accountId) ?? 0) - (byKey.get(key.id) ?? 0)
    return {
      available: (call) => honest.available(call) + others(call),
      reserve(call) {
        const after = honest.reserve(call)
        return after === null ? null : after + others(call)
      },
      settle(call, usage) {
        honest.settle(call, usage)
        const { accountId, id } = call.key!
        byAccount.set(accountId, (byAccount.get(accountId) ?? 0) + call.price)
        byKey.set(id, (byKey.get(id) ?? 0) + call.price)
      },
      creditsReport(call) {
        const report = honest.creditsReport(call)
        return { ...report, remaining: report.remaining + others(call) }
      },
    }
  }),
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
  fault(
    'reward-on-every-payment',
    'BILL-18',
    'every payment of an invitee pays 500',
    (_honest, { contract }) => ({ paymentReward: () => contract.grants.inviteFirstPayment }),
  ),
  fault('invite-bonus-doubled', 'BILL-18', 'an invitation pays 100', (_honest, { contract }) => ({
    inviteReward: () => 2 * contract.grants.inviteRegistration,
  })),
  fault('self-invite', 'BILL-18', 'an account may invite itself', () => ({
    inviteAllowed: () => true,
  })),
  fault('starter-expires', 'BILL-19', 'Starter expires after a month', (honest) => ({
    packageExpiryUs: (chance, bought, nowUs) =>
      honest.packageExpiryUs(chance, { ...bought, validMonths: bought.validMonths ?? 1 }, nowUs),
  })),
  fault('expired-spendable', 'BILL-19', 'credits can be spent after they expired', () => ({
    packageExpiryUs: () => null,
  })),
]
