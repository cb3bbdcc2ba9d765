import { generatesSql } from '../../../contract/request.ts'
import { withoutNoise } from '../../../credits/fields.ts'
import { largest, smallest } from '../../../user/extremes.ts'
import { type UsageReport, usageReports } from '../../evidence/usage/reports.ts'
import { judgedRule, type Observed } from '../exchange-rule.ts'
import { named } from './report-rule.ts'

export const use06 = judgedRule({
  id: 'USE-06',
  title: 'Ranges add up: from a to c is a to b and b to c',
  section: '§4.4',
  needs: ['active'],
  promised: ['paths.credits'],
  explain: `Looks at responses to queries with from and to (if the service supports them: gap G-09). Two
adjacent ranges must add up to the range that spans them, for one key and with nothing sent in between. If
all three have the same credits, the service ignores ranges, and nothing is decided. Nor is it if ranges of whole days hold more in
their parts: the day between them may be in both.
${named}`,
  expected: 'parts that add up to the whole',
  requires: 'GET /user/credits with from and to for a range and for its two parts',
  async judged(evidence) {
    const ranges = (await usageReports(evidence)).map(rangeOf)
    if (ranges.every(({ from, to }) => from === null && to === null)) return []
    // A request that cost nothing is counted, and moves no balance.
    const sent = await evidence.store.rows<Sent>(
      `SELECT run_id AS "runId", sent_us::DOUBLE AS "sentUs" FROM attempts
       WHERE list_contains($1::VARCHAR[], run_id) AND sent_us IS NOT NULL AND ${generatesSql}`,
      [JSON.stringify(evidence.runIds)],
    )
    const sentOf = Map.groupBy(sent, ({ runId }) => runId)
    const isQuiet = (all: readonly Range[]) => {
      const rows = all.map(({ report }) => report.exchange.row)
      const times = rows.map(({ sentUs }) => sentUs)
      const [from, to] = [smallest(times), largest(times)]
      return !(sentOf.get(rows[0]!.runId) ?? []).some(({ sentUs }) => sentUs > from && sentUs < to)
    }
    const byStart = Map.groupBy(ranges, (range) => placeOf(range, range.from))
    return ranges.flatMap((whole) =>
      (byStart.get(placeOf(whole, whole.from)) ?? []).flatMap((first) =>
        first.to === null || first === whole
          ? []
          : (byStart.get(placeOf(whole, first.to)) ?? [])
              .filter((second) => second.to === whole.to && second !== whole)
              .filter((second) => isQuiet([whole, first, second]))
              .map((second) => [whole.report.exchange, unequal(whole, first, second)] as const),
      ),
    )
  },
})

interface Sent {
  readonly runId: string
  readonly sentUs: number
}

/** A response and its requested range; null for an open end. */
interface Range {
  readonly report: UsageReport
  readonly from: string | null
  readonly to: string | null
}

function rangeOf(report: UsageReport): Range {
  const query = new URLSearchParams((report.exchange.row.path ?? '').split('?')[1] ?? '')
  return { report, from: query.get('from'), to: query.get('to') }
}

/** The same run and key, the same balance and the same start. */
function placeOf({ report }: Range, from: string | null): string {
  const { runId, keyFp } = report.exchange.row
  return JSON.stringify([runId, keyFp, report.remaining, from])
}

const fields = ['consumedInRange', 'requests'] as const

/** What does not add up over two adjacent ranges; undefined if the service seems to ignore ranges. */
function unequal(whole: Range, first: Range, second: Range): Observed {
  const figures = fields.map((field) => [
    whole.report[field],
    first.report[field],
    second.report[field],
  ])
  const [credits] = figures
  if (credits!.every((each) => each === credits![0]) && credits![0] !== 0) return undefined
  let isCompared = false
  for (const [at, [all, one, other]] of figures.entries()) {
    if (all == null || one == null || other == null) continue
    const parts = withoutNoise(one + other)
    if (mayShareADay(first, second, parts - all, Math.min(one, other))) continue
    isCompared = true
    if (all === parts) continue
    const what = fields[at] === 'requests' ? 'requests' : 'credits'
    return `${all} ${what} in all, ${one} and ${other} in its parts`
  }
  return isCompared ? null : undefined
}

/** Whether what two ranges have too much may be the day between them, which some services count to both. */
function mayShareADay(first: Range, second: Range, excess: number, least: number): boolean {
  const isListed = ({ days }: UsageReport) =>
    days === null || days.some(({ day }) => day === first.to)
  return (
    [first.from, first.to, second.to].every(isWholeDay) &&
    excess > 0 &&
    excess <= least &&
    [first, second].every(({ report }) => isListed(report))
  )
}

/** A day without a time of day, or an open end. */
const isWholeDay = (time: string | null): boolean =>
  time === null || /^\d{4}-\d{2}-\d{2}$/.test(time)
