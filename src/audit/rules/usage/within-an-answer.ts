import type { Exchange } from '../../exchange/exchange.ts'
import { type Bucket, sumOf } from './report.ts'
import { reportRule } from './report-rule.ts'

export const use01 = reportRule({
  id: 'USE-01',
  says: 'Credit usage tells consumed, remaining, usage by day and hour, and average tokens per request',
  severity: 'must',
  explain: 'Looks for each of the five topics in the answer.',
  expected: 'consumed, remaining, by day, by hour and average tokens',
  judge({ consumed, remaining, days, hours, averageTokens, exchange }) {
    const parts = [
      consumed === null ? 'consumed' : '',
      remaining === null ? 'remaining' : '',
      days === null ? 'usage by day' : '',
      hours === null ? 'usage by hour' : '',
      // Without a request there is no average.
      averageTokens === null && !hasNullAverage(exchange) ? 'average tokens' : '',
    ].filter((part) => part !== '')
    return parts.length === 0 ? null : `without ${parts.join(', ')}`
  },
})

function hasNullAverage(exchange: Exchange): boolean {
  return /"[a-z_]*(?:average|avg|mean)[a-z_]*token[a-z_]*"\s*:\s*null/i.test(
    exchange.row.responseBody ?? '',
  )
}

export const use02 = reportRule({
  id: 'USE-02',
  says: 'What was granted is what was consumed and what remains',
  severity: 'must',
  explain: `Where the answer tells all three, granted - consumed - remaining must be 0, or the credits
that expired.`,
  expected: 'granted = consumed + remaining',
  takes: 'an answer that tells granted credits, too',
  judge({ granted, consumed, remaining, exchange }) {
    if (granted === null || consumed === null || remaining === null) return undefined
    const expired = /"[a-z_]*expired[a-z_]*"\s*:\s*(\d+)/i.exec(exchange.row.responseBody ?? '')
    const rest = granted - consumed - remaining - Number(expired?.[1] ?? 0)
    return rest === 0 ? null : `${granted} granted, ${consumed} consumed, ${remaining} remaining`
  },
})

export const use03 = reportRule({
  id: 'USE-03',
  says: 'Hours add up to their day, and days to the total',
  severity: 'must',
  explain: 'Compares sums of credits and of requests over hours, over days and in all.',
  expected: 'sum of hours = day, sum of days = total',
  takes: 'an answer with usage by hour and by day',
  judge({ days, hours, consumedInRange, requests }) {
    if (days === null || hours === null) return undefined
    for (const field of ['credits', 'requests'] as const) {
      const [byDay, byHour] = [sumOf(days, field), sumOf(hours, field)]
      const total = field === 'credits' ? consumedInRange : requests
      if (byDay !== null && byHour !== null && byDay !== byHour) {
        return `${byHour} ${field} by hour, ${byDay} by day`
      }
      if (byDay !== null && total !== null && byDay !== total) {
        return `${byDay} ${field} by day, ${total} in all`
      }
      const wrong = days.find(
        (day) => hoursOf(day, hours, field) !== day[field] && day.day !== null,
      )
      if (wrong !== undefined && hours.every((hour) => hour.day !== null)) {
        return `${hoursOf(wrong, hours, field)} ${field} in the hours of ${wrong.day}, ${wrong[field]} on that day`
      }
    }
    return null
  },
})

function hoursOf(day: Bucket, hours: readonly Bucket[], field: 'credits' | 'requests') {
  return sumOf(
    hours.filter((hour) => hour.day === day.day),
    field,
  )
}

export const use05 = reportRule({
  id: 'USE-05',
  says: 'The average is tokens by successes, not a mean of means',
  severity: 'must',
  explain: `Where a break-down tells tokens and requests, the average of the whole must be sum over sum;
with two unequal buckets a mean of their means differs.`,
  expected: 'sum of tokens / sum of requests',
  takes: 'an answer with tokens and requests in at least one bucket',
  judge({ averageTokens, days, hours }) {
    const buckets = [days, hours].find(
      (list) => list !== null && list.length > 0 && sumOf(list, 'tokens') !== null,
    )
    if (averageTokens === null || buckets === undefined || buckets === null) return undefined
    const [tokens, requests] = [sumOf(buckets, 'tokens'), sumOf(buckets, 'requests')]
    if (tokens === null || requests === null || requests === 0) return undefined
    const average = tokens / requests
    // A service may round what it shows.
    return Math.abs(averageTokens - average) <= 0.5
      ? null
      : `${averageTokens} for ${tokens} tokens of ${requests} requests (${average.toFixed(1)})`
  },
})
