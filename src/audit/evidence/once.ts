import type { PromiseName } from '../../contract/promises.ts'
import type { Evidence } from '../rule.ts'

/** Loads something once for all rules with the same evidence. */
export function oncePerEvidence<Value, P extends PromiseName = never>(
  load: (evidence: Evidence<P>) => Promise<Value>,
  /** What the value belongs to: the evidence, or a part of it. */
  part: (evidence: Evidence<P>) => object = (evidence) => evidence,
): (evidence: Evidence<P>) => Promise<Value> {
  const known = new WeakMap<object, Promise<Value>>()
  return (evidence) => {
    const loading = known.get(part(evidence)) ?? load(evidence)
    known.set(part(evidence), loading)
    return loading
  }
}
