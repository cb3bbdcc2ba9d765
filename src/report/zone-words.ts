/** Moments as a reader of a zone says them. */

/** `Sun 1 Nov 2026`. */
export function longDayIn(us: number, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
  })
    .format(us / 1000)
    .replaceAll(',', '')
}
