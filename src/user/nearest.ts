/** The known name that was probably meant: at most two edits away, one for a name of up to 3 letters; else null. */
export function nearest(name: string, known: readonly string[]): string | null {
  let best: string | null = null
  let bestDistance = Math.min(2, Math.ceil(name.length / 3)) + 1
  for (const candidate of known) {
    const distance = distanceBetween(name, candidate)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Edits between two words; a swap of neighbours is one edit (optimal string alignment). */
function distanceBetween(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => [i, ...Array(b.length).fill(0)])
  for (let j = 0; j <= b.length; j++) rows[0]![j] = j
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1
      let cost = Math.min(rows[i - 1]![j]! + 1, rows[i]![j - 1]! + 1, rows[i - 1]![j - 1]! + change)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, rows[i - 2]![j - 2]! + 1)
      }
      rows[i]![j] = cost
    }
  }
  return rows[a.length]![b.length]!
}

/** `Did you mean launch?`, or the list of known names. */
export function suggestion(name: string, known: readonly string[]): string {
  const meant = nearest(name, known)
  if (meant !== null) return `Did you mean ${meant}?`
  return known.length === 0 ? 'There are none.' : `Known: ${known.join(', ')}.`
}
