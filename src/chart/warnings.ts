/** A Vega logger that keeps warnings and errors, and prints nothing. */
export function warningsInto(warnings: string[]) {
  const keep = (...parts: readonly unknown[]) => {
    warnings.push(parts.map(String).join(' '))
    return logger
  }
  const logger = {
    level: (_?: number) => logger as never,
    error: keep,
    warn: keep,
    info: () => logger,
    debug: () => logger,
  }
  return logger as never
}
