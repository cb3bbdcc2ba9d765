interface Entry {
  readonly name: Buffer
  readonly id: number
}

const places = 128

/** Looks up names in bytes: returns the id of a name, or 0. Length, first byte and last two are the hash, which rarely collides. */
export class ByteNames {
  private readonly table: readonly (readonly Entry[])[]
  private readonly ignoreCase: boolean

  /** @param names with their ids, from 1; in lower case with `ignoreCase`, for names of headers */
  constructor(names: Readonly<Record<string, number>>, ignoreCase = false) {
    const table: Entry[][] = Array.from({ length: places }, () => [])
    for (const [text, id] of Object.entries(names)) {
      const name = Buffer.from(text)
      table[placeOf(name, 0, name.length)]!.push({ name, id })
    }
    this.table = table
    this.ignoreCase = ignoreCase
  }

  find(bytes: Uint8Array, start: number, end: number): number {
    if (start === end) return 0
    const entries = this.table[placeOf(bytes, start, end)]!
    for (let at = 0; at < entries.length; at++) {
      const { name, id } = entries[at]!
      if (name.length !== end - start) continue
      if (this.ignoreCase ? isName(bytes, start, name) : isSame(bytes, start, name)) return id
    }
    return 0
  }
}

/** Whether the bytes at `start` are the name, which is in lower case, regardless of their case. */
export function isName(bytes: Uint8Array, start: number, name: Uint8Array): boolean {
  for (let at = 0; at < name.length; at++) {
    const byte = bytes[start + at]!
    const expected = name[at]!
    // Upper-case letters differ from lower-case letters by one bit.
    if (byte !== expected && (byte < 65 || byte > 90 || (byte | 32) !== expected)) return false
  }
  return true
}

function isSame(bytes: Uint8Array, start: number, name: Uint8Array): boolean {
  for (let at = 0; at < name.length; at++) if (bytes[start + at] !== name[at]) return false
  return true
}

function placeOf(bytes: Uint8Array, start: number, end: number): number {
  const beforeLast = end - start > 1 ? bytes[end - 2]! | 32 : 0
  return (
    ((end - start) * 37 + (bytes[start]! | 32) * 5 + (bytes[end - 1]! | 32) + beforeLast * 3) &
    (places - 1)
  )
}
