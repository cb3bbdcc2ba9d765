import { wrapped } from '../../user/wrapped.ts'
import { printable } from '../summary/printable.ts'
import { planInWords } from './packages.ts'
import {
  type Card,
  costText,
  type DateBand,
  measuredShare,
  type SeriesPoint,
  type UsagePage,
} from './shape.ts'

const cardTitles: Readonly<Record<Card['name'], string>> = {
  credits: 'credits used',
  requests: 'requests',
  tokens: 'tokens',
  averageTokens: 'tokens per request',
}

const barColumns = 34
const shownDays = 14

/** The usage page for a terminal, at most 80 columns wide. */
export function terminalUsage(page: UsagePage): string {
  const { scope } = page
  const day = (us: number) => dayLabel(us, scope.timezone)
  const lines = [
    `Usage from ${day(scope.fromUs)} to ${day(scope.toUs - 1)} (${scope.timezone})`,
    '',
    ...page.cards.flatMap((card) => {
      const cost = costText(card, scope.creditUsd)
      const line = `${cardTitles[card.name].padEnd(20)}${cardText(card)}`
      return cost === null ? [line] : [line, `${'cost'.padEnd(20)}${cost}`]
    }),
    '',
    ...dayLines(page),
    '',
    ...seriesLines(page),
    '',
    ...titled('forecast', page.forecast.says),
    ...titled('balance', page.depletion.says),
  ]
  if (page.depletion.known) {
    lines.push(...titled('runs out', bandText(page.depletion.runsOut, day)))
    for (const waste of page.depletion.wasted) {
      lines.push(
        ...titled(
          'expires',
          `${whole(waste.creditsMedian)} of ${printable(waste.grant, 20)} unused on ${day(waste.expiresUs)} (${whole(waste.creditsLow)} to ${whole(waste.creditsHigh)})`,
        ),
      )
    }
  }
  for (const loss of page.bandLosses) {
    if (loss.lost === null) continue
    lines.push(
      ...titled(
        'band',
        `${loss.band} (${loss.requestsPerMinute}/min) lost ${bandText(loss.lost, day)}`,
      ),
    )
  }
  const { plan } = page
  if (plan !== null) {
    lines.push(...titled('buy', plan.known ? planInWords(plan.chosen) : plan.says))
    if (plan.known) lines.push(...plan.reasons.flatMap((reason) => titled('', reason)))
  }
  lines.push('', ...titled('service', page.reconciliation.says))
  for (const anomaly of page.anomalies) {
    lines.push(...titled('flag', anomaly.says))
    for (const row of anomaly.rows.slice(0, 2)) {
      lines.push(`           ${printable(`${row.source} ${row.id}: ${row.shows}`, 68)}`)
    }
  }
  for (const note of scope.notes) lines.push(...titled('note', printable(note, 400)))
  return `${lines.join('\n')}\n`
}

function dayLines(page: UsagePage): readonly string[] {
  const days = new Map<string, { requests: number | null; credits: number | null; open: boolean }>()
  for (const point of page.days) {
    const day = days.get(point.label) ?? { requests: null, credits: 0, open: false }
    days.set(point.label, {
      requests: point.requests === null ? day.requests : (day.requests ?? 0) + point.requests,
      credits: day.credits === null || point.credits === null ? null : day.credits + point.credits,
      open: day.open || point.open,
    })
  }
  const shown = [...days].filter(([, day]) => day.requests !== null).slice(-shownDays)
  const most = Math.max(1, ...shown.map(([, day]) => day.credits ?? 0))
  return [
    `${'day'.padEnd(12)}${'requests'.padStart(12)}${'credits'.padStart(12)}`,
    ...shown.map(([label, day]) => {
      const bar = '█'.repeat(Math.round(((day.credits ?? 0) / most) * barColumns))
      return `${label.padEnd(12)}${whole(day.requests).padStart(12)}${whole(day.credits).padStart(12)}  ${bar}${day.open ? ' (open)' : ''}`.trimEnd()
    }),
  ]
}

/** Rows by model, key or endpoint (`--by`). */
function seriesLines({ days, scope }: UsagePage): readonly string[] {
  const tellsCached = days.some(({ ok, cachedTokens }) => (ok ?? 0) > 0 && cachedTokens !== null)
  const columns = [
    { head: 'tokens in', of: ({ promptTokens }: SeriesPoint) => promptTokens },
    ...(tellsCached
      ? [{ head: 'cached', of: ({ cachedTokens }: SeriesPoint) => cachedTokens }]
      : []),
    { head: 'tokens out', of: ({ completionTokens }: SeriesPoint) => completionTokens },
  ]
  const names = ['requests', 'credits', ...columns.map(({ head }) => head)]
  const width = Math.floor(55 / names.length)
  const row = (name: string, cells: readonly string[]) =>
    `${printable(name, 24).padEnd(25)}${cells.map((cell) => ` ${cell}`.padStart(width)).join('')}`
  const rows = [...Map.groupBy(days, (day) => day.series)].map(([name, points]) => {
    const sum = (of: (point: SeriesPoint) => number | null, from = points) => {
      const known = from.map(of).filter((value) => value !== null)
      return known.length === 0 ? null : known.reduce((all, value) => all + value, 0)
    }
    const credits = sum((point) => point.credits)
    const requests = sum((point) => point.requests)
    // A day without successes has 0 tokens and does not show whether responses report them.
    const answered = points.filter(({ ok }) => (ok ?? 0) > 0)
    const tokens = columns.map(({ of }) => (answered.length === 0 ? 0 : sum(of, answered)))
    return { credits: credits ?? 0, text: row(name, [requests, credits, ...tokens].map(whole)) }
  })
  return [
    row(scope.by, names),
    ...rows.sort((a, b) => b.credits - a.credits).map(({ text }) => text),
  ]
}

function cardText(card: Card): string {
  const before =
    card.before === null
      ? 'not measured before'
      : `${whole(card.before)} before${card.change === null ? '' : `, ${card.change >= 0 ? '+' : ''}${(card.change * 100).toFixed(1)} %`}`
  const measured = measuredShare(card)
  return `${whole(card.value).padStart(14)}   (${before}${measured === null ? '' : `, ${measured}`})`
}

function bandText(band: DateBand, day: (us: number) => string): string {
  const date = (us: number | null) => (us === null ? `beyond ${band.horizonDays} days` : day(us))
  return band.earlyUs === null
    ? `not within ${band.horizonDays} days`
    : `${date(band.medianUs)} (80 % likely: ${date(band.earlyUs)} to ${date(band.lateUs)})`
}

function titled(title: string, text: string): readonly string[] {
  return wrapped(`${title.padEnd(11)}${text}`, ' '.repeat(11))
}

function dayLabel(us: number, timezone: string): string {
  return new Intl.DateTimeFormat('en-CA', {
    timeZone: timezone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).format(us / 1000)
}

function whole(value: number | null): string {
  return value === null ? '-' : value.toLocaleString('en-US', { maximumFractionDigits: 1 })
}
