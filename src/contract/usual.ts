import { onceForObject } from '../user/once.ts'
import type { Contract, FullContract, Headers } from './contract.ts'
import { defaultContract } from './default.ts'

/** What a client needs to send requests: the contract's values, and usual ones where it promises none. */
export interface Usual
  extends Pick<
    FullContract,
    'paths' | 'auth' | 'limits' | 'ranges' | 'defaults' | 'timeouts' | 'retry'
  > {
  readonly headers: Partial<Headers>
}

/** The usual paths, key headers and so on are those of the two formats, which svc has, too. */
export const usualOf = onceForObject((contract: Contract): Usual => {
  const { paths, headers, auth, limits, ranges, defaults, timeouts, retry } = defaultContract
  return {
    paths: { ...paths, ...contract.paths },
    headers: contract.headers ?? headers,
    auth: { ...auth, ...contract.auth },
    limits: { ...limits, ...contract.limits },
    ranges: { ...ranges, ...contract.ranges },
    defaults: { ...defaults, ...contract.defaults },
    timeouts: { ...timeouts, ...contract.timeouts },
    retry: { ...retry, ...contract.retry },
  }
})
