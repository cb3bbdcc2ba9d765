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
 * Whether `known[from..to)` is what stands in `bytes` at `at`, before `end`: four bytes at a time,
 * a third of the time that bytes take.
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
  let place = from
  for (; place < to - 3; place += 4) {
    if (known.getInt32(place, true) !== bytes.getInt32(place + shift, true)) return false
  }
  for (; place < to; place++) {
    if (known.getUint8(place) !== bytes.getUint8(place + shift)) return false
  }
  return true
}
