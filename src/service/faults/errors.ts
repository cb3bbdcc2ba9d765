import { type Fault, fault } from './fault.ts'

export const errorFaults: readonly Fault[] = [
  fault('status-402', 'ERR-01', '402 for insufficient credits', (honest) => ({
    wireError(call, refusal) {
      const error = honest.wireError(call, refusal)
      return refusal.kind === 'credits' ? { ...error, status: 402 } : error
    },
  })),
  fault('status-422', 'ERR-01', '422 for a request that is not valid', (honest) => ({
    wireError(call, refusal) {
      const error = honest.wireError(call, refusal)
      return refusal.kind === 'request' ? { ...error, status: 422 } : error
    },
  })),
  fault('error-code-null', 'ERR-02', 'error.code is null', (honest) => ({
    wireError: (call, refusal) => ({ ...honest.wireError(call, refusal), code: null }),
  })),
  fault(
    'not-found-without-code',
    'ERR-02',
    'svc-k2-0905 gets a 404 without error.code',
    (honest) => ({
      fits: (call) =>
        call.model?.id === 'svc-k2-0905'
          ? { kind: 'model', message: 'svc-k2-0905 is not served here' }
          : honest.fits(call),
      wireError(call, refusal) {
        const error = honest.wireError(call, refusal)
        const bare = refusal.kind === 'model' && call.model?.id === 'svc-k2-0905'
        return bare ? { ...error, status: 404, code: null } : error
      },
    }),
  ),
  fault(
    'error-shapes-swapped',
    'ERR-03',
    'each format has the error shape of the other',
    (honest) => ({
      wireError(call, refusal) {
        const error = honest.wireError(call, refusal)
        return { ...error, shape: error.shape === 'chat' ? 'messages' : 'chat' }
      },
    }),
  ),
  fault(
    'error-wrong-type',
    'ERR-04',
    'rate_limit_exceeded has type invalid_request_error',
    (honest) => ({
      wireError(call, refusal) {
        const error = honest.wireError(call, refusal)
        return error.code === 'rate_limit_exceeded' && error.shape === 'chat'
          ? { ...error, type: 'invalid_request_error' }
          : error
      },
    }),
  ),
  fault('credits-as-429', 'ERR-05', 'too few credits is a 429', (honest) => ({
    wireError(call, refusal) {
      const error = honest.wireError(call, refusal)
      return refusal.kind === 'credits' ? { ...error, status: 429 } : error
    },
  })),
  fault(
    'error-200',
    'ERR-06',
    'a request that is not valid gets 200 and an error body',
    (honest) => ({
      wireError(call, refusal) {
        const error = honest.wireError(call, refusal)
        return refusal.kind === 'request' ? { ...error, status: 200 } : error
      },
    }),
  ),
]
