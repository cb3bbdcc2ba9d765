import { insertRow } from '../store/insert-row.ts'
import { withoutCredentials } from '../store/runs/runs.ts'
import type { Session } from '../store/session/session.ts'
import type { Source } from './find.ts'
import type { Scraped } from './scrape-log.ts'

/** Times may have a fraction of a microsecond; columns hold whole ones. */
const wholeUs = (us: number) => BigInt(Math.round(us))

/** Stores what was scraped during a run. */
export async function keepMetrics(
  store: Session,
  runId: string,
  sources: readonly Source[],
  everyUs: number,
  { scrapes, series, points }: Scraped,
): Promise<void> {
  for (const [at, { url, kind, foundBy }] of sources.entries()) {
    await insertRow(store, 'metric_sources', {
      run_id: runId,
      source: at,
      url: withoutCredentials(url),
      kind,
      found_by: foundBy,
      every_us: wholeUs(everyUs),
    })
  }
  const looks = await store.createAppender('metric_scrapes')
  for (const { source, atUs, tookUs, bytes, border, reason } of scrapes) {
    looks.appendVarchar(runId)
    looks.appendInteger(source)
    looks.appendBigInt(wholeUs(atUs))
    if (tookUs === null) looks.appendNull()
    else looks.appendBigInt(wholeUs(tookUs))
    if (bytes === null) looks.appendNull()
    else looks.appendBigInt(BigInt(bytes))
    for (const text of [border, reason]) {
      if (text === null) looks.appendNull()
      else looks.appendVarchar(text)
    }
    looks.endRow()
  }
  looks.closeSync()
  const all = await store.createAppender('metric_series')
  for (const [at, { source, name, family, type, labels }] of series.entries()) {
    all.appendVarchar(runId)
    all.appendInteger(at)
    all.appendInteger(source)
    for (const text of [name, family, type, labels]) all.appendVarchar(text)
    all.endRow()
  }
  all.closeSync()
  const values = await store.createAppender('metric_points')
  for (const [at, atUs, value] of points) {
    values.appendVarchar(runId)
    values.appendInteger(at)
    values.appendBigInt(wholeUs(atUs))
    values.appendDouble(value)
    values.endRow()
  }
  values.closeSync()
}
