import type { Profile } from '../profile.ts'
import type { CreditsReport, UsageLine } from '../usage/report.ts'

/**
 * The body of `GET /user/credits`. The specification leaves its fields open (G-09):
 *
 *     flat      the report's own fields
 *     nested    the same names in groups: balance, usage, ledger
 *     renamed   other names: credits_left, total_used, daily, hourly
 */
export function creditsBody(report: CreditsReport, layout: Profile['creditsBody']): object {
  switch (layout) {
    case 'flat':
      return report
    case 'nested':
      return nested(report)
    case 'renamed':
      return renamed(report)
  }
}

function nested(report: CreditsReport): object {
  const { object, total_granted, total_expired, remaining, expiring, entries, ...usage } = report
  return {
    object,
    balance: { total_granted, total_expired, remaining },
    usage,
    ledger: { expiring, entries },
  }
}

function renamed(report: CreditsReport): object {
  return {
    total_credits: report.total_granted,
    total_used: report.total_consumed,
    credits_lapsed: report.total_expired,
    credits_left: report.remaining,
    period: { zone: report.timezone, since: report.from, until: report.to },
    used: report.consumed,
    request_count: report.requests,
    mean_tokens: report.average_tokens_per_request,
    daily: report.by_day.map(({ date, ...line }) => ({ day: date, ...renamedLine(line) })),
    hourly: report.by_hour.map(({ start, date: _, ...line }) => ({
      hour: start,
      ...renamedLine(line),
    })),
    models: Object.fromEntries(
      report.by_model.map(({ model, ...line }) => [model, renamedLine(line)]),
    ),
  }
}

function renamedLine(line: UsageLine): object {
  return {
    used: line.credits,
    requests: line.requests,
    input_tokens: line.prompt_tokens,
    output_tokens: line.completion_tokens,
    mean_tokens: line.average_tokens_per_request,
  }
}
