import type { Spec } from 'vega'
import { given } from '../user/given.ts'

interface Scope {
  readonly signals?: readonly { readonly on?: unknown }[] | undefined
  readonly marks?: readonly Scope[] | undefined
  readonly data?: readonly { readonly values?: unknown }[] | undefined
}

/**
 * A compiled spec whose signals hear no event: a drawing has no pointer, and Vega warns about a window that is not there.
 * Its rows are copies, because Vega writes into them.
 */
export const still = (spec: Spec): Spec => stillScope(spec as Scope) as Spec

function stillScope<S extends Scope>(scope: S): S {
  const { signals, marks, data } = scope
  return {
    ...scope,
    ...given({
      signals: signals?.map(deaf),
      marks: marks?.map(stillScope),
      data: data?.map(copied),
    }),
  }
}

const deaf = ({ on: _, ...signal }: { readonly on?: unknown }) => signal

/** Without the ids that Vega gave to the rows, which are symbols. */
const copied = (data: { readonly values?: unknown }) =>
  Array.isArray(data.values)
    ? { ...data, values: data.values.map((row) => Object.fromEntries(Object.entries(row))) }
    : data
