import { expect, test } from 'vitest'
import { openClickhouse } from '../../src/store/clickhouse/clickhouse.ts'

test.each([
  'postgres://assay:s3cret@127.0.0.1/usage',
  'clickhouse://assay:s3cret%zz@127.0.0.1/usage',
  'clickhouse://assay:s3cret@127.0.0.1/%e0%a4%a',
])('an invalid address is refused without its password: %s', async (address) => {
  const refused = await openClickhouse(address).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'usage' })
  expect(String(refused)).toContain('expected clickhouse://user:password@host:port/database')
  expect(String(refused)).not.toContain('s3cret')
})
