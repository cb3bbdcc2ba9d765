import { dayUs } from '../../user/durations.ts'
import type { Behaviour } from '../behaviour.ts'
import type { Call } from '../call.ts'
import type { CreditsReport, UsageLine } from '../usage/report.ts'
import { type Fault, fault } from './fault.ts'

const aheadMs = 9 * 3_600e3

const edited = (
  honest: Behaviour,
  edit: (report: CreditsReport, call: Call) => object,
): Pick<Behaviour, 'creditsReport'> => ({
  // Faults are meant to break the shape of the report.
  creditsReport: (call) => edit(honest.creditsReport(call), call) as CreditsReport,
})

const doubled = <Line extends UsageLine>(line: Line): Line => ({
  ...line,
  credits: line.credits * 2,
  requests: line.requests * 2,
})

/** The body of the credits without its hours, in any layout. */
function withoutHours(body: object): object {
  const isHours = (name: string) => name === 'by_hour' || name === 'hourly'
  return JSON.parse(JSON.stringify(body, (name, value) => (isHours(name) ? undefined : value)))
}

export const usageFaults: readonly Fault[] = [
  fault('usage-not-hourly', 'USE-01', 'no usage by hour', (honest) => ({
    // Removed from the body only, because other faults still read the hours of the report.
    creditsBody: (call, report) => withoutHours(honest.creditsBody(call, report)),
  })),
  fault('consumed-counts-failures', 'USE-02', 'failed requests count as consumed', (honest) => {
    const failures = new Map<number, number>()
    return {
      wireError(call, refusal) {
        const account = call.key?.accountId
        if (account !== undefined) failures.set(account, (failures.get(account) ?? 0) + 1)
        return honest.wireError(call, refusal)
      },
      ...edited(honest, (report, call) => {
        const failed = failures.get(call.key!.accountId) ?? 0
        return { ...report, total_consumed: report.total_consumed + failed }
      }),
    }
  }),
  fault('hours-not-of-the-day', 'USE-03', 'hours of the last day are counted twice', (honest) =>
    edited(honest, (report) => {
      const last = report.by_day.at(-1)?.date
      const by_hour = report.by_hour.map((hour) => (hour.date === last ? doubled(hour) : hour))
      return { ...report, by_hour }
    }),
  ),
  fault('hours-ahead', 'USE-03', 'hours are labelled nine hours late, days are not', (honest) =>
    edited(honest, (report) => ({
      ...report,
      by_hour: report.by_hour.map((hour) => {
        const start = new Date(Date.parse(hour.start) + aheadMs).toISOString()
        return { ...hour, start, date: start.slice(0, 10) }
      }),
    })),
  ),
  fault('usage-under-tomorrow', 'USE-03', 'all usage is listed under the next day', (honest) => {
    const next = (time: string) => new Date(Date.parse(time) + dayUs / 1000).toISOString()
    const date = (day: string) => next(day).slice(0, 10)
    return edited(honest, (report) => ({
      ...report,
      by_day: report.by_day.map((day) => ({ ...day, date: date(day.date) })),
      by_hour: report.by_hour.map((hour) => ({
        ...hour,
        start: next(hour.start),
        date: date(hour.date),
      })),
    }))
  }),
  fault(
    'usage-misses-streams',
    'USE-04',
    'streams are charged, and missing from usage',
    (honest) => {
      const missed = new Map<number, number>()
      return {
        settle(call, usage) {
          honest.settle(call, usage)
          const { accountId } = call.key!
          if (call.request?.stream) missed.set(accountId, (missed.get(accountId) ?? 0) + 1)
        },
        ...edited(honest, (report, call) => {
          const streams = missed.get(call.key!.accountId) ?? 0
          const { total_consumed, consumed, requests } = report
          return {
            ...report,
            total_consumed: total_consumed - streams,
            consumed: consumed - streams,
            requests: requests - streams,
          }
        }),
      }
    },
  ),
  fault('mean-of-means', 'USE-05', 'the average is the mean of the averages of models', (honest) =>
    edited(honest, (report) => {
      const means = report.by_model.flatMap((line) => line.average_tokens_per_request ?? [])
      // Each model weighs the same, so the result is wrong whenever the models' averages differ.
      const mean = means.reduce((sum, each) => sum + each, 0) / Math.max(1, means.length)
      return { ...report, average_tokens_per_request: means.length === 0 ? null : mean }
    }),
  ),
  fault('ranges-not-additive', 'USE-06', 'a range that starts later counts double', (honest) =>
    edited(honest, (report, call) =>
      /(^|&)from=/.test(call.incoming.query)
        ? {
            ...report,
            consumed: report.consumed * 2,
            by_day: report.by_day.map(doubled),
            by_hour: report.by_hour.map(doubled),
          }
        : report,
    ),
  ),
  fault('consumed-falls', 'USE-07', 'consumed credits decrease', (honest) => {
    let reads = 0
    return edited(honest, (report) => {
      const less = reads++ % 2
      return { ...report, total_consumed: Math.max(0, report.total_consumed - less) }
    })
  }),
  fault(
    'usage-cached-a-day',
    'PAGE-01',
    'the usage page is up to a day old',
    (honest, { clock }) => {
      const cached = new Map<string, { readonly atUs: number; readonly report: CreditsReport }>()
      return {
        pageReport(call, accountId, query) {
          // The page always asks for the last hours. The cache must ignore where they begin.
          const name = `${accountId} ${query.replace(/from=[^&]*/, 'from')}`
          const before = cached.get(name)
          if (before !== undefined && clock.nowUs() - before.atUs < dayUs) return before.report
          const report = honest.pageReport(call, accountId, query)
          cached.set(name, { atUs: clock.nowUs(), report })
          return report
        },
      }
    },
  ),
]
