import type { Session } from '../store/session/session.ts'
import { type Reconciled, readToldByService, serviceLines } from './summary/service-metrics.ts'
import { fillTable } from './temp-table.ts'

/**
 * Creates the tables of the service's own metrics, for the queries of a page: `shown_service` (place, what, client, service,
 * verdict, cause), a row for each count of each shown run; `shown_service_words` (place, words), the sentences on them; and
 * `shown_service_gauges` (at_s, gauge, value), requests that ran and waited.
 */
export async function prepareService(session: Session): Promise<void> {
  const runs = await session.rows<{ run_id: string; offset_us: number | bigint }>(
    'FROM shown_runs ORDER BY offset_us, run_id',
  )
  const counts: (Reconciled & { readonly place: number })[] = []
  const words: { readonly place: number; readonly words: string }[] = []
  const gauges: { readonly at_s: number; readonly gauge: string; readonly value: number }[] = []
  for (const { run_id, offset_us } of runs) {
    const told = await readToldByService(session, run_id)
    if (told === null) continue
    const { metrics, lines } = told
    for (const row of metrics.reconciliation) counts.push({ place: counts.length, ...row })
    for (const gauge of ['running', 'waiting'] as const) {
      for (const { atUs, value } of lines[gauge] ?? []) {
        gauges.push({ at_s: (atUs + Number(offset_us)) / 1e6, gauge, value })
      }
    }
    for (const line of serviceLines({ ...metrics, reconciliation: [] }))
      words.push({ place: words.length, words: line })
  }
  await fillTable(
    session,
    'shown_service',
    {
      place: 'INTEGER',
      what: 'VARCHAR',
      client: 'DOUBLE',
      service: 'DOUBLE',
      verdict: 'VARCHAR',
      cause: 'VARCHAR',
    },
    counts,
  )
  await fillTable(session, 'shown_service_words', { place: 'INTEGER', words: 'VARCHAR' }, words)
  await fillTable(
    session,
    'shown_service_gauges',
    { at_s: 'DOUBLE', gauge: 'VARCHAR', value: 'DOUBLE' },
    gauges,
  )
}
