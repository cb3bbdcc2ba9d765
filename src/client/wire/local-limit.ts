import type { LocalLimit } from '../../attempt/outcome.ts'
import { lookup } from '../../user/lookup.ts'

const limits: Readonly<Record<string, LocalLimit>> = lookup({
  EADDRNOTAVAIL: 'no-local-port',
  EADDRINUSE: 'no-local-port',
  EMFILE: 'no-open-file',
  ENFILE: 'no-open-file',
  ENOBUFS: 'no-local-memory',
  ENOMEM: 'no-local-memory',
})

/** The resource of this machine that a connection error means; null for any other error. */
export const localLimitOf = (code: string): LocalLimit | null => limits[code] ?? null

/**
 * The code of a connection error; empty without one. A name with several addresses fails at each of them: a machine without IPv6 has no
 * address for one (EADDRNOTAVAIL), which is no lack of ports if another address says why the service was not reached.
 */
export function codeOf(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (!(error instanceof AggregateError)) return code
  const others = error.errors.filter((each) => each instanceof Error && !hasNoAddress(each))
  const codes = others.map((each) => codeOf(each))
  return (
    codes.find((each) => localLimitOf(each) !== null) ?? codes.find((each) => each !== '') ?? code
  )
}

/** Whether it is of an IPv6 address that a machine without IPv6 cannot use. */
const hasNoAddress = (error: Error): boolean =>
  codeOf(error) === 'EADDRNOTAVAIL' && 'address' in error && String(error.address).includes(':')
