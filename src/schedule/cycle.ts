/**
 * An order of indexes that a loop may repeat for ever, in which each has its share by weight and
 * none comes in a bunch (smooth weighted round robin).
 *
 *     weights 3, 1  →  0 0 1 0
 *
 * It is the shortest order with exactly these shares; where none of at most `longest` places has
 * them, it has that many places and the nearest shares (largest remainders), each index at least once.
 *
 * @param weights none negative; where all are 0 they count as equal
 */
export function cycleOf(weights: readonly number[], longest: number): readonly number[] {
  const given = weights.reduce((sum, weight) => sum + weight, 0)
  const shares = weights.map((weight) => (given === 0 ? 1 / weights.length : weight / given))
  const counts = exactCounts(shares, longest) ?? nearestCounts(shares, longest)
  const places = counts.reduce((sum, count) => sum + count, 0)
  const credit = counts.map(() => 0)
  return Array.from({ length: places }, () => {
    for (const [at, count] of counts.entries()) credit[at]! += count
    const next = credit.indexOf(Math.max(...credit))
    credit[next]! -= places
    return next
  })
}

function exactCounts(shares: readonly number[], longest: number): readonly number[] | null {
  for (let places = 1; places <= longest; places++) {
    const counts = shares.map((share) => Math.round(share * places))
    const exact = shares.every((share, at) => Math.abs(share * places - counts[at]!) < 1e-9)
    if (exact) return counts
  }
  return null
}

function nearestCounts(shares: readonly number[], longest: number): readonly number[] {
  const counts = shares.map((share) => Math.floor(share * longest))
  const left = longest - counts.reduce((sum, count) => sum + count, 0)
  const byRemainder = shares
    .map((share, at) => ({ at, remainder: share * longest - counts[at]! }))
    .sort((a, b) => b.remainder - a.remainder)
  for (const { at } of byRemainder.slice(0, left)) counts[at]!++
  return counts.map((count, at) => (shares[at] === 0 ? 0 : Math.max(1, count)))
}
