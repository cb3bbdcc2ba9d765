import type { Behaviour } from '../behaviour.ts'
import type { ApiKey } from '../ledger/accounts.ts'
import { type Fault, fault } from './fault.ts'
import { editErrors } from './primitives.ts'

/** Finds a key by a part of it among the keys that were presented before. */
function looseKeys(honest: Behaviour, part: (key: string) => string): Pick<Behaviour, 'keyFor'> {
  const seen = new Map<string, ApiKey>()
  return {
    keyFor(call, presented) {
      const key = honest.keyFor(call, presented)
      if (presented === null) return key
      if (key !== null) seen.set(part(presented), key)
      return key ?? seen.get(part(presented)) ?? null
    },
  }
}

export const accessFaults: readonly Fault[] = [
  fault('bearer-ignored', 'AUTH-01', 'chat ignores Authorization', (honest) => ({
    presentedKey: (call) => (call.endpoint === 'chat' ? null : honest.presentedKey(call)),
  })),
  fault('x-api-key-ignored', 'AUTH-02', 'messages does not look at X-API-Key', (honest) => ({
    presentedKey: (call) => (call.endpoint === 'messages' ? null : honest.presentedKey(call)),
  })),
  fault('auth-skipped-on-streams', 'AUTH-03', 'a stream needs no key', (honest, { accounts }) => ({
    keyFor: (call, presented) =>
      honest.keyFor(call, presented) ??
      (/"stream"\s*:\s*true/.test(call.body.toString()) ? (accounts.keysOf(1)[0] ?? null) : null),
  })),
  fault('auth-prefix-only', 'AUTH-04', 'the first 20 characters of a key suffice', (honest) =>
    looseKeys(honest, (key) => key.slice(0, 20)),
  ),
  fault('auth-case-folded', 'AUTH-04', 'keys are compared without case', (honest) =>
    looseKeys(honest, (key) => key.toLowerCase()),
  ),
  fault(
    'auth-revoked-accepted',
    'AUTH-04',
    'a revoked key still works',
    (honest, { accounts }) => ({
      keyFor: (call, presented) =>
        honest.keyFor(call, presented) ?? (presented === null ? null : accounts.findKey(presented)),
    }),
  ),
  fault('wrong-401-type', 'AUTH-05', 'a wrong key gets the error type of another error', (honest) =>
    editErrors(honest, (error, refusal) => {
      const type = error.shape === 'chat' ? 'server_error' : 'permission_error'
      return refusal.kind === 'key' ? { ...error, type } : error
    }),
  ),
  fault(
    'charges-last-account',
    'AUTH-06',
    'the account of the previous request pays',
    (honest, { ledger }) => {
      let last: number | null = null
      return {
        settle(call, usage) {
          const own = call.key!.accountId
          honest.settle(call, usage)
          if (last !== null && last !== own) {
            ledger.move(own, call.price, 'refund', 'fault')
            ledger.move(last, -call.price, 'charge', 'fault')
          }
          last = own
        },
      }
    },
  ),
]
