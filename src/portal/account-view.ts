import type { Grant } from '../contract/grant.ts'
import { decimalText, multiply, readNumber } from '../money/rational.ts'
import { parseMoment } from '../report/usage/zone.ts'
import type { Settings } from './settings.ts'

/** How the settings show an account. */
export interface AccountView {
  readonly label: string
  readonly locale: string
  readonly timezone: string
  readonly currency: string | null
  /** 1 is Monday. */
  readonly firstWeekday: number
  readonly grants: readonly Grant[] | null
  readonly budget: string | null
  /** Credits in the currency of the settings; null without a price. */
  moneyOf(credits: string): { readonly currency: string; readonly value: string } | null
  nameOfKey(fingerprint: string): string
  fingerprintOf(key: string): string
}

export function accountView(settings: Settings, account: string): AccountView {
  const own = settings.accounts.get(account) ?? {}
  const locale = own.locale ?? settings.locale
  const timezone = own.timezone ?? settings.timezone
  const { price } = settings.credits
  const { currency, keyNames } = settings
  return {
    ...{ label: own.label ?? account, locale, timezone, currency },
    firstWeekday: weekStartsOn(locale),
    budget: own.budget ?? null,
    grants:
      own.grants?.map(({ name, credits, expires }) => ({
        ...{ name, credits, expiresUs: expires === null ? null : parseMoment(expires, timezone) },
      })) ?? null,
    moneyOf: (credits) =>
      currency === null || price === undefined
        ? null
        : { currency, value: decimalText(multiply(readNumber(credits)!, readNumber(price)!)) },
    nameOfKey: (fingerprint) => keyNames.get(fingerprint) ?? fingerprint.slice(0, 12),
    fingerprintOf: (key) => [...keyNames].find(([, name]) => name === key)?.[0] ?? key,
  }
}

function weekStartsOn(locale: string): number {
  const known = new Intl.Locale(locale) as Intl.Locale & {
    getWeekInfo?: () => { firstDay: number }
  }
  return known.getWeekInfo?.().firstDay ?? 1
}
