import type { Behaviour, Kit } from '../../src/service/behaviour.ts'
import type { Call } from '../../src/service/call.ts'
import type { Fault } from '../../src/service/faults/fault.ts'
import { noteOf } from '../../src/service/honest/billing.ts'
import type { ActName } from './acts.ts'

/** What happens between a client and an honest service: it looks wrong, and no rule may fail. */
export interface HonestConduct {
  readonly name: string
  readonly conduct: Fault
  readonly acts: readonly ActName[]
  /** Rules that fail rightly. */
  readonly rightly: readonly string[]
}

const conduct = (name: string, does: string, breaks: Fault['breaks']): Fault => ({
  ...{ name, rule: 'none', does, probability: 1, breaks },
})

/** This share of the generations meets a gateway's 502. */
const retriedEvery = 8

/**
 * A gateway gets a 502 and sends the request once more, so the service counts it twice. Every second time the client
 * gets a 502, too.
 *
 * @param isCharged whether the service counted both, and charged one, of those whose answers the gateway lost
 */
function retrying(isCharged: boolean) {
  return (honest: Behaviour, { ledger }: Kit): Partial<Behaviour> => {
    let seen = 0
    const nths = new WeakMap<Call, number>()
    const nthOf = (call: Call) => {
      const nth = nths.get(call) ?? seen++
      nths.set(call, nth)
      return nth
    }
    const isRetried = (call: Call) => nthOf(call) % retriedEvery === retriedEvery - 1
    const isLost = (call: Call) => nthOf(call) % (2 * retriedEvery) === 2 * retriedEvery - 1
    return {
      count(call) {
        honest.count(call)
        if (call.endpoint !== 'credits' && isRetried(call)) honest.count(call)
      },
      outage(call) {
        if (!isLost(call)) return honest.outage(call)
        for (let sent = 0; isCharged && sent < 2; sent++) honest.count(call)
        return 'unavailable'
      },
      wireError(call, refusal) {
        const error = honest.wireError(call, refusal)
        if (refusal.kind !== 'unavailable') return error
        if (isCharged && call.key !== null)
          ledger.move(call.key.accountId, -call.price, 'charge', 'lost', { charge: noteOf(call) })
        return { ...error, status: 502 }
      },
      // The answer is that of the gateway, which knows no limits and no balance.
      headers(call, status, headers) {
        const all = Object.entries(honest.headers(call, status, headers))
        return Object.fromEntries(
          status === 502 ? all.filter(([name]) => !/^x-(?:credits|ratelimit)-/i.test(name)) : all,
        )
      },
    }
  }
}

export const honestConducts: readonly HonestConduct[] = [
  {
    name: 'a gateway between sends a request again after a 502',
    conduct: conduct('gateway-retries', 'a 502 is tried once more', retrying(false)),
    acts: ['billing', 'accounts'],
    // No table of the contract has a 502.
    rightly: ['ERR-01'],
  },
  {
    name: 'a gateway between loses answers that were charged',
    conduct: conduct('gateway-loses', 'a lost answer is a 502', retrying(true)),
    // One sign alone, as an account of two keys would show, could be a charge for a failure.
    acts: ['billing'],
    // No table of the contract has a 502.
    rightly: ['ERR-01'],
  },
]
