import { type Exchange, exchangesOf } from '../../exchange/exchange.ts'
import { verdictOf } from '../../exchange/exchange-rule.ts'
import type { Evidence, Rule } from '../../rule.ts'
import type { Verdict } from '../../verdict.ts'
import { type Bucket, sumOf, type UsageReport, usageReports } from './report.ts'

const takes = 'a captured answer of GET /user/credits (capture: all)'
const named =
  'Fields are found by their names, since the specification leaves the body open (gap G-09).'

type Judge = (report: UsageReport) => string | null | undefined

/** A rule about single answers of the credits endpoint. */
function reportRule(
  rule: Omit<Rule, 'decide' | 'section' | 'needs'> & {
    readonly expected: string
    readonly takes?: string
    readonly needs?: Rule['needs']
    readonly judge: Judge
  },
): Rule {
  const { expected, judge, takes: asks, ...described } = rule
  return {
    section: '§4.4',
    needs: ['active'],
    ...described,
    explain: `${rule.explain} ${named}`,
    async decide(evidence) {
      const reports = await usageReports(evidence)
      return verdictOf(
        reports.map((report) => [report.exchange, judge(report)] as const),
        expected,
        asks ?? takes,
      )
    },
  }
}

const use01 = reportRule({
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

const use02 = reportRule({
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

const use03 = reportRule({
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

const use05 = reportRule({
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

/** Reports of one account in the order of time, in pairs. */
function pairs(reports: readonly UsageReport[]): readonly (readonly [UsageReport, UsageReport])[] {
  const byAccount = Map.groupBy(
    reports.filter(({ exchange }) => (exchange.row.path ?? '').indexOf('?') < 0),
    ({ exchange }) => `${exchange.row.runId}/${exchange.row.keyFp}`,
  )
  return [...byAccount.values()].flatMap((list) => {
    const sorted = list.toSorted((a, b) => a.exchange.row.sentUs - b.exchange.row.sentUs)
    return sorted.slice(1).map((later, at) => [sorted[at]!, later] as const)
  })
}

const use07: Rule = {
  id: 'USE-07',
  says: 'What was consumed never becomes less',
  section: '§4.4',
  severity: 'must',
  needs: ['passive'],
  explain: `Compares answers of the credits endpoint for one key in the order of time; no hour may be
negative. A charge at the start may be given back when its request fails or its client leaves (gap
G-13), so pairs with such requests before them are left out. ${named}`,
  async decide(evidence) {
    const reports = await usageReports(evidence)
    const givenBack = await evidence.store.rows<{ runId: string; sentUs: number }>(
      `SELECT run_id AS "runId", min(sent_us)::DOUBLE AS "sentUs" FROM attempts
       WHERE list_contains($1::VARCHAR[], run_id) AND endpoint IN ('chat', 'messages')
         AND (outcome IN ('aborted', 'timeout', 'broken') OR status >= 500)
       GROUP BY run_id`,
      [JSON.stringify(evidence.runIds)],
    )
    const mayFall = ({ exchange: { row } }: UsageReport) =>
      givenBack.some(({ runId, sentUs }) => runId === row.runId && sentUs < row.sentUs)
    const negative = reports.map(
      (report) =>
        [
          report.exchange,
          report.hours?.some((hour) => (hour.credits ?? 0) < 0) ? 'an hour below zero' : undefined,
        ] as const,
    )
    const falling = pairs(reports).map(([earlier, later]) => {
      if (earlier.consumed === null || later.consumed === null || mayFall(later))
        return [later.exchange, undefined] as const
      const came =
        later.consumed < earlier.consumed
          ? `${later.consumed} after ${earlier.consumed} consumed`
          : null
      return [later.exchange, came] as const
    })
    return verdictOf(
      [...negative, ...falling],
      'a count that only grows',
      'two captured answers of GET /user/credits for one key',
    )
  },
}

interface Counted {
  readonly requests: number
  readonly credits: number
  readonly tokens: number
}

const use04: Rule = {
  id: 'USE-04',
  says: 'Usage equals what our own ledger holds, on an account of our own',
  section: '§4.4',
  severity: 'must',
  needs: ['active', 'quiescence'],
  explain: `Between two answers of the credits endpoint with nothing in flight, consumed must grow by
what our successes cost, and requests by their number. Stretches with ambiguous attempts are left out.
${named}`,
  async decide(evidence) {
    const judged = await Promise.all(
      pairs(await usageReports(evidence)).map(
        async ([earlier, later]) =>
          [later.exchange, await compared(evidence, earlier, later)] as const,
      ),
    )
    return verdictOf(
      judged,
      'consumed and requests that grow by what we sent',
      'two captured answers of GET /user/credits with nothing in flight, and successes in between',
    )
  },
}

async function compared(
  { store, contract }: Evidence,
  earlier: UsageReport,
  later: UsageReport,
): Promise<string | null | undefined> {
  const [from, to] = [earlier.exchange.row, later.exchange.row]
  const prices = contract.models.map(
    ({ id, costCredits }) => `WHEN '${id.replaceAll("'", "''")}' THEN ${costCredits}`,
  )
  const [between] = await store.rows<Counted & { ambiguous: number; crossing: number }>(
    `WITH ours AS (
       SELECT attempts.*, outcome = 'ok' AS charged,
         coalesce(templates.headers ILIKE '%"idempotency-key"%', false) AS keyed
       FROM attempts LEFT JOIN templates USING (run_id, template)
       WHERE run_id = $1 AND endpoint IN ('chat', 'messages') AND sent_us IS NOT NULL
         AND account = (SELECT account FROM attempts WHERE run_id = $1 AND slot = $2 LIMIT 1))
     SELECT count(*) FILTER (charged AND sent_us > $4::BIGINT AND closed_us < $5::BIGINT)::DOUBLE AS requests,
       coalesce(sum(CASE model ${prices.join(' ')} ELSE 1 END)
         FILTER (charged AND sent_us > $4::BIGINT AND closed_us < $5::BIGINT), 0)::DOUBLE AS credits,
       0::DOUBLE AS tokens,
       count(*) FILTER ((outcome IN ('broken', 'timeout', 'aborted') OR keyed) AND sent_us < $5::BIGINT)::DOUBLE AS ambiguous,
       count(*) FILTER (charged AND (sent_us < $3::BIGINT AND closed_us >= $4::BIGINT
         OR sent_us BETWEEN $3::BIGINT AND $4::BIGINT OR closed_us >= $5::BIGINT AND sent_us < $6::BIGINT
         OR sent_us <= $3::BIGINT AND closed_us >= $3::BIGINT))::DOUBLE AS crossing
     FROM ours`,
    [
      from.runId,
      BigInt(from.slot),
      BigInt(from.sentUs),
      BigInt(from.closedUs ?? from.sentUs),
      BigInt(to.sentUs),
      BigInt(to.closedUs ?? to.sentUs),
    ],
  )
  if (between === undefined || between.ambiguous > 0 || between.crossing > 0) return undefined
  if (between.requests === 0) return undefined
  if (earlier.consumed !== null && later.consumed !== null) {
    const grew = later.consumed - earlier.consumed
    if (grew !== between.credits)
      return `consumed grew by ${grew}, our successes cost ${between.credits}`
  }
  if (earlier.requests !== null && later.requests !== null) {
    const grew = later.requests - earlier.requests
    if (grew !== between.requests)
      return `requests grew by ${grew}, we had ${between.requests} successes`
  }
  return earlier.consumed === null && earlier.requests === null ? undefined : null
}

const use06: Rule = {
  id: 'USE-06',
  says: 'Ranges add up: from a to c is a to b and b to c',
  section: '§4.4',
  severity: 'must',
  needs: ['active'],
  explain: `Looks at answers to queries with from and to (where the service takes them: gap G-09): two
ranges that meet must add up to the range that spans them, for one key and with nothing in between.
${named}`,
  async decide(evidence): Promise<Verdict> {
    const ranged = (await usageReports(evidence)).flatMap((report) => {
      const query = new URLSearchParams((report.exchange.row.path ?? '').split('?')[1] ?? '')
      return [{ report, from: query.get('from'), to: query.get('to') }]
    })
    const judged = ranged.flatMap((whole) =>
      ranged.flatMap((first) =>
        ranged
          .filter(
            (second) =>
              new Set([whole, first, second]).size === 3 &&
              first.to !== null &&
              first.from === whole.from &&
              first.to === second.from &&
              second.to === whole.to &&
              // The same balance: nothing happened in between.
              [first, second].every(
                ({ report }) =>
                  report.remaining !== null &&
                  report.remaining === whole.report.remaining &&
                  report.exchange.row.keyFp === whole.report.exchange.row.keyFp,
              ),
          )
          .map(
            (second) =>
              [whole.report.exchange, unequal(whole.report, first.report, second.report)] as const,
          ),
      ),
    )
    return verdictOf(
      judged,
      'parts that add up to the whole',
      'GET /user/credits with from and to for a range and for its two parts',
    )
  },
}

/** What does not add up over two ranges that meet. */
function unequal(whole: UsageReport, first: UsageReport, second: UsageReport): string | null {
  for (const field of ['consumedInRange', 'requests'] as const) {
    const [all, one, other] = [whole[field], first[field], second[field]]
    if (all === null || one === null || other === null || all === one + other) continue
    return `${all} ${field === 'requests' ? 'requests' : 'credits'} in all, ${one} and ${other} in its parts`
  }
  return null
}

const page01: Rule = {
  id: 'PAGE-01',
  says: 'The page /my-credits shows what the credits endpoint tells',
  section: '§1.4',
  severity: 'must',
  needs: ['active'],
  explain: `Looks at captured answers of the path /my-credits next to one of the credits endpoint: the
remaining credits must be among the numbers of the page. Numbers that a script fetches later are not
in its HTML; then open the page beside the endpoint.`,
  async decide(evidence) {
    const reports = await usageReports(evidence)
    const pages = (await exchangesOf(evidence)).filter(
      ({ row, isWhole }) =>
        row.path?.split('?')[0]?.endsWith('/my-credits') === true && isWhole && row.status === 200,
    )
    return verdictOf(
      pages.map((page) => {
        const report = reports.findLast(({ exchange }) => exchange.row.sentUs <= page.row.sentUs)
        if (report?.remaining === null || report?.remaining === undefined)
          return [page, undefined] as const
        const digits = (page.row.responseBody ?? '').replaceAll(/[,\u202f\u00a0 ](?=\d{3})/g, '')
        return [
          page,
          digits.includes(String(report.remaining)) ? null : `no ${report.remaining} on the page`,
        ] as const
      }),
      'the same remaining credits',
      'captured answers of /my-credits and of GET /user/credits',
    )
  },
}

/** Rules of the rulebook's section 1.11. */
export const usageRules: readonly Rule[] = [use01, use02, use03, use04, use05, use06, use07, page01]
