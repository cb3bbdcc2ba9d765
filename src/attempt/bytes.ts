/**
 * Copies a few dozen bytes, four at a time. For so few, a native copy (`Uint8Array.set`) costs more, and single bytes take
 * three times as long. Doubles do not work: a copy may change the bits of a NaN.
 */
export function copyBytes(
  from: DataView,
  fromAt: number,
  to: DataView,
  toAt: number,
  length: number,
): void {
  let at = 0
  for (; at < length - 3; at += 4) to.setInt32(toAt + at, from.getInt32(fromAt + at))
  for (; at < length; at++) to.setUint8(toAt + at, from.getUint8(fromAt + at))
}

let lastBytes: Uint8Array = new Uint8Array(0)
let lastView: DataView = new DataView(new ArrayBuffer(0))

/** A view of the bytes, cached because most calls pass a transport's only read buffer. */
export function viewOf(bytes: Uint8Array): DataView {
  if (bytes !== lastBytes) {
    lastBytes = bytes
    lastView = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }
  return lastView
}
