import type { Behaviour } from '../behaviour.ts'
import type { Call } from '../call.ts'
import { noteOf } from '../honest/billing.ts'
import { unguarded } from './charges.ts'
import { type Fault, fault } from './fault.ts'

/** Time between check and act, or read and write: long enough for a race to show. */
const raceUs = 25_000
const workers = 2

const slower = (honest: Behaviour): Pick<Behaviour, 'timing'> => ({
  timing(call, answer) {
    const timing = honest.timing(call, answer)
    return { ...timing, toFirstUs: timing.toFirstUs + raceUs }
  },
})

/** What the balance is, where it is shown, and who may spend it. */
export const balanceFaults: readonly Fault[] = [
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
]
