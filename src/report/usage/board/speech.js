// Words, numbers and dates of a usage page in the language of its reader.

const zoned = (locale, options) => new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' })
const msOf = (hour) => hour * 3_600_000

export const clock = (hour) => `${String(((hour % 24) + 24) % 24).padStart(2, '0')}:00`

const known = new WeakMap()

/** How the data of a page are said. */
export function speechOf(data) {
  if (known.has(data)) return known.get(data)
  const { locale, words } = data
  const number = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 })
  const small = new Intl.NumberFormat(locale, { maximumSignificantDigits: 2 })
  const compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 })
  const cents = new Intl.NumberFormat(locale, {
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
  })
  const days = zoned(locale, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' })
  const shortDays = zoned(locale, { day: 'numeric', month: 'short' })
  const months = zoned(locale, { month: 'short', year: 'numeric' })
  const weekdays = (weekday) =>
    // 5 January 1970 was a Monday.
    Array.from({ length: 7 }, (_, at) => zoned(locale, { weekday }).format((4 + at) * 86_400_000))
  const speech = {
    say: (word, values = {}) =>
      words[word].replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole),
    /** A number that is not 0 is never shown as 0. */
    show: (value) =>
      value === null || value === undefined
        ? '–'
        : (value !== 0 && Math.abs(value) < 0.05 ? small : number).format(value),
    cents: (value) => (value === null || value === undefined ? '–' : cents.format(value)),
    compact: (value) => compact.format(value),
    /** A name of the data; the rest of a long list and what is not known have none of their own. */
    nameOf: (name) => ({ '(other)': words.other, '(unknown)': words.unknown })[name] ?? name,
    shortWeekdays: weekdays('short'),
    weekdays: weekdays('long'),
    /** A bar's time in words. */
    timeOf(bucket, { start, end }) {
      const day = days.format(msOf(start))
      if (bucket === 'hour') return `${day}, ${clock(start)}`
      if (bucket === 'month') return months.format(msOf(start))
      return bucket === 'day' ? day : `${day} – ${days.format(msOf(end - 1))}`
    },
    tick(bucket, hour, hours) {
      if (bucket === 'hour') return hour % 24 === 0 ? shortDays.format(msOf(hour)) : clock(hour)
      return (hours > 24 * 300 ? months : shortDays).format(msOf(hour))
    },
  }
  known.set(data, speech)
  return speech
}
