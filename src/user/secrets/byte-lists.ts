/** Bytes that a text lists as numbers, with the place of each: `115, 107, 45`. */
export interface ListedBytes {
  readonly text: string
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}

interface Numbers {
  readonly texts: readonly string[]
  readonly starts: readonly number[]
}

/**
 * Lists of byte values in a text: decimal or octal, with or without the index of each before it, as JSON writes typed
 * arrays.
 *
 * @param least the shortest list
 */
export function* byteLists(text: string, least: number): Generator<ListedBytes> {
  for (const numbers of numberLists(text, least)) {
    yield listed(numbers, 10, 0, 1)
    yield listed(numbers, 8, 0, 1)
    yield listed(numbers, 10, 0, 2)
    yield listed(numbers, 10, 1, 2)
  }
}

/** Of an index. */
const mostDigits = 6
/** Signs between two numbers of a list, at most. */
const mostBetween = 6

/** Numbers with only signs between them. */
function* numberLists(text: string, least: number): Generator<Numbers> {
  let starts: number[] = []
  let ends: number[] = []
  let before = 0
  for (let at = 0; at <= text.length; ) {
    if (starts.length === 0) {
      before = 0
      while (at < text.length && !isDigit(text.charCodeAt(at))) at++
    }
    const first = at
    while (at < text.length && isDigit(text.charCodeAt(at))) at++
    const digits = at - first
    if (digits > 0 && digits <= mostDigits && before <= mostBetween) {
      starts.push(first)
      ends.push(at)
    } else {
      if (starts.length >= least) {
        yield { starts, texts: starts.map((start, nth) => text.slice(start, ends[nth])) }
      }
      if (starts.length > 0) [starts, ends] = [[], []]
      if (digits > 0 && digits <= mostDigits) {
        starts.push(first)
        ends.push(at)
      }
    }
    before = 0
    while (at < text.length && !isDigit(text.charCodeAt(at))) {
      before += isLetter(text.charCodeAt(at)) ? mostBetween + 1 : 1
      at++
    }
    if (digits === 0 && before === 0) at++
  }
  if (starts.length >= least) {
    yield { starts, texts: starts.map((start, nth) => text.slice(start, ends[nth])) }
  }
}

const isDigit = (code: number) => code >= 48 && code <= 57
const isLetter = (code: number) => (code | 32) >= 97 && (code | 32) <= 122

function listed(
  { texts, starts }: Numbers,
  radix: number,
  first: number,
  step: number,
): ListedBytes {
  const taken = texts
    .map((digits, nth) => ({ digits, start: starts[nth]! }))
    .filter((_, nth) => nth % step === first)
  return {
    text: taken.map(({ digits }) => letterOf(Number.parseInt(digits, radix))).join(''),
    starts: taken.map(({ start }) => start),
    ends: taken.map(({ start, digits }) => start + digits.length),
  }
}

/** A character that no key contains, for a number that is no byte. */
const letterOf = (value: number) => String.fromCharCode(value <= 255 ? value : 0xfffd)
