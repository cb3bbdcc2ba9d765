/** Whether a text is a day that exists: `Date` makes 2 March of `2026-02-30`. */
export function isCalendarDay(text: string): boolean {
  const ms = Date.parse(text)
  return Number.isFinite(ms) && new Date(ms).toISOString().slice(0, 10) === text
}
