import type { Window } from '../../contract/contract.ts'
import type { Behaviour } from '../behaviour.ts'
import type { Call } from '../call.ts'
import type { Refusal, RefusalKind, WireError } from '../refusal.ts'
import type { Fault } from './fault.ts'

/** Changes errors as they go out. */
export const editErrors = (
  honest: Behaviour,
  edit: (error: WireError, refusal: Refusal, call: Call) => WireError,
): Pick<Behaviour, 'wireError'> => ({
  wireError: (call, refusal) => edit(honest.wireError(call, refusal), refusal, call),
})

/** Gives refusals of a kind another status. */
export const otherStatus =
  (kind: RefusalKind, status: number): Fault['breaks'] =>
  (honest) =>
    editErrors(honest, (error, refusal) => (refusal.kind === kind ? { ...error, status } : error))

/** Changes one of the headers, where it is; null where the contract promises none. */
export const header = (
  honest: Behaviour,
  name: string | null,
  edit: (value: string, refused: boolean, call: Call) => string,
): Pick<Behaviour, 'rateHeaders'> => ({
  rateHeaders(call, look, refused) {
    const headers = honest.rateHeaders(call, look, refused)
    const value = name === null ? undefined : headers[name]
    if (name !== null && value !== undefined) headers[name] = edit(value, refused, call)
    return headers
  },
})

/** Counts requests apart that are of different names. */
export const subject = (
  honest: Behaviour,
  name: (call: Call) => string,
): Pick<Behaviour, 'rateSubject'> => ({
  rateSubject: (call) => `${honest.rateSubject(call)} ${name(call)}`,
})

/** Enforces another limit of a window than the header says. */
export const hiddenLimit = (
  honest: Behaviour,
  window: Window,
  change: (limit: number, call: Call) => number,
  { rateLimit, rateRemaining }: { rateLimit: string; rateRemaining: string },
): Pick<Behaviour, 'limits' | 'rateHeaders'> => ({
  limits(call) {
    const limits = honest.limits(call)
    return { ...limits, [window]: change(limits[window], call) }
  },
  rateHeaders(call, look, refused) {
    const headers = honest.rateHeaders(call, look, refused)
    const promised = honest.limits(call)[window]
    if (headers[rateLimit] !== String(change(promised, call))) return headers
    headers[rateLimit] = String(promised)
    headers[rateRemaining] = String(Math.min(promised, Number(headers[rateRemaining])))
    return headers
  },
})
