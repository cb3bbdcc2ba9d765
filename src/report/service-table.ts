import { readServiceFigures } from '../exporter/figures.ts'
import type { Session } from '../store/session.ts'
import { readServiceMetrics, serviceLines } from './summary/service-metrics.ts'
import { fillTable } from './temp-table.ts'

/**
 * Creates the tables of the service's own metrics, for the queries of a page: `shown_service` (place, what, client, service,
 * verdict, cause), a row for each count of each shown run; `shown_service_words` (place, words), the sentences on them; and
 * `shown_service_gauges` (at_s, gauge, value), requests that ran and waited.
 */
export async function prepareService(store: Session): Promise<void> {
  const runs = await store.rows<{ run_id: string; offset_us: number | bigint }>(
    'FROM shown_runs ORDER BY offset_us, run_id',
  )
  const counts: object[] = []
  const words: object[] = []
  const gauges: object[] = []
  for (const { run_id, offset_us } of runs) {
    const service = await readServiceMetrics(store, run_id)
    if (service === null) continue
    for (const row of service.reconciliation) counts.push({ place: counts.length, ...row })
    const lines = (await readServiceFigures(store, run_id, null))?.lines ?? {}
    for (const gauge of ['running', 'waiting'] as const) {
      for (const { atUs, value } of lines[gauge] ?? []) {
        gauges.push({ at_s: (atUs + Number(offset_us)) / 1e6, gauge, value })
      }
    }
    const sentences = serviceLines({ ...service, reconciliation: [] })
    for (const line of sentences) words.push({ place: words.length, words: line })
  }
  await fillTable(
    store,
    'shown_service',
    {
      ...{ place: 'INTEGER', what: 'VARCHAR', client: 'DOUBLE', service: 'DOUBLE' },
      ...{ verdict: 'VARCHAR', cause: 'VARCHAR' },
    },
    counts as never,
  )
  await fillTable(
    store,
    'shown_service_words',
    { place: 'INTEGER', words: 'VARCHAR' },
    words as never,
  )
  await fillTable(
    store,
    'shown_service_gauges',
    { at_s: 'DOUBLE', gauge: 'VARCHAR', value: 'DOUBLE' },
    gauges as never,
  )
}
