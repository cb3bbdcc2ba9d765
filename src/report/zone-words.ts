/** Dates and times as text, in a zone. */

/** `Sun 1 Nov 2026`. All dates of a page have this form, except on axes: `1 Nov`. */
export function longDayIn(us: number, timeZone: string): string {
  return (
    new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      year: 'numeric',
    })
      .format(us / 1000)
      .replaceAll(',', '')
      // The axes of charts have three letters for every month.
      .replace('Sept', 'Sep')
  )
}

/** A day beside another one: without its year, if that is the other's. */
export function dayBeside(us: number, besideUs: number, timeZone: string): string {
  const [day, beside] = [longDayIn(us, timeZone), longDayIn(besideUs, timeZone)]
  return day.slice(-4) === beside.slice(-4) ? day.slice(0, -5) : day
}

/** `Sun 1 Nov 2026 09:05`, or with seconds. */
export function momentIn(
  us: number,
  timeZone: string,
  timeStyle: 'short' | 'medium' = 'short',
): string {
  const time = new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle })
  return `${longDayIn(us, timeZone)} ${time.format(us / 1000)}`
}
