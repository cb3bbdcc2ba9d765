import { bandsAt } from '../../contract/contract.ts'
import { type Fault, fault } from './fault.ts'

export const limitFaults: readonly Fault[] = [
  fault(
    'wrong-band-limit',
    'RATE-01',
    'the lowest band gets the limits of the next',
    (honest, { contract }) => ({
      band(call, balance) {
        const band = honest.band(call, balance)
        return band === contract.bands[0] ? contract.bands[1]! : band
      },
    }),
  ),
  fault(
    'band-edge-off-by-one',
    'RATE-02',
    'a balance at the end of a band is in the next',
    (honest, { contract }) => ({
      band: (call, balance) => bandsAt(contract, balance + 1).at(-1) ?? honest.band(call, balance),
    }),
  ),
  fault('rate-headers-missing-on-429', 'RATE-07', 'no X-RateLimit headers on 429', (honest) => ({
    rateHeaders: (call, look, refused) => (refused ? {} : honest.rateHeaders(call, look, refused)),
  })),
  fault(
    'remaining-negative',
    'RATE-08',
    'X-RateLimit-Remaining below zero',
    (honest, { contract }) => ({
      rateHeaders(call, look, refused) {
        const headers = honest.rateHeaders(call, look, refused)
        const name = contract.headers.rateRemaining
        return name in headers
          ? { ...headers, [name]: String(-1 - Number(headers[name])) }
          : headers
      },
    }),
  ),
]
