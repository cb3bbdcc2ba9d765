import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fetchQuarters, fetchRequests } from '../report/usage/engine/clickhouse.ts'
import type { ClickHouse } from '../store/clickhouse/clickhouse.ts'
import { literal } from '../store/literal.ts'
import type { RequestRow, Source } from './snapshot.ts'

interface Day {
  readonly day: number
  readonly mark: string
}

/**
 * Usage in ClickHouse, whose server lets many read and write at once. Days are summed again only if they changed; sums of
 * intervals are read whole.
 */
export function clickhouseSource(clickhouse: ClickHouse): Source {
  let days = new Map<number, string>()
  return {
    mark: () => null,
    async copyInto(into) {
      const folder = mkdtempSync(join(tmpdir(), 'assay-portal-'))
      try {
        const found = await clickhouse.rows<Day>(`
          SELECT day, arrayStringConcat(arraySort(groupArray(mark)), ' ') AS mark FROM (
            SELECT intDiv(at_us, 86400000000) AS day, concat('e', toString(count()), '/', toString(max(ingested_us)), '/', toString(sum(ingested_us))) AS mark
            FROM usage_events GROUP BY day
            UNION ALL
            SELECT intDiv(quarter, 96) AS day, concat('q', toString(count()), '/', toString(max(closed_us))) AS mark
            FROM usage_quarters GROUP BY day)
          GROUP BY day`)
        const now = new Map(found.map(({ day, mark }) => [day, mark]))
        const stale = [...new Set([...days.keys(), ...now.keys()])].filter(
          (day) => days.get(day) !== now.get(day),
        )
        const file = (name: string) => join(folder, name)
        await fetchQuarters(clickhouse, stale, file('events'))
        await fetchQuarters(clickhouse, null, file('sums'))
        await clickhouse.writeParquet('SELECT * FROM usage_polls FINAL', {}, file('polls'))
        const read = (name: string) => `read_parquet(${literal(file(name))})`
        await into.execute(`
          BEGIN;
          DELETE FROM held WHERE day IS NULL OR day IN (SELECT unnest([${stale.join()}]::BIGINT[]));
          INSERT INTO held BY NAME SELECT *, quarter // 96 AS day FROM ${read('events')} ORDER BY account, quarter;
          INSERT INTO held BY NAME SELECT *, NULL::BIGINT AS day FROM ${read('sums')};
          DELETE FROM usage_polls;
          INSERT INTO usage_polls BY NAME FROM ${read('polls')};
          COMMIT`)
        days = now
        return stale
      } finally {
        rmSync(folder, { recursive: true })
      }
    },
    requests: (scope, query) => fetchRequests<RequestRow>(clickhouse, scope, query),
    close: () => clickhouse.close(),
  }
}
