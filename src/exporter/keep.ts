import { insertRow, insertRows } from '../store/insert-row.ts'
import { withoutCredentials } from '../store/runs/runs.ts'
import type { Session } from '../store/session/session.ts'
import { words } from '../user/words.ts'
import type { Source } from './find.ts'
import type { Scraped } from './scrape-log.ts'

/** Stores what was scraped during a run. */
export async function keepMetrics(
  session: Session,
  runId: string,
  sources: readonly Source[],
  everyUs: number,
  { scrapes, series, points }: Scraped,
): Promise<void> {
  for (const [at, { url, kind, foundBy }] of sources.entries()) {
    await insertRow(session, 'metric_sources', {
      run_id: runId,
      source: at,
      url: withoutCredentials(url),
      kind,
      found_by: foundBy,
      every_us: BigInt(Math.round(everyUs)),
    })
  }
  await insertRows(
    session,
    'metric_scrapes',
    words('run_id source at_us took_us bytes border reason'),
    scrapes.map((look) => [
      ...[runId, look.source, look.atUs, look.tookUs, look.bytes, look.border, look.reason],
    ]),
  )
  await insertRows(
    session,
    'metric_series',
    words('run_id series source name family type labels'),
    series.map(({ source, name, family, type, labels }, at) => [
      ...[runId, at, source, name, family, type, labels],
    ]),
  )
  await insertRows(
    session,
    'metric_points',
    words('run_id series at_us value'),
    points.map((point) => [runId, ...point]),
  )
}
