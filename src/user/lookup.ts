/** The value of a name that others wrote, in any object: what every object has is not in it. */
export function entryOf<Value>(
  of: Readonly<Record<string, Value>>,
  name: string,
): Value | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined
}

/**
 * Values by name, for names that others wrote: `constructor` and `__proto__` are in none of ours.
 *
 *     const seconds = lookup({ s: 1, min: 60 })
 *     seconds[unit]            // undefined for any other text
 */
export function lookup<Value>(values: Readonly<Record<string, Value>> = {}): Record<string, Value> {
  return Object.assign(Object.create(null) as Record<string, Value>, values)
}
