const shards = 16

/**
 * How many rows have an id, in eight bytes for each id. A hash of 52 bits names an id, so another id with the same hash may be
 * counted with it.
 */
export class RowIds {
  readonly #seen = Array.from({ length: shards }, () => new Set<number>())
  /** Rows of each id that has more than one. */
  readonly #shared = new Map<number, number>()

  add(id: string): void {
    const hash = hashOf(id)
    // A set holds at most 2^24 values.
    const seen = this.#seen[hash % shards]!
    if (seen.has(hash)) this.#shared.set(hash, (this.#shared.get(hash) ?? 1) + 1)
    else seen.add(hash)
  }

  get isEmpty(): boolean {
    return this.#seen.every(({ size }) => size === 0)
  }

  /** The rows of an id that was added: no fewer than there are. */
  rowsOf(id: string): number {
    return this.#shared.size === 0 ? 1 : (this.#shared.get(hashOf(id)) ?? 1)
  }
}

/** Values by the hash of an id. */
export class IdMap<Value> {
  // A map holds at most 2^24 values.
  readonly #shards = Array.from({ length: shards }, () => new Map<number, Value>())

  get(id: string): Value | undefined {
    const hash = hashOf(id)
    return this.#shards[hash % shards]!.get(hash)
  }

  set(id: string, value: Value): void {
    const hash = hashOf(id)
    this.#shards[hash % shards]!.set(hash, value)
  }

  get size(): number {
    return this.#shards.reduce((all, { size }) => all + size, 0)
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
