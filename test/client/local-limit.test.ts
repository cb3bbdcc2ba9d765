import { expect, test } from 'vitest'
import { localLimitOf } from '../../src/client/local-limit.ts'

test('what this machine ran out of is told from what the service did', () => {
  expect(
    ['EADDRNOTAVAIL', 'EADDRINUSE', 'EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'].map(localLimitOf),
  ).toEqual([
    'no-local-port',
    'no-local-port',
    'no-open-file',
    'no-open-file',
    'no-local-memory',
    'no-local-memory',
  ])
  expect(['ECONNREFUSED', 'ETIMEDOUT', 'ENETUNREACH', ''].map(localLimitOf)).toEqual([
    null,
    null,
    null,
    null,
  ])
})
