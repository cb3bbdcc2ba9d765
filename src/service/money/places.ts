/** Sets a place such as `usage.cost` in a copy of a JSON object. */
export function withPlace(body: object, place: string, value: unknown): object {
  const [name = '', ...rest] = place.split('.')
  const fields = body as Readonly<Record<string, unknown>>
  if (rest.length === 0) return { ...fields, [name]: value }
  const inner = fields[name]
  const object = typeof inner === 'object' && inner !== null ? inner : {}
  return { ...fields, [name]: withPlace(object, rest.join('.'), value) }
}

/** An amount as JSON: a number if that has all its digits, else a string. */
export function jsonAmount(text: string): number | string {
  const digits = text.replace(/^-?0*\.?0*|\./g, '')
  return digits.length <= 15 || String(Number(text)) === text ? Number(text) : text
}
