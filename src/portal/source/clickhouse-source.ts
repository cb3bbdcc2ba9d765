import { join } from 'node:path'
import {
  fetchQuarters,
  fetchRequests,
  writeRequests,
} from '../../report/usage/engine/clickhouse.ts'
import { heldRowsSql } from '../../report/usage/imported-lots.ts'
import type { ClickHouse } from '../../store/clickhouse/clickhouse.ts'
import { writeLastFours } from '../../store/clickhouse/last-fours.ts'
import { arrivalsSql, entriesSql, type RequestRow, type Source } from './source.ts'

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
    // An import leaves the times of requests in stores.
    timed: false,
    mark: () => null,
    async copyTo(folder) {
      const found = await clickhouse.rows<Day>(`
        SELECT day, arrayStringConcat(arraySort(groupArray(mark)), ' ') AS mark FROM (
          SELECT intDiv(at_us, 86400000000) AS day, concat('e', toString(count()), '/', toString(max(ingested_us)), '/', toString(sum(ingested_us))) AS mark
          FROM usage_events GROUP BY day
          UNION ALL
          SELECT intDiv(quarter, 96) AS day, concat('q', toString(count()), '/', toString(max(closed_us))) AS mark
          FROM usage_quarters GROUP BY day)
        GROUP BY day`)
      const marks = new Map(found.map(({ day, mark }) => [day, mark]))
      const replaced = [...new Set([...days.keys(), ...marks.keys()])].filter(
        (day) => days.get(day) !== marks.get(day),
      )
      await fetchQuarters(clickhouse, replaced, join(folder, 'events'))
      await fetchQuarters(clickhouse, null, join(folder, 'sums'))
      await clickhouse.writeParquet('SELECT * FROM usage_polls FINAL', {}, join(folder, 'polls'))
      await clickhouse.writeParquet(entriesSql('usage_events FINAL'), {}, join(folder, 'entries'))
      await clickhouse.writeParquet(heldRowsSql('usage_events FINAL'), {}, join(folder, 'held'))
      await writeLastFours(clickhouse, join(folder, 'keys'))
      const arrivals = arrivalsSql([
        ['usage_events FINAL', 'at_us'],
        ['usage_buckets FINAL', 'start_us'],
      ])
      await clickhouse.writeParquet(arrivals, {}, join(folder, 'arrivals'))
      return {
        replaced,
        done: () => {
          days = marks
        },
      }
    },
    requests: (scope, query, given) => fetchRequests<RequestRow>(clickhouse, scope, query, given),
    writeRequests: (scope, query, file, given) =>
      writeRequests(clickhouse, scope, query, file, given),
    close: () => clickhouse.close(),
  }
}
