import { expect, test } from 'vitest'
import { columns } from '../../src/store/clickhouse/import-log.ts'
import { tablesSql } from '../../src/store/clickhouse/tables.ts'

test('an import into ClickHouse writes each column of an event once', () => {
  const table = tablesSql(null).find((sql) => /TABLE\b.*\busage_events\b/.test(sql))!
  const own = [...table.matchAll(/^ {2}(\w+) (?!.*MATERIALIZED)/gm)].map(([, name]) => name)
  // The first column stands beside the name of the table.
  expect(columns.toSorted()).toEqual([...new Set(['source', ...own])].toSorted())
})
