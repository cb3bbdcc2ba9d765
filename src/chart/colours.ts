import { errorColours, othersColour, seriesColours } from './theme.ts'

type Json = Record<string, unknown>

/** What a query calls the rest of a long list. */
const others = '(other)'

/** Patterns of lines: colour alone does not tell lines apart for everybody. */
const dashes = [
  [1, 0],
  [7, 3],
  [2, 3],
  [9, 3, 2, 3],
  [5, 2],
  [1, 2],
  [12, 4],
] as const

/**
 * Gives each name of a chart its colour. The rest of a long list is grey, and last. `"scale": {"scheme": "errors"}` takes
 * colours that never look like a success.
 *
 * @param names in the order of the legend, if the chart gives it one
 */
export function colourNames(color: Json, names: readonly unknown[]): void {
  const scale = (color.scale ?? {}) as Json
  if (color.type !== 'nominal') return
  const { scheme, ...given } = scale
  const hues = scheme === 'errors' ? errorColours : seriesColours
  const domain = inOrder(names, 'domain' in scale)
  const named = domain.filter((name) => name !== others)
  const range = named.map((_, at) => hues[at % hues.length]!)
  color.scale = {
    ...given,
    domain,
    range: named.length < domain.length ? [...range, othersColour] : range,
  }
}

/** Draws each name's line in its own pattern, unless the chart says otherwise. */
export function dashLines(encoding: Record<string, Json>, mark: unknown): void {
  const { color, strokeDash } = encoding
  const type = typeof mark === 'object' && mark !== null ? (mark as Json).type : mark
  if (type !== 'line' || strokeDash !== undefined || color?.type !== 'nominal') return
  const { domain } = color.scale as { readonly domain: readonly unknown[] }
  if (domain.length < 2) return
  encoding.strokeDash = {
    field: color.field,
    type: 'nominal',
    legend: color.legend,
    scale: { domain, range: domain.map((_, at) => dashes[at % dashes.length]) },
  }
}

function inOrder(names: readonly unknown[], isOrdered: boolean): readonly unknown[] {
  const known = names.filter((name) => name !== others && name !== null && name !== undefined)
  const ordered = isOrdered ? known : known.toSorted((a, b) => (String(a) < String(b) ? -1 : 1))
  return names.includes(others) ? [...ordered, others] : ordered
}
