import type { Operation } from './made-operations.ts'

/**
 * Whether any order of the operations explains every value, found by trying all of them; the charge intervals
 * are checked against it. Exponential, so only for a handful of operations. An order is possible if
 * each operation can get a moment inside its own closed interval: each operation ends no earlier
 * than the latest call before it in the order.
 */
export function isLinearizable(operations: readonly Operation[]): boolean {
  const values = operations.flatMap(({ after }) => (after === null ? [] : [after]))
  if (values.length === 0) return true
  const cost = operations.reduce((total, { costCredits }) => total + costCredits, 0)
  const top = Math.max(...operations.map((o) => (o.after ?? -Infinity) + o.costCredits))
  for (let start = top; start <= top + cost; start++) {
    if (explains(operations, start)) return true
  }
  return false
}

function explains(operations: readonly Operation[], start: number): boolean {
  const certain = operations.reduce((mask, o, at) => (o.certain ? mask | (1 << at) : mask), 0)
  const dead = new Set<number>()
  const search = (done: number, balance: number, latestCallUs: number): boolean => {
    if ((done & certain) === certain) return true
    if (dead.has(done)) return false
    for (const [at, operation] of operations.entries()) {
      if (done & (1 << at) || operation.untilUs < latestCallUs) continue
      const next = balance - operation.costCredits
      if (operation.after !== null && operation.after !== next) continue
      if (search(done | (1 << at), next, Math.max(latestCallUs, operation.callUs))) return true
    }
    dead.add(done)
    return false
  }
  return search(0, start, -Infinity)
}
