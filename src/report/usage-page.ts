import { dayUs } from '../user/durations.ts'
import { largest } from '../user/extremes.ts'
import { counted } from '../user/grouped.ts'
import { type Html, html } from '../user/html.ts'
import { type Card, type Check, type Headline, renderCards, renderHeadline } from './banner.ts'
import { formatNumber, formatShare } from './format.ts'
import { amountText } from './usage/amount.ts'
import { amountRows, cardNumber, cardTitle, cardValue, unitName } from './usage/figures.ts'
import { planInWords } from './usage/packages.ts'
import {
  costText,
  type Depletion,
  forecastOfHeld,
  measuredShare,
  type ShownUsage,
  type Card as UsageCard,
} from './usage/shape.ts'
import { dayBeside, longDayIn } from './zone-words.ts'

/** The line under the title: the period, and the sources. */
export function aboutUsage({ scope }: ShownUsage): Html {
  const lastUs = scope.toUs - 1
  const to = longDayIn(lastUs, scope.timezone)
  const from = dayBeside(scope.fromUs, lastUs, scope.timezone)
  const runs = scope.sources.filter((source) => source.origin === 'run').length
  const imports = scope.sources.filter((source) => source.origin === 'import')
  const origins = [
    runs > 0 && `${runs} ${runs === 1 ? 'run' : 'runs'}`,
    imports.length > 0 && `the imported ${imports.map((each) => each.source).join(', ')}`,
    scope.sources.some((source) => source.origin === 'poll') && 'polls of the balance',
  ].filter(Boolean)
  const period = to.startsWith(from) ? html`<b>${to}</b>` : html`<b>${from}</b> to <b>${to}</b>`
  return html`${scope.account !== null && html`Account <b>${scope.account}</b>: `}${period}, in ${scope.timezone}, from ${origins.join(' and ')}.`
}

/** The answer of the usage page: when do the credits run out? */
export const usageAnswerOf = (page: ShownUsage): Html => renderHeadline(usageAnswer(page))

/** The cards of the whole period, and what its sums are of. */
export function usageCards(page: ShownUsage): Html {
  return html`${renderCards(page.cards.filter(({ name, value }) => value !== null || name === 'requests').map((card) => cardOf(card, page)))}${amountsUnder(page)}${page.scope.notes.map(
    (note) => html`<p class="note">${note}</p>`,
  )}`
}

/** When the credits run out, what to buy, whether the service agrees, and which rate bands are lost. */
export function usageAnswer(page: ShownUsage): Headline {
  const { depletion, scope } = page
  const checks = [...planChecks(page), reconciliationCheck(page), ...bandChecks(page)]
  if (!depletion.known) {
    return {
      tone: 'none',
      summary: `${usedText(page)}; it is not known when credits run out`,
      because: withReason(page),
      checks,
    }
  }
  const { earlyUs, medianUs, lateUs, horizonDays } = depletion.runsOut
  const day = (us: number, besideUs = scope.toUs - 1) => dayBeside(us, besideUs, scope.timezone)
  const soonest = earlyUs === null ? Number.POSITIVE_INFINITY : (earlyUs - lastSeenUs(page)) / dayUs
  const likely =
    earlyUs === null
      ? null
      : lateUs === null
        ? `80 % likely after ${day(earlyUs)}.`
        : `80 % likely ${span(day(earlyUs, medianUs ?? lateUs), day(lateUs, medianUs ?? earlyUs))}.`
  const isCredits = depletion.unit === 'credits'
  const [held, last, run] = isCredits ? ['credits', 'last', 'run'] : ['balance', 'lasts', 'runs']
  const runsOut =
    medianUs === null
      ? `The ${held} ${last} for more than ${horizonDays} days`
      : medianUs < scope.nowUs
        ? `The ${held} ran out about ${day(medianUs)}, if usage continued`
        : `The ${held} ${run} out about ${day(medianUs)}`
  const unused = soonest < 7 ? null : expiringUnused(page, depletion)
  return {
    tone: soonest < 7 ? 'fail' : soonest < 30 || unused !== null ? 'warn' : 'good',
    summary: unused ?? runsOut,
    because: [
      depletion.summary,
      // Without a date, the forecast's own sentence says how long they last.
      unused === null || medianUs === null ? null : `${runsOut}.`,
      likely,
    ]
      .filter((sentence) => sentence !== null)
      .join(' '),
    checks,
  }
}

/** Why it is not known when the credits run out. */
const withReason = (page: ShownUsage) => {
  const { forecast, scope } = page
  const burn = forecastOfHeld(page)
  const other = scope.unit !== 'credits' && forecast.known ? [forecast.summary] : []
  return [page.depletion.summary, ...(burn.known ? [] : [burn.summary]), ...other].join(' ')
}

/** What was used in the period, if no date answers the question. */
function usedText(page: ShownUsage): string {
  const { unit } = page.scope
  const used = page.cards.find(({ name, value }) => name === 'credits' && value !== null)
  const requests = page.cards.find(({ name }) => name === 'requests')
  return used === undefined
    ? counted(requests?.value ?? 0, 'request')
    : `${cardValue(used, page, '').text} ${unit === 'credits' && used.value === 1 ? 'credit' : unitName(unit)} used`
}

/** From this share of the balance on, credits that expire unused become the headline. */
const newsShare = 0.02

/** Expiring credits come before depletion, because the reader can still use them. */
function expiringUnused(
  { scope }: ShownUsage,
  { unit, wasted, balance }: Extract<Depletion, { known: true }>,
): string | null {
  const [first] = wasted
  const credits = wasted.reduce((sum, each) => sum + each.creditsMedian, 0)
  if (first === undefined || first.expiresUs < scope.nowUs || credits < newsShare * balance) {
    return null
  }
  const when = dayBeside(first.expiresUs, scope.toUs - 1, scope.timezone)
  const rounded = Math.round(credits)
  const said =
    unit === 'credits'
      ? `${counted(rounded, 'credit')} ${rounded === 1 ? 'expires' : 'expire'}`
      : `${amountText(credits.toFixed(2), unit)} ${unitName(unit)} expire`
  return `${said} unused${wasted.length > 1 ? ', the first' : ''} on ${when}`
}

const span = (early: string, late: string) =>
  early === late ? `on ${early}` : `between ${early} and ${late}`

const lastSeenUs = ({ scope }: ShownUsage): number =>
  Math.min(scope.nowUs, largest(scope.sources.map((source) => source.lastUs)))

function planChecks(page: ShownUsage): readonly Check[] {
  const { plan } = page
  // Without a forecast there is no plan; the headline has the reason.
  if (plan === null || !(plan.known || forecastOfHeld(page).known)) return []
  if (!plan.known)
    return [{ tone: 'none', name: 'Next month:', figure: plan.summary, remedy: null }]
  const nothing = plan.chosen.credits === 0
  const chosen = planInWords(plan.chosen)
  return [
    {
      tone: 'good',
      name: 'Next month:',
      figure: nothing ? 'nothing to buy' : `buy ${chosen}`,
      remedy: plan.reasons.join(' ').replaceAll(`${chosen} is`, 'It is'),
    },
  ]
}

function reconciliationCheck({ reconciliation }: ShownUsage): Check {
  if (!reconciliation.known) {
    return { tone: 'none', name: 'Reconciliation:', figure: reconciliation.summary, remedy: null }
  }
  const agrees = reconciliation.verdict === 'agrees'
  return {
    tone: agrees ? 'good' : 'fail',
    name: 'Reconciliation:',
    figure: reconciliation.summary,
    remedy: null,
  }
}

/** The rate bands to be lost, in a sentence. A table has their intervals. */
function bandChecks({ bandLosses, scope }: ShownUsage): readonly Check[] {
  const days = new Map<string, string[]>()
  for (const { band, lost, requestsPerMinute } of [...bandLosses].reverse()) {
    if (lost === null || lost.medianUs === null) continue
    const day = dayBeside(lost.medianUs, scope.toUs - 1, scope.timezone)
    days.set(day, [
      ...(days.get(day) ?? []),
      `${band} (${formatNumber(requestsPerMinute)} a minute)`,
    ])
  }
  if (days.size === 0) return []
  const lost = [...days].map(([day, bands]) => `${bands.join(' and ')} about ${day}`)
  return [
    { tone: 'warn', name: 'Rate bands are lost:', figure: `${lost.join('; ')}.`, remedy: null },
  ]
}

function cardOf(card: UsageCard, page: ShownUsage): Card {
  const { before, change } = card
  const { unit, creditUsd } = page.scope
  const { text, exactly } = cardValue(card, page, 'not measured')
  const parts = [
    costText(card, creditUsd),
    change !== null
      ? `${change >= 0 ? '+' : '−'}${formatShare(Math.abs(change))} % from the previous period`
      : before === null
        ? null
        : `${cardNumber(card, before, unit)} in the previous period`,
    measuredShare(card),
    exactly === null ? null : `exactly ${exactly}`,
  ]
  const title = cardTitle(card, unit)
  return {
    label: `${title[0]!.toUpperCase()}${title.slice(1)}`,
    value: text,
    aside: parts.filter(Boolean).join('; '),
  }
}

/** Other amounts than that of the card, in a list; and what the sums are of. */
function amountsUnder(page: ShownUsage): Html {
  const rows = amountRows(page)
  const unit = unitName(page.scope.unit)
  const isFirst = page.cards.every(({ before }) => before === null)
  return html`<p class="note">Tokens and ${unit} are those of all requests, also of failed ones.${isFirst && ' The previous period was not measured.'}</p>${
    rows.length > 0 &&
    html`<div class="card"><div class="table-scroll" tabindex="0" role="region" aria-label="Amounts"><table><tbody>${rows.map(
      (row) =>
        html`<tr><th scope="row" class="txt">${row.title}</th><td class="num">${amountText(row.amount, row.unit)}</td><td class="txt">${unitName(row.unit)}${row.aside !== null && html` <small>(${row.aside})</small>`}</td></tr>`,
    )}</tbody></table></div></div>`
  }`
}
