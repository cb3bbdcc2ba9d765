import { timeIn } from '../../measure/usage/calendar.ts'
import { firstDays, inWords, partsIn, sentences } from '../../report/usage/board/speech.js'
import type { Values } from '../../report/usage/board/types.ts'
import { hourUs } from '../../user/durations.ts'
import type { BudgetPart } from '../figures/budgets.ts'
import type { AccountView } from '../settings/account-view.ts'
import { type AmountWriting, amountWriting, isMoney, roughly } from './columns.ts'
import type { Word, Wording } from './words/wording.ts'

/** Words, numbers and dates of a reader. */
export interface Speech {
  readonly locale: string
  say(word: Word, values?: Values): string
  number(value: number | string): string
  share(value: number): string
  /** A share that is more or less, with its sign; with one digit below 10 %. From ten times more on, how many times as much. */
  change(value: number): string
  /** A share of a list, whose shares all have one digit. */
  part(value: number): string
  money(currency: string, value: string): string
  /** Unix microseconds. */
  day(us: number): string
  /** A day in a few characters that no line breaks, with its year if that is not the year of a time beside it. */
  near(us: number, besideUs: number): string
  /** A day in a few characters, with its year. */
  shortDay(us: number): string
  /** The month of a time. */
  monthName(us: number): string
  /** A day of the period with its weekday: the year is that of the page. */
  weekday(us: number): string
  moment(us: number): string
  /** Hours of a day, in one piece: `9–11 AM`, `de 15 à 17 h`. */
  hours(fromUs: number, toUs: number): string
  /** The time of day, to the minute. */
  clock(us: number): string
  /** `a, b and c` */
  list(parts: readonly string[]): string
  /** An own dimension, in the words of the reader if they have one. */
  tag(name: string): string
  /** @param month `2026-10` */
  month(month: string): string
  /** The days of a period, its end not included: `Nov 1 – 28`, `du 1er au 28 nov.` */
  days(fromUs: number, toUs: number): string
  /** The same in figures alone, after a short word: `1.–28. Nov.`, `1–28 nov.` */
  span(fromUs: number, toUs: number): string
  /** A period: its days, or the hours of a day. @param isShort whether it follows a short word, as `span` does */
  period(fromUs: number, toUs: number, isShort?: boolean): string
  /** Whether a period begins and ends with a day. */
  isOfDays(fromUs: number, toUs: number): boolean
  /** The local date, as the address has it. */
  date(us: number): string
  /** A time, as the address has it: the date alone if a day begins then. */
  time(us: number): string
  amounts(unit: string): AmountWriting
  /** An amount that says its unit; a dash for none. */
  amount(unit: string, amount: string | null): string
  /** An estimate that says its unit. */
  about(unit: string, amount: number): string
  /** What one of something costs, with all its digits. */
  price(currency: string, value: string): string
  /** The mean price of something: three digits. @param saysUnit whether credits say what they are; money always does */
  rate(unit: string, value: number, saysUnit?: boolean): string
  /** The time zone. */
  readonly zone: string
}

/** The key or the value of a tag that a budget is of, behind what it is called; empty for all use. */
export function partIn(part: BudgetPart | null, speech: Speech): string {
  if (part === null) return ''
  const name = part.of === 'key' ? part.name : `${speech.tag(part.name)} ${part.value}`
  return speech.say('budget.part', { name })
}

/** A larger change is told as how many times as much: +327,925% is read as a mistake. */
const mostPercent = 10

/** A minus is longer than a hyphen, and no line breaks after it. */
export const withMinus = (number: string) => number.replace('-', '\u2212')

export function speechOf(
  words: Wording,
  { locale, timezone }: Pick<AccountView, 'locale' | 'timezone'>,
): Speech {
  const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 })
  const put = sentences(locale, 2, (value) => numbers.format(value))
  const shares = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
  const [changes, roundChanges] = [1, 0].map(
    (digits) =>
      new Intl.NumberFormat(locale, {
        ...{ style: 'percent', maximumFractionDigits: digits, signDisplay: 'exceptZero' },
      }),
  ) as [Intl.NumberFormat, Intl.NumberFormat]
  const parts = partsIn(locale)
  const plurals = new Intl.PluralRules(locale, { maximumFractionDigits: 2 })
  const withUnit = (unit: string, amount: string, n: number) =>
    unit === 'credits'
      ? put(words[plurals.select(n) === 'one' ? 'unit.credit' : 'unit.credits'], { amount })
      : amount
  const days = inWords(new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: timezone }))
  const weekdays = inWords(
    new Intl.DateTimeFormat(locale, {
      ...{ weekday: 'long', day: 'numeric', month: 'short', timeZone: timezone },
    }),
  )
  const dated = inWords(
    new Intl.DateTimeFormat(locale, {
      ...{ year: 'numeric', month: 'short', day: 'numeric', timeZone: timezone },
    }),
  )
  const monthNames = new Intl.DateTimeFormat(locale, { month: 'long', timeZone: timezone })
  const lists = new Intl.ListFormat(locale)
  const ranges = new Intl.DateTimeFormat(locale, {
    month: 'short',
    day: 'numeric',
    timeZone: timezone,
  })
  const undated = inWords(ranges)
  const yearOf = (us: number) => timeIn(us, timezone).slice(0, 4)
  const months = new Intl.DateTimeFormat(locale, {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  })
  const moments = inWords(
    new Intl.DateTimeFormat(locale, {
      dateStyle: 'medium',
      timeStyle: 'short',
      timeZone: timezone,
    }),
  )
  const zone = new Intl.DateTimeFormat(locale, { timeZone: timezone, timeZoneName: 'longGeneric' })
    .formatToParts()
    .find(({ type, value }) => type === 'timeZoneName' && !/\d/.test(value))
  const price = (currency: string, value: string) =>
    new Intl.NumberFormat(locale, {
      style: 'currency',
      currency,
      maximumFractionDigits: 12,
    }).format(Number(value))
  const rates = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 })
  const wholeHours = new Intl.DateTimeFormat(locale, { hour: 'numeric', timeZone: timezone })
  const clocks = new Intl.DateTimeFormat(locale, {
    ...{ hour: 'numeric', minute: '2-digit', timeZone: timezone },
  })
  const speech: Speech = {
    locale,
    say: (word, values) => put(words[word], values),
    number: (value) => numbers.format(Number(value)),
    share: (value) => shares.format(value),
    change: (value) => {
      if (value >= mostPercent) return `×\u00a0${rates.format(value + 1)}`
      const said = (Math.abs(value) < 0.1 ? changes : roundChanges).format(value)
      // A change without a sign would be read as a share.
      return /^[+-]/.test(said) ? withMinus(said) : `±${said}`
    },
    part: (value) => parts.format(value),
    money: (currency, value) => amountWriting(locale, currency).one(value),
    day: (us) => days(us / 1000),
    near: (us, besideUs) =>
      (yearOf(us) === yearOf(besideUs) ? undated : dated)(us / 1000).replaceAll(' ', '\u00a0'),
    shortDay: (us) => dated(us / 1000),
    monthName: (us) => monthNames.format(us / 1000),
    weekday: (us) => weekdays(us / 1000),
    moment: (us) => moments(us / 1000),
    clock: (us) => inOnePiece(`${clocks.format(us / 1000)}${offsetMark(us, timezone)}`),
    hours: (fromUs, toUs) => {
      const [from, to] = [fromUs, toUs].map((us) => timeIn(us, timezone)) as [string, string]
      const isWhole = [from, to].every((time) => time.slice(14, 16) === '00')
      const isOneDay = from.slice(0, 10) === to.slice(0, 10)
      const apart = (format: Intl.DateTimeFormat) =>
        [fromUs, toUs]
          .map((us) => `${format.format(us / 1000)}${offsetMark(us, timezone)}`)
          .join(words['hours.to'])
      const isTwice = [fromUs, toUs].some((us) => offsetMark(us, timezone) !== '')
      // A range over midnight would have its dates.
      const range = (format: Intl.DateTimeFormat) =>
        isOneDay && !isTwice
          ? format
              .formatRangeToParts(fromUs / 1000, toUs / 1000)
              .map(({ type, value }) =>
                type === 'literal' && /^\s*–\s*$/.test(value) ? words['hours.to'] : value,
              )
              .join('')
          : apart(format)
      // Hours without a word would be read as numbers.
      const hasWord = (text: string) => /\p{L}/u.test(text.replace(words['hours.to'], ''))
      const short = [range, apart].map((write) => write(wholeHours)).find(hasWord)
      const hours = isWhole && !isTwice && short !== undefined ? short : range(clocks)
      return inOnePiece(put(words['hours.range'], { hours }))
    },
    list: (parts) => lists.format(parts),
    tag: (name) => (Object.hasOwn(words, `tag.${name}`) ? words[`tag.${name}` as Word] : name),
    month: (month) => months.format(Date.parse(`${month}-01T00:00Z`)),
    days: (fromUs, toUs) => {
      const parts = ranges.formatRangeToParts(fromUs / 1000, (toUs - 1) / 1000)
      if (parts.every(({ source }) => source === 'shared'))
        return put(words['days.one'], { day: firstDays(locale, parts) })
      // Some languages have a word between two dates, and not a dash.
      const between = parts.map((part) =>
        part.type === 'literal' && part.source === 'shared'
          ? { ...part, value: part.value.replace(/\s*[–～]\s*/, () => words['days.to']) }
          : part,
      )
      return put(words['days.range'], { days: firstDays(locale, between) })
    },
    span: (fromUs, toUs) =>
      firstDays(locale, ranges.formatRangeToParts(fromUs / 1000, (toUs - 1) / 1000)),
    period: (fromUs, toUs, isShort = false) => {
      const said = (isShort ? speech.span : speech.days)(fromUs, toUs)
      if (speech.isOfDays(fromUs, toUs)) return said
      if (speech.date(fromUs) === speech.date(toUs - 1))
        return `${said}, ${speech.hours(fromUs, toUs)}`
      const moments = [fromUs, toUs].map(speech.moment)
      return isShort
        ? moments.join(' – ')
        : put(words['days.range'], { days: moments.join(words['days.to']) })
    },
    isOfDays: (...times) => times.every((us) => timeIn(us, timezone).slice(11, 16) === '00:00'),
    date: (us) => timeIn(us, timezone).slice(0, 10),
    time: (us) => {
      const time = timeIn(us, timezone)
      if (offsetMark(us, timezone) !== '') return time
      return time.slice(11, 16) === '00:00' ? time.slice(0, 10) : time.slice(0, 16)
    },
    amounts: (unit) => amountWriting(locale, unit),
    amount: (unit, amount) =>
      withUnit(unit, amountWriting(locale, unit).one(amount), Number(amount)),
    about: (unit, amount) => withUnit(unit, amountWriting(locale, unit).about(amount), amount),
    price,
    rate: (unit, value, saysUnit = false) => {
      if (isMoney(unit))
        return value < 100
          ? price(unit, String(roughly(value)))
          : amountWriting(locale, unit).about(value)
      const amount = rates.format(value)
      return saysUnit ? withUnit(unit, amount, roughly(value)) : amount
    },
    zone: zone?.value ?? timezone,
  }
  return speech
}

/** No line breaks within it. */
export const inOnePiece = (text: string) => text.replaceAll(/[ \u202f\u2009]/g, '\u00a0')

/** The offset of a time whose clock shows the same an hour before or after; else empty. */
function offsetMark(us: number, timezone: string): string {
  const time = timeIn(us, timezone)
  const isTwice = [-hourUs, hourUs].some(
    (apart) => timeIn(us + apart, timezone).slice(0, 19) === time.slice(0, 19),
  )
  return isTwice ? ` (UTC${time.slice(19)})` : ''
}
