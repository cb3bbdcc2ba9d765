import { parseMoment } from '../../measure/usage/zone.ts'
import { decimalText, multiply, readNumber } from '../../money/rational.ts'
import type { BurnOrder, Holdings } from '../../report/usage/ledger.ts'
import { userError } from '../../user/user-error.ts'
import type { DayZones } from '../source/wide-sums.ts'
import type { AccountBudget, AccountSettings, Settings } from './settings.ts'

/** A month whose figures stay. Times are Unix microseconds. */
export interface ClosedMonth {
  readonly month: string
  readonly fromUs: number
  readonly toUs: number
}

/** How the settings show an account. */
export interface AccountView {
  readonly label: string
  readonly locale: string
  readonly timezone: string
  readonly currency: string | null
  /** 1 is Monday. */
  readonly firstWeekday: number
  /** Days of the weekend; 1 is Monday. */
  readonly weekend: readonly number[]
  /** What the account got; null if the settings do not say it: then imported rows do. */
  readonly holdings: Holdings | null
  readonly burnOrder: BurnOrder
  readonly budgets: readonly AccountBudget[]
  /** Credits left at which an alert is sent. */
  readonly alertBelow: readonly string[]
  /** Days before the balance probably runs out, at which an alert is sent. */
  readonly alertDays: readonly number[]
  /** Credits in the currency of the settings; null without a price. */
  moneyOf(credits: string): { readonly currency: string; readonly value: string } | null
  /** The own dimensions that the customer sees. */
  readonly tags: readonly string[]
  /** Months whose figures stay, in the zone of the account. */
  readonly closed: readonly ClosedMonth[]
  /** By fingerprint. */
  readonly keyNames: ReadonlyMap<string, string>
}

export function accountView(settings: Settings, account: string): AccountView {
  const own: AccountSettings = { ...settings.everyAccount, ...settings.accounts.get(account) }
  const locale = own.locale ?? settings.locale
  const timezone = timezoneOf(settings, account)
  const { price } = settings.credits
  const { currency, keyNames } = settings
  return {
    label: own.label ?? account,
    locale,
    timezone,
    currency,
    ...weekOf(locale),
    budgets: budgetsOf(own, settings),
    alertBelow: own.alertBelow ?? [],
    alertDays: settings.alerts?.daysLeft ?? [],
    tags: own.tags ?? settings.tags,
    closed: closedOf(settings, timezone),
    holdings: holdingsOf(own, settings, timezone),
    burnOrder: settings.burnOrder,
    moneyOf: (credits) =>
      currency === null || price === undefined
        ? null
        : { currency, value: decimalText(multiply(readNumber(credits)!, readNumber(price)!)) },
    keyNames,
  }
}

/** @throws UserError for a budget of what no customer sees, or of no key */
function budgetsOf(
  { budget = [], tags }: AccountSettings,
  settings: Pick<Settings, 'tags' | 'keyNames'>,
): readonly AccountBudget[] {
  const shown = tags ?? settings.tags
  const names = new Set(settings.keyNames.values())
  for (const { key, tag } of budget) {
    if (tag !== undefined && !shown.includes(tag.name))
      throw userError.usage(
        `budget: tag: ${tag.name}: expected one of tags (${shown.join(', ') || 'there are none'}), since a customer sees no other.`,
      )
    if (key !== undefined && !names.has(key) && !/^[0-9a-f]{12}$/.test(key))
      throw userError.usage(
        `budget: key: ${key}: expected a name of keyNames, or the first 12 digits of a fingerprint.`,
      )
  }
  return budget
}

const timezoneOf = (settings: Settings, account: string) =>
  settings.accounts.get(account)?.timezone ?? settings.timezone

/** The zones whose days are those of the accounts. */
export const dayZones = (settings: Settings): DayZones => ({
  usual: settings.timezone,
  others: new Map(
    [...settings.accounts.keys()]
      .map((account) => [account, timezoneOf(settings, account)] as const)
      .filter(([, timezone]) => timezone !== settings.timezone),
  ),
})

function closedOf({ closed }: Settings, timezone: string): readonly ClosedMonth[] {
  return closed.map(({ month }) => {
    const fromUs = parseMoment(`${month}-01`, timezone)
    const next = new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 1))
    return { month, fromUs, toUs: parseMoment(next.toISOString().slice(0, 10), timezone) }
  })
}

/** @throws UserError for grants of before the balance that has them, and of two units */
function holdingsOf(
  { grants, balance }: Pick<AccountSettings, 'grants' | 'balance'>,
  { burnOrder }: Pick<Settings, 'burnOrder'>,
  timezone: string,
): Holdings | null {
  const momentOf = (text: string | null) => (text === null ? null : parseMoment(text, timezone))
  const asOfUs = momentOf(balance?.asOf ?? null)
  const lots = (grants ?? []).map(({ name, amount, from, expires, priority, models }) => ({
    name,
    models,
    credits: readNumber(amount)!,
    priority,
    fromUs: momentOf(from),
    expiresUs: momentOf(expires),
  }))
  const early = lots.find(({ fromUs }) => asOfUs !== null && (fromUs === null || fromUs < asOfUs))
  if (early !== undefined) {
    throw userError.usage(
      `grants: ${early.name}: expected from: at ${balance!.asOf} or later, since the balance as of then has what came before.`,
    )
  }
  const wrong = lots.find(
    ({ fromUs, expiresUs }) =>
      expiresUs !== null && expiresUs <= (fromUs ?? Number.NEGATIVE_INFINITY),
  )
  if (wrong !== undefined)
    throw userError.usage(`grants: ${wrong.name}: expected expires: after from:.`)
  const units = new Set(
    [...(balance === undefined ? [] : [balance]), ...(grants ?? [])].map(({ unit }) => unit),
  )
  const [unit = 'credits'] = units
  if (units.size > 1)
    throw userError.usage(
      `grants: expected one unit of all that an account holds; found ${[...units].join(' and ')}.`,
    )
  if (balance === undefined) return grants === undefined ? null : { unit, lots, burnOrder, asOfUs }
  const credits = readNumber(balance.amount)!
  const held = { name: 'balance', credits, fromUs: asOfUs, expiresUs: null }
  return {
    unit,
    lots: [{ ...held, priority: 0, models: null }, ...lots],
    ...{ burnOrder, asOfUs },
  }
}

function weekOf(locale: string): Pick<AccountView, 'firstWeekday' | 'weekend'> {
  const known = new Intl.Locale(locale) as Intl.Locale & {
    getWeekInfo?: () => { firstDay: number; weekend: readonly number[] }
  }
  const { firstDay = 1, weekend = [6, 7] } = known.getWeekInfo?.() ?? {}
  return { firstWeekday: firstDay, weekend }
}
