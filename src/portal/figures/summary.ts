import { type Period, timeIn } from '../../measure/usage/calendar.ts'
import { requestsOf, type Sums } from '../../measure/usage/sums.ts'
import { eachToken } from '../../tokens/kinds.ts'
import { type Asked, conditionOf, type Input, periodAsked, tagsShown, us } from '../api/asked.ts'
import type { Answers } from '../api/shapes.ts'
import { comparedWith } from './before.ts'
import { readEntries, readLater } from './entries.ts'
import { knownOf } from './known.ts'
import { coverageOf, within } from './rows.ts'
import { creditsOf, moneyOf, readSums } from './sums.ts'

export async function readAccount(asked: Asked): Promise<Answers['account']> {
  const { view, bearer, refreshedMs, session } = asked
  const { first, last, width } = await coverageOf(session)
  const time = (at: number | null) => (at === null ? null : timeIn(at, view.timezone))
  return {
    label: view.label,
    currency: bearer.shows.has('cost') ? view.currency : null,
    locale: view.locale,
    timezone: view.timezone,
    shows: [...bearer.shows],
    tags: [...tagsShown(asked)],
    coverage: { first: time(first), last: time(last), widthSeconds: width, gaps: [] },
    refreshedAt: timeIn(us(refreshedMs), view.timezone),
  }
}

const successShareOf = ({ ok, requests }: Sums): number | null =>
  requests ? (ok ?? 0) / requests : null

const text = (value: number | null | undefined) =>
  value === null || value === undefined ? null : String(value)

export async function readSummary(
  asked: Asked,
  query: Input<'summary'>,
): Promise<Answers['summary']> {
  const { view, bearer } = asked
  const period = periodAsked(query, view)
  const condition = await conditionOf(asked, query)
  const before = comparedWith(period, await knownOf(asked))
  const sumsOf = async (part: Period): Promise<Sums> => {
    const [sums] = await readSums<object>(asked, within(asked, part, condition))
    return sums!
  }
  const now = await sumsOf(period)
  const then = before === null ? null : await sumsOf(before)
  // Those that are counted, as the base of shares; `requestsOf` is null where some are not.
  const requests = now.requests ?? 0
  const isNothing = requestsOf(now) === 0
  const shareWithout = (known: number | null) =>
    requests === 0 ? 0 : Math.min(1, Math.max(0, (requests - (known ?? 0)) / requests))
  const figure = (of: (sums: Sums) => string | null, known: number | null) => ({
    value: of(now) ?? (isNothing ? '0' : null),
    unknownShare: shareWithout(known),
    previous: then === null ? null : of(then),
  })
  const tokens = eachToken((kind) => figure((sums) => text(sums[kind]), now[`${kind}Known`]))
  const refunds = moneyOf(asked, now, 'refunds')
  const previous = then === null ? [] : moneyOf(asked, then)
  const valueIn = (money: ReturnType<typeof moneyOf>, currency: string) =>
    money.find((each) => each.currency === currency)?.value ?? null
  return {
    requests: figure((sums) => text(requestsOf(sums)), requests),
    credits: bearer.shows.has('credits')
      ? { ...figure(creditsOf, now.costKnown), refunds: creditsOf(now, 'refunds') }
      : null,
    cost: moneyOf(asked, now).map(({ currency, value }) => ({
      currency,
      value,
      unknownShare: shareWithout(now.costKnown),
      previous: valueIn(previous, currency),
      refunds: valueIn(refunds, currency),
    })),
    tokens,
    entries: await readEntries(asked, period, query),
    later: await readLater(asked, period, query),
    successShare: successShareOf(now),
    previousSuccessShare: then === null ? null : successShareOf(then),
    refreshedAt: timeIn(us(asked.refreshedMs), view.timezone),
  }
}
