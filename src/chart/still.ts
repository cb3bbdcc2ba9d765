import type { Spec } from 'vega'

/** A compiled spec whose signals hear no event: a drawing has no pointer, and Vega warns about a window that is not there. */
export function still(spec: Spec): Spec {
  return JSON.parse(JSON.stringify(spec), (name, value) =>
    name === 'signals' && Array.isArray(value) ? value.map(deaf) : value,
  )
}

const deaf = ({ on: _, ...signal }: { readonly on?: unknown }) => signal
