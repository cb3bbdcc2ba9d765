import type { Store } from '../store/open.ts'
import { fillTable } from './temp-table.ts'
import type { DateBand, UsagePage } from './usage/shape.ts'
import { dayIn } from './zone-words.ts'

/**
 * What of the usage page was not computed in SQL, as temporary tables beside those of
 * `prepareUsage`, so that its charts are queries too: `usage_balance`, `usage_outlook`,
 * `usage_bands`, `usage_expiring`, `usage_reconciliation`, `usage_anomalies`. Dates are local words.
 */
export async function fillUsageTables(store: Store, page: UsagePage): Promise<void> {
  const { timezone } = page.scope
  const band = (dates: DateBand | null) => ({
    early: wordsOf(dates, dates?.earlyUs ?? null, timezone),
    median: wordsOf(dates, dates?.medianUs ?? null, timezone),
    late: wordsOf(dates, dates?.lateUs ?? null, timezone),
  })
  await fillTable(
    store,
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
    store,
    'usage_outlook',
    { at_us: 'BIGINT', low: 'DOUBLE', median: 'DOUBLE', high: 'DOUBLE' },
    outlookOf(page),
  )
  await fillTable(
    store,
    'usage_bands',
    {
      band: 'VARCHAR',
      min_balance: 'DOUBLE',
      per_minute: 'BIGINT',
      early: 'VARCHAR',
      median: 'VARCHAR',
      late: 'VARCHAR',
      says: 'VARCHAR',
    },
    page.bandLosses.map((loss) => ({
      band: loss.band,
      min_balance: loss.minBalance,
      per_minute: loss.requestsPerMinute,
      ...band(loss.lost),
      says: loss.says,
    })),
  )
  await fillTable(
    store,
    'usage_expiring',
    { grant_name: 'VARCHAR', expires: 'VARCHAR', low: 'DOUBLE', median: 'DOUBLE', high: 'DOUBLE' },
    (page.depletion.known ? page.depletion.wasted : []).map((each) => ({
      grant_name: each.grant,
      expires: dayIn(each.expiresUs, timezone),
      low: each.creditsLow,
      median: each.creditsMedian,
      high: each.creditsHigh,
    })),
  )
  await fillTable(
    store,
    'usage_reconciliation',
    {
      from_us: 'BIGINT',
      to_us: 'BIGINT',
      account: 'VARCHAR',
      service_says: 'DOUBLE',
      seen: 'DOUBLE',
      seen_at_most: 'DOUBLE',
      difference: 'DOUBLE',
      verdict: 'VARCHAR',
    },
    (page.reconciliation.known ? page.reconciliation.rows : []).map((row) => ({
      from_us: row.fromUs,
      to_us: row.toUs,
      account: row.account,
      service_says: row.serviceSays,
      seen: row.seen,
      seen_at_most: row.seenAtMost,
      difference: row.difference,
      verdict: row.verdict,
    })),
  )
  await fillTable(
    store,
    'usage_anomalies',
    { kind: 'VARCHAR', says: 'VARCHAR', n: 'BIGINT', example: 'VARCHAR' },
    page.anomalies.map(({ kind, says, count, rows }) => ({
      kind: kind.replaceAll('-', ' '),
      says,
      n: count,
      example: rows[0] === undefined ? null : `${rows[0].id}: ${rows[0].shows}`,
    })),
  )
}

function wordsOf(dates: DateBand | null, us: number | null, timezone: string): string | null {
  if (dates === null) return null
  return us === null ? `after ${dates.horizonDays} days` : dayIn(us, timezone)
}

/** Days that the outlook looks ahead when nothing runs out before. */
const outlookDays = 45
const dayUs = 86_400e6

/**
 * The balance to come as three straight lines: to where it is empty in the early, the median and
 * the late future; at the daily burn of the forecast where that lies beyond what was looked at.
 */
function outlookOf({ depletion, forecast, balance, scope }: UsagePage) {
  if (!depletion.known || !forecast.known) return []
  const last = Math.max(0, ...balance.map((point) => point.atUs))
  const fromUs = last > 0 ? last : Math.min(scope.nowUs, scope.toUs)
  const { earlyUs, medianUs, lateUs } = depletion.runsOut
  const held = depletion.balance
  const emptyUs = (us: number | null, perDay: number) =>
    us ?? fromUs + (perDay > 0 ? held / perDay : Number.MAX_SAFE_INTEGER / dayUs) * dayUs
  const ends = [
    emptyUs(earlyUs, forecast.highPerDay),
    emptyUs(medianUs, forecast.medianPerDay),
    emptyUs(lateUs, forecast.lowPerDay),
  ]
  const untilUs = Math.min(Math.max(...ends), fromUs + outlookDays * dayUs)
  const steps = 48
  const at = (us: number, endUs: number) =>
    us >= endUs ? 0 : held * (1 - (us - fromUs) / Math.max(1, endUs - fromUs))
  return Array.from({ length: steps + 1 }, (_, step) => {
    const us = Math.round(fromUs + ((untilUs - fromUs) * step) / steps)
    return { at_us: us, low: at(us, ends[0]!), median: at(us, ends[1]!), high: at(us, ends[2]!) }
  })
}
