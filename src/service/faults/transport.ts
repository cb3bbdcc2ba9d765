import { type Fault, fault } from './fault.ts'
import { otherStatus } from './primitives.ts'

/** Share of generations that fail, for faults that only failures show. */
export const failureShare = 0.1

export const transportFaults: readonly Fault[] = [
  fault(
    'html-503',
    'TRN-02',
    'one generation in ten is a 503 with an HTML body',
    (honest) => ({
      outage: (call) => honest.outage(call) ?? 'unavailable',
      respond(call, response) {
        if (response.status !== 503) return honest.respond(call, response)
        response.headers['content-type'] = 'text/html'
        return { ...response, body: '<html><body><h1>503 Service Unavailable</h1></body></html>' }
      },
    }),
    failureShare,
  ),
  fault('latin1-body', 'TRN-02', 'plain bodies are in Latin-1', (honest) => ({
    respond: (call, response) =>
      honest.respond(call, { ...response, body: Buffer.from(response.body.toString(), 'latin1') }),
  })),
  fault('cors-only-on-2xx', 'TRN-03', 'no CORS headers on failures', (honest) => ({
    headers(call, status, headers) {
      const all = honest.headers(call, status, headers)
      if (status < 300) return all
      const { 'access-control-allow-origin': _, ...rest } = all
      return rest
    },
  })),
  fault('cors-not-exposed', 'TRN-04', 'no Access-Control-Expose-Headers', (honest) => ({
    headers(call, status, headers) {
      const { 'access-control-expose-headers': _, ...rest } = honest.headers(call, status, headers)
      return rest
    },
  })),
  fault(
    'credits-under-v1',
    'TRN-05',
    '/user/credits is at /v1/user/credits',
    (honest, { contract }) => ({
      path(call) {
        const path = honest.path(call)
        if (path === `/v1${contract.paths.credits}`) return contract.paths.credits
        return path === contract.paths.credits ? '/moved' : path
      },
    }),
  ),
  fault(
    'messages-path-missing',
    'TRN-05',
    '/v1/messages does not exist',
    (honest, { contract }) => ({
      path(call) {
        const path = honest.path(call)
        return path === contract.paths.messages ? '/moved' : path
      },
    }),
  ),
  fault('catch-all-200', 'TRN-06', 'unknown paths answer 200', (honest, kit) => ({
    ...otherStatus('path', 200)(honest, kit, 1),
    errorBody: (call, error) =>
      call.endpoint === 'other' ? { ok: true } : honest.errorBody(call, error),
  })),
]
