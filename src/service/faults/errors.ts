import { type Fault, fault } from './fault.ts'
import { editErrors, otherStatus } from './primitives.ts'

export const errorFaults: readonly Fault[] = [
  fault('status-402', 'ERR-01', '402 for insufficient credits', otherStatus('credits', 402)),
  fault('status-422', 'ERR-01', '422 for a request that is not valid', otherStatus('request', 422)),
  fault('error-code-null', 'ERR-02', 'error.code is null', (honest) =>
    editErrors(honest, (error) => ({ ...error, code: null })),
  ),
  fault(
    'not-found-without-code',
    'ERR-02',
    'svc-k2-0905 gets a 404 without error.code',
    (honest) => ({
      fits: (call) =>
        call.model?.id === 'svc-k2-0905'
          ? { kind: 'model', message: 'svc-k2-0905 is not served here' }
          : honest.fits(call),
      ...editErrors(honest, (error, refusal, call) => {
        const bare = refusal.kind === 'model' && call.model?.id === 'svc-k2-0905'
        return bare ? { ...error, status: 404, code: null } : error
      }),
    }),
  ),
  fault(
    'error-shapes-swapped',
    'ERR-03',
    'each format has the error shape of the other',
    (honest) =>
      editErrors(honest, (error) => ({
        ...error,
        shape: error.shape === 'chat' ? 'messages' : 'chat',
      })),
  ),
  fault(
    'error-wrong-type',
    'ERR-04',
    'rate_limit_exceeded has type invalid_request_error',
    (honest) =>
      editErrors(honest, (error) =>
        error.code === 'rate_limit_exceeded' && error.shape === 'chat'
          ? { ...error, type: 'invalid_request_error' }
          : error,
      ),
  ),
  fault('credits-as-429', 'ERR-05', 'too few credits is a 429', otherStatus('credits', 429)),
  fault(
    'error-200',
    'ERR-06',
    'a request that is not valid gets 200 and an error body',
    otherStatus('request', 200),
  ),
]
