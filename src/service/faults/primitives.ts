import type { Headers, Window } from '../../contract/contract.ts'
import type { Behaviour } from '../behaviour.ts'
import type { Call } from '../call.ts'
import type { Refusal, RefusalKind, WireError } from '../refusal.ts'
import type { Fault } from './fault.ts'

/** Changes errors before they are sent. */
export const editErrors = (
  honest: Behaviour,
  edit: (error: WireError, refusal: Refusal, call: Call) => WireError,
): Pick<Behaviour, 'wireError'> => ({
  wireError: (call, refusal) => edit(honest.wireError(call, refusal), refusal, call),
})

/** Changes the status of refusals of one kind. */
export const otherStatus =
  (kind: RefusalKind, status: number): Fault['breaks'] =>
  (honest) =>
    editErrors(honest, (error, refusal) => (refusal.kind === kind ? { ...error, status } : error))

/** Changes a header if it is sent. A null name stands for a header that the contract does not have. */
export const header = (
  honest: Behaviour,
  name: string | undefined,
  edit: (value: string, refused: boolean, call: Call) => string,
): Pick<Behaviour, 'rateHeaders'> => ({
  rateHeaders(call, look, refused) {
    const headers = honest.rateHeaders(call, look, refused)
    const value = name === undefined ? undefined : headers[name]
    if (name !== undefined && value !== undefined) headers[name] = edit(value, refused, call)
    return headers
  },
})

/** Counts requests with different names separately. */
export const subject = (
  honest: Behaviour,
  name: (call: Call) => string,
): Pick<Behaviour, 'rateSubject'> => ({
  rateSubject: (call) => `${honest.rateSubject(call)} ${name(call)}`,
})

/** Enforces a limit that differs from the one in the header. */
export const hiddenLimit = (
  honest: Behaviour,
  window: Window,
  change: (limit: number, call: Call) => number,
  {
    rateLimit: [rateLimit],
    rateRemaining: [rateRemaining],
  }: Pick<Headers, 'rateLimit' | 'rateRemaining'>,
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
