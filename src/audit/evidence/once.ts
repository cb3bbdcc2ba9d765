import type { Evidence } from '../rule.ts'

/** Computes a value at its first use, once. */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Loads something once for all rules with the same evidence. */
export function oncePerEvidence<Value>(
  load: (evidence: Evidence) => Promise<Value>,
): (evidence: Evidence) => Promise<Value> {
  const known = new WeakMap<Evidence, Promise<Value>>()
  return (evidence) => {
    const loading = known.get(evidence) ?? load(evidence)
    known.set(evidence, loading)
    return loading
  }
}
