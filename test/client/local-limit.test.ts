import { expect, test } from 'vitest'
import { localLimitOf } from '../../src/client/local-limit.ts'

test('error codes of exhausted local resources are distinguished from those of the service', () => {
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
