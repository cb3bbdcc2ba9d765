/** The value of an own property. Others wrote the name, so what every object inherits, such as `constructor`, does not count. */
export function entryOf<Value>(
  of: Readonly<Record<string, Value>>,
  name: string,
): Value | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined
}

/** The same for a name that services write in any case: `FLEX` is `flex`. */
export function entryInAnyCase<Value>(
  of: Readonly<Record<string, Value>>,
  name: string,
): Value | undefined {
  const own = entryOf(of, name)
  if (own !== undefined) return own
  const found = Object.keys(of).find((key) => key.toLowerCase() === name.toLowerCase())
  return found === undefined ? undefined : of[found]
}

/**
 * Values by name, for names that others wrote: `constructor` and `__proto__` are not found unless they were put in.
 *
 *     const seconds = lookup({ s: 1, min: 60 })
 *     seconds[unit]            // undefined for any other text
 */
export function lookup<Value>(values: Readonly<Record<string, Value>> = {}): Record<string, Value> {
  return Object.assign(Object.create(null) as Record<string, Value>, values)
}
