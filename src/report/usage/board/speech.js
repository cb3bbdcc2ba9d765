// @ts-check
// Words, numbers and dates of a usage page in the language of its reader.

import { isSecond, offsetMark } from './offsets.js'

/** @import { BoardData } from './data.ts' */
/** @import { BoardSpeech, Values } from './types.ts' */

/** @type {(locale: string, options: Intl.DateTimeFormatOptions) => Intl.DateTimeFormat} */
export const zoned = (locale, options) =>
  new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' })
/** @param {number} hour */
const msOf = (hour) => hour * 3_600_000
/**
 * Whether an amount has no digits below a hundredth.
 *
 * @param {number} value
 */
const isOfCents = (value) => Number((100 * value).toPrecision(12)) % 1 === 0

/**
 * Puts values into sentences: `{name}` is a value, and `{name|one|more}` a word that agrees with its number.
 *
 * @param {string} locale
 * @param {number} digits how many a number has after the point at most, as `show` writes it
 * @param {(value: number) => string} show
 * @returns {(text: string, values?: Values) => string}
 */
export function sentences(locale, digits, show) {
  const plurals = new Intl.PluralRules(locale, { maximumFractionDigits: digits })
  return (text, values = {}) =>
    text.replace(/\{(\w+)(?:\|([^|}]*)\|([^|}]*))?\}/g, (whole, name, one, more) => {
      const value = values[name]
      if (value === undefined) return whole
      if (one !== undefined) return plurals.select(Number(value)) === 'one' ? one : more
      return typeof value === 'number' ? show(value) : value
    })
}

/**
 * French counts the first day of a month in words: 1er novembre.
 *
 * @param {string} locale
 * @param {readonly { readonly type: string, readonly value: string }[]} parts
 */
export const firstDays = (locale, parts) =>
  parts
    .map(({ type, value }) =>
      type === 'day' && value === '1' && locale.startsWith('fr') ? '1er' : value,
    )
    .join('')

/** @type {(format: Intl.DateTimeFormat) => (ms: number) => string} */
export const inWords = (format) => (ms) =>
  firstDays(format.resolvedOptions().locale, format.formatToParts(ms))

/**
 * Shares of a list, which all have one digit.
 *
 * @param {string} locale
 */
export const partsIn = (locale) =>
  new Intl.NumberFormat(locale, {
    ...{ style: 'percent', minimumFractionDigits: 1, maximumFractionDigits: 1 },
  })

/** @type {WeakMap<BoardData, BoardSpeech>} */
const known = new WeakMap()

/**
 * How the data of a page are said.
 *
 * @param {BoardData} data
 * @returns {BoardSpeech}
 */
export function speechOf(data) {
  const before = known.get(data)
  if (before !== undefined) return before
  const { locale, words } = data
  const number = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 })
  const small = new Intl.NumberFormat(locale, { maximumSignificantDigits: 2 })
  // A line of an axis has at most three digits of its own: 0.25, 3.75, 750.
  const compact = new Intl.NumberFormat(locale, {
    notation: 'compact',
    maximumSignificantDigits: 3,
  })
  const cents = new Intl.NumberFormat(locale, {
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
  })
  /** @type {(currency: string, options?: Intl.NumberFormatOptions) => Intl.NumberFormat} */
  const coins = (currency, options) =>
    new Intl.NumberFormat(locale, { style: 'currency', currency, ...options })
  /** @param {Intl.DateTimeFormatOptions} options */
  const dated = (options) => inWords(zoned(locale, options))
  const days = dated({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' })
  const shortDays = dated({ day: 'numeric', month: 'short' })
  const clocks = zoned(locale, { hour: 'numeric', minute: '2-digit' })
  /** @param {number} hour */
  const clock = (hour) =>
    clocks.format(msOf(isSecond(hour) ? Math.floor(hour) : hour)) + offsetMark(data, hour)
  const parts = partsIn(locale)
  const months = dated({ month: 'short', year: 'numeric' })
  /** @param {'short' | 'long'} weekday */
  const weekdays = (weekday) =>
    // 5 January 1970 was a Monday.
    Array.from({ length: 7 }, (_, at) => zoned(locale, { weekday }).format((4 + at) * 86_400_000))
  /**
   * A number that is not 0 is never shown as 0.
   *
   * @param {number | null | undefined} value
   */
  const show = (value) =>
    value === null || value === undefined
      ? '–'
      : (value !== 0 && Math.abs(value) < 0.05 ? small : number).format(value)
  const put = sentences(locale, 1, show)
  /** @type {BoardSpeech} */
  const speech = {
    say: (word, values) => put(words[word], values),
    ...{ show, clock, part: (share) => parts.format(share) },
    of(metric) {
      const ofCredits = data.isMoney && metric === 'credits' ? data.unit : null
      const currency = metric === 'money' ? (data.money?.currency ?? null) : ofCredits
      if (currency === null) return speech
      const whole = coins(currency)
      const fine = coins(currency, { maximumSignificantDigits: 2 })
      const axis = coins(currency, { notation: 'compact', maximumSignificantDigits: 3 })
      const halves = coins(currency, { minimumFractionDigits: 2 })
      return {
        ...speech,
        show: (value) =>
          value === null || value === undefined
            ? '–'
            : (value !== 0 && Math.abs(value) < 0.05 ? fine : whole).format(value),
        // 7.50, and no 7.5 beside amounts with two decimals; less than a cent keeps its digits.
        compact: (value) => (value % 1 && isOfCents(value) ? halves : axis).format(value),
      }
    },
    cents: (value) => (value === null ? '–' : cents.format(value)),
    compact: (value) => compact.format(value),
    /** A name of the data; the rest of a long list, with how many they are, and what is not known have none of their own. */
    nameOf: (name, by, beside = 0) =>
      name === '(unknown)'
        ? put(words.unknown, { what: words[by] })
        : name !== '(other)'
          ? name
          : data.folded[by] + beside > 0
            ? `${words.other} (${data.folded[by] + beside})`
            : words.other,
    shortWeekdays: weekdays('short'),
    weekdays: weekdays('long'),
    timeOf(bucket, { start, end }) {
      const day = days(msOf(start))
      if (bucket === 'hour') return `${day}, ${clock(start)}`
      if (bucket === 'month') return months(msOf(start))
      return bucket === 'day' ? day : `${day} – ${days(msOf(end - 1))}`
    },
    tick(bucket, hour, hours) {
      if (bucket === 'hour') return hour % 24 === 0 ? shortDays(msOf(hour)) : clock(hour)
      return (hours > 24 * 300 ? months : shortDays)(msOf(hour))
    },
  }
  known.set(data, speech)
  return speech
}
