const shards = 16

/**
 * Ids that occur more than once, in eight bytes for each id. A hash of 52 bits names an id, so an id that is named may be
 * another with the same hash: whoever asks compares the rows.
 */
export class RowIds {
  readonly #seen = Array.from({ length: shards }, () => new Set<number>())
  readonly #repeated = new Set<number>()

  add(id: string): void {
    const hash = hashOf(id)
    // A set holds at most 2^24 values.
    const seen = this.#seen[hash % shards]!
    if (seen.has(hash)) this.#repeated.add(hash)
    else seen.add(hash)
  }

  get isEmpty(): boolean {
    return this.#seen.every(({ size }) => size === 0)
  }

  get mayRepeat(): boolean {
    return this.#repeated.size > 0
  }

  isRepeated(id: string): boolean {
    return this.#repeated.size > 0 && this.#repeated.has(hashOf(id))
  }
}

/** Two FNV-1a hashes of 26 bits. */
function hashOf(text: string): number {
  let [a, b] = [0x811c9dc5, 0xcbf29ce4]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    a = Math.imul(a ^ code, 0x01000193)
    b = Math.imul(b ^ ((code << 5) | (code >>> 3)), 0x85ebca6b)
    b ^= b >>> 13
  }
  return ((a >>> 6) & 0x3ffffff) * 0x4000000 + ((b >>> 6) & 0x3ffffff)
}
