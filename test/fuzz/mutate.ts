/** A seeded, repeatable source of numbers (mulberry32). */
export function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

/** Tokens that mean something to one of the readers, in addition to single bytes. */
const tokens = [
  ...['\n', '\r', '\r\n', '\n\n', ':', ' ', '\t', '"', '\\', '\\u00', '{', '}', '[', ']', ',', '-'],
  ...['data:', 'data: ', '\ufeff', 'null', 'true', '1e999', '0', '-1', '9007199254740993', '0x1'],
  ...['&a ', '*a', '<<: ', '!!binary ', '~', '|', '>', '? ', '%', '---\n', '__proto__', '\u0000'],
  ...['\u2028', '\ud83d', 'é', '1/s', '10s', '50%'],
].map((token) => Buffer.from(token))

const mostBytes = 4_096

/** An input with a few bytes removed, inserted, doubled or replaced by those of another input. */
export function mutated(
  input: Buffer,
  others: readonly Buffer[],
  random: (below: number) => number,
): Buffer {
  let bytes = input
  for (let changes = 1 + random(4); changes > 0; changes--) {
    const at = random(bytes.length + 1)
    const length = 1 + random(random(4) === 0 ? 64 : 4)
    const before = bytes.subarray(0, at)
    const after = bytes.subarray(at)
    const other = others[random(others.length)] ?? bytes
    const from = random(other.length + 1)
    const middle = [
      () => Buffer.alloc(0),
      () => tokens[random(tokens.length)]!,
      () => Buffer.from([random(256)]),
      () => Buffer.concat([after.subarray(0, length), after.subarray(0, length)]),
      () => other.subarray(from, from + length),
    ][random(5)]!()
    const kept = random(2) === 0 ? after : after.subarray(length)
    bytes = Buffer.concat([before, middle, kept]).subarray(0, mostBytes)
  }
  return bytes
}

/** The shortest input found with the same result, by leaving out ever smaller parts. */
export async function smallest(
  input: Buffer,
  does: (input: Buffer) => Promise<boolean>,
): Promise<Buffer> {
  let bytes = input
  for (let part = bytes.length >> 1; part >= 1; part >>= 1) {
    for (let at = 0; at < bytes.length; ) {
      const without = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + part)])
      if (await does(without)) bytes = without
      else at += part
    }
  }
  return bytes
}
