/** Whether the runtime knows a zone by this name: an IANA name, or an offset such as `+05:30`. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** Whether it is an IANA name, as the zones of a query must be: DuckDB and ClickHouse know no offsets. */
export const isZoneName = (name: string): boolean => isTimeZone(name) && !/^[+-]/.test(name)
