/** Bytes that a text lists as numbers, with the place of each: `115, 107, 45`. */
export interface ListedBytes {
  readonly text: string
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}

/** A number as it is written, and where. */
interface Written {
  readonly digits: string
  readonly start: number
  readonly end: number
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
/** What may stand between two numbers of a list: few signs, and no letter. */
const between = /^[^a-z]{0,6}$/i

/** Numbers with only signs between them. */
function* numberLists(text: string, least: number): Generator<readonly Written[]> {
  let numbers: Written[] = []
  for (const { 0: digits, index: start } of text.matchAll(/\d+/g)) {
    const isNumber = digits.length <= mostDigits
    const before = numbers.at(-1)
    if (before !== undefined && !(isNumber && between.test(text.slice(before.end, start)))) {
      if (numbers.length >= least) yield numbers
      numbers = []
    }
    if (isNumber) numbers.push({ digits, start, end: start + digits.length })
  }
  if (numbers.length >= least) yield numbers
}

function listed(
  numbers: readonly Written[],
  radix: number,
  first: number,
  step: number,
): ListedBytes {
  const taken = numbers.filter((_, nth) => nth % step === first)
  return {
    text: taken.map(({ digits }) => letterOf(Number.parseInt(digits, radix))).join(''),
    starts: taken.map(({ start }) => start),
    ends: taken.map(({ end }) => end),
  }
}

/** A character that no key contains, for a number that is no byte. */
const letterOf = (value: number) => String.fromCharCode(value <= 255 ? value : 0xfffd)
