const most = 4
/** Shapes that may be learnt before any is met again; a meeting earns a quarter of one. */
const budget = 64

/**
 * The shapes of documents met last, most recent first. A service's answers have a handful of
 * shapes; one whose answers never repeat a shape stops being learnt from.
 */
export class KnownShapes<Shape> {
  readonly list: Shape[] = []
  private credit = budget

  /** A document was of the shape at this place. */
  met(at: number): void {
    if (at > 0) {
      const shape = this.list[at]!
      this.list[at] = this.list[0]!
      this.list[0] = shape
    }
    if (this.credit < budget) this.credit += 0.25
  }

  /** Whether one more may be learnt now; it is paid for. */
  pay(): boolean {
    if (this.credit < 1) return false
    this.credit--
    return true
  }

  add(shape: Shape): void {
    if (this.list.length === most) this.list.pop()
    this.list.unshift(shape)
  }
}

/**
 * Whether `known[from..to)` is what stands in `bytes` at `at`, before `end`: eight bytes at a time,
 * a fifth of the time that bytes take.
 *
 * Eight bytes are compared as a double. Equal doubles are equal bytes but for the two zeros, and no
 * head or JSON text holds a zero byte. Bytes that are no number as a double are never the same, and
 * what holds such is read the long way.
 */
export function isSame(
  known: DataView,
  from: number,
  to: number,
  bytes: DataView,
  at: number,
  end: number,
): boolean {
  const shift = at - from
  if (to + shift > end) return false
  // The last eight may overlap those before them.
  const last = to - 8
  if (last < from) return isSameShort(known, from, to, bytes, shift)
  for (let place = from; place < last; place += 8) {
    if (known.getFloat64(place, true) !== bytes.getFloat64(place + shift, true)) return false
  }
  return known.getFloat64(last, true) === bytes.getFloat64(last + shift, true)
}

function isSameShort(
  known: DataView,
  from: number,
  to: number,
  bytes: DataView,
  shift: number,
): boolean {
  for (let place = from; place < to; place++) {
    if (known.getUint8(place) !== bytes.getUint8(place + shift)) return false
  }
  return true
}
