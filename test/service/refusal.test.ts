import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { defaultProfile } from '../../src/service/profile.ts'
import { type RefusalKind, wireError } from '../../src/service/refusal.ts'

const statusesOf = (status: number) => {
  const chatErrors = [
    ...defaultContract.chatErrors.filter(({ code }) => code !== 'invalid_request'),
    { code: 'api_error', type: 'server_error', status },
    { code: 'invalid_request', type: 'invalid_request_error', status: 422 },
  ]
  const kinds: readonly RefusalKind[] = ['internal', 'unavailable', 'path', 'request']
  return kinds.map(
    (kind) =>
      wireError({ kind, message: 'm' }, 'chat', { ...defaultContract, chatErrors }, defaultProfile)
        .status,
  )
}

test('an error that borrows the code of a row of the contract keeps its own status', () => {
  expect(statusesOf(500)).toEqual([500, 503, 404, 422])
  expect(statusesOf(503)).toEqual([500, 503, 404, 422])
})
