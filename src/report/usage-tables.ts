import type { Session } from '../store/session/session.ts'
import { fillTable } from './temp-table.ts'
import { outlookPoints } from './usage/board/outlook.ts'
import type { Anomaly, DateBand, ShownUsage } from './usage/shape.ts'
import { longDayIn, momentIn } from './zone-words.ts'

/** Anomalies of these kinds are hours, which dates name. */
const ofHours: ReadonlySet<Anomaly['kind']> = new Set(['unusual-hour', 'error-jump', 'limit-jump'])

/**
 * Creates temporary tables of the values that were not computed in SQL, for the charts' queries: `usage_balance`,
 * `usage_outlook`, `usage_bands`, `usage_expiring`, `usage_reconciliation`, `usage_anomalies`. Dates are local text.
 */
export async function fillUsageTables(session: Session, page: ShownUsage): Promise<void> {
  const { timezone } = page.scope
  const empty = page.depletion.known ? page.depletion.runsOut : null
  const nameOf = (kind: Anomaly['kind'], { id, atUs }: Anomaly['rows'][number]) =>
    ofHours.has(kind) ? momentIn(atUs, timezone) : id
  const band = (dates: DateBand | null) => ({
    early: wordsOf(dates, dates?.earlyUs ?? null, timezone),
    median: wordsOf(dates, dates?.medianUs ?? null, timezone),
    late: wordsOf(dates, dates?.lateUs ?? null, timezone),
  })
  await fillTable(
    session,
    'usage_balance',
    { at_us: 'BIGINT', account: 'VARCHAR', remaining: 'DOUBLE', told_by: 'VARCHAR' },
    page.balance.map(({ atUs, account, remaining, from }) => ({
      at_us: atUs,
      account,
      remaining,
      told_by: from,
    })),
  )
  await fillTable(
    session,
    'usage_outlook',
    {
      at_us: 'BIGINT',
      low: 'DOUBLE',
      median: 'DOUBLE',
      high: 'DOUBLE',
      empty_early_us: 'BIGINT',
      empty_us: 'BIGINT',
      empty_late_us: 'BIGINT',
    },
    outlookPoints(page).map(({ atUs, balance }) => ({
      at_us: atUs,
      ...balance,
      empty_early_us: whole(empty?.earlyUs),
      empty_us: whole(empty?.medianUs),
      empty_late_us: whole(empty?.lateUs),
    })),
  )
  await fillTable(
    session,
    'usage_bands',
    {
      band: 'VARCHAR',
      min_balance: 'DOUBLE',
      per_minute: 'BIGINT',
      early: 'VARCHAR',
      median: 'VARCHAR',
      late: 'VARCHAR',
      summary: 'VARCHAR',
    },
    page.bandLosses.map((loss) => ({
      band: loss.band,
      min_balance: loss.minBalance,
      per_minute: loss.requestsPerMinute,
      ...band(loss.lost),
      // The note above the table explains the dates.
      summary: typeof loss.lost?.medianUs === 'number' ? null : loss.summary,
    })),
  )
  await fillTable(
    session,
    'usage_expiring',
    {
      grant_name: 'VARCHAR',
      expires: 'VARCHAR',
      expires_us: 'BIGINT',
      low: 'DOUBLE',
      median: 'DOUBLE',
      high: 'DOUBLE',
    },
    (page.depletion.known ? page.depletion.wasted : []).map((each) => ({
      grant_name: each.grant,
      expires: longDayIn(each.expiresUs, timezone),
      expires_us: each.expiresUs,
      low: each.creditsLow,
      median: each.creditsMedian,
      high: each.creditsHigh,
    })),
  )
  await fillTable(
    session,
    'usage_reconciliation',
    {
      from_us: 'BIGINT',
      to_us: 'BIGINT',
      account: 'VARCHAR',
      service_reported: 'DOUBLE',
      seen: 'DOUBLE',
      seen_at_most: 'DOUBLE',
      difference: 'DOUBLE',
      verdict: 'VARCHAR',
    },
    (page.reconciliation.known ? page.reconciliation.rows : []).map((row) => ({
      from_us: row.fromUs,
      to_us: row.toUs,
      account: row.account,
      service_reported: row.serviceReported,
      seen: row.seen,
      seen_at_most: row.seenAtMost,
      difference: row.difference,
      verdict: row.verdict,
    })),
  )
  await fillTable(
    session,
    'usage_anomalies',
    { kind: 'VARCHAR', summary: 'VARCHAR', n: 'BIGINT', example: 'VARCHAR' },
    page.anomalies.map(({ kind, summary, count, rows }) => ({
      kind: kind.replaceAll('-', ' '),
      summary,
      n: count,
      example: rows[0] === undefined ? null : `${nameOf(kind, rows[0])}: ${rows[0].shows}`,
    })),
  )
}

function wordsOf(dates: DateBand | null, us: number | null, timezone: string): string | null {
  if (dates === null) return null
  return us === null ? `after ${dates.horizonDays} days` : longDayIn(us, timezone)
}

const whole = (us: number | null | undefined) => (us == null ? null : Math.round(us))
