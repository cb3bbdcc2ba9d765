import { type Amount, type Rounding, rounded } from './amounts.ts'
import type { Ask } from './asks.ts'
import type { Line, Twist } from './cost.ts'
import { everywhere, type Family, type Fault, isOk } from './fault.ts'
import { type Need, type Part, parents } from './terms.ts'

const has = (part: Part) => (ask: Ask) => isOk(ask) && ask.counts[part] > 0

const onLines = (
  part: Part,
  change: (line: Line, rateOf: (part: Part) => Amount) => readonly Line[],
): Twist => ({
  lines: (lines, rateOf) =>
    lines.flatMap((line) => (line.name === part ? change(line, rateOf) : [line])),
})

const needOf: Readonly<Partial<Record<Part, Need>>> = {
  cache_read: 'cache',
  cache_write: 'cache',
  cache_write_1h: 'cache',
  reasoning: 'reasoning',
}
const needsOf = (...of: readonly Part[]) => of.flatMap((part) => needOf[part] ?? [])

/** Each part at the price of each other one, free, twice, and beside its parent. */
export function partFaults(part: Part, other: Part): readonly Fault[] {
  const parent = parents[part]
  const usual = {
    family: 'price',
    needs: needsOf(part, other),
    places: everywhere,
    strikes: has(part),
    about: [part],
  }
  return [
    {
      ...usual,
      name: `${part} at the price of ${other}`,
      twist: onLines(part, (line, rateOf) => [{ ...line, each: rateOf(other) }]),
      cause: new RegExp(`${part} at the price of ${other}`),
    },
    {
      ...{ ...usual, needs: needsOf(part) },
      name: `${part} free`,
      twist: onLines(part, () => []),
      cause: new RegExp(`${part} free`),
    },
    {
      ...{ ...usual, needs: needsOf(part), family: 'count' },
      name: `${part} counted twice`,
      twist: onLines(part, (line) => [line, line]),
      cause: new RegExp(`${part} counted twice`),
    },
    ...(parent === null
      ? []
      : [
          {
            ...{ ...usual, needs: needsOf(part), family: 'count' },
            name: `${part} also charged as ${parent}`,
            twist: onLines(part, (line, rateOf) => [line, { ...line, each: rateOf(parent) }]),
            cause: new RegExp(`${part} also charged as ${parent}`),
          },
        ]),
  ]
}

/** A price that is in no contract: the finding names the part, and the price that it is. */
export function wrongNumber(part: Part, by: bigint): Fault {
  return {
    ...{ name: `${part} at ${Number(by) / 10} of its price`, family: 'price' },
    ...{ needs: needsOf(part), places: everywhere, strikes: has(part), about: [part] },
    twist: onLines(part, (line) => [{ ...line, each: (line.each * by) / 10n }]),
    cause: new RegExp(`${part} at ${Number(by) / 10} times its price`),
  }
}

/** Another whole cost, with its words and its family. */
const wholes: readonly (readonly [string, (cost: Amount) => Amount, RegExp, Family])[] = [
  ['free', () => 0n, /free/, 'lost'],
  ['charged twice', (cost) => 2n * cost, /charged twice/, 'double'],
  ['in hundredths', (cost) => 100n * cost, /in hundredths/, 'currency'],
  ['a thousandth', (cost) => cost / 1000n, /a thousandth/, 'currency'],
  ['a tenth more', (cost) => (cost * 11n) / 10n, /1\.1 times/, 'price'],
]

/** @param isStreams whether they strike streams alone */
export const wholeFaults = (isStreams: boolean): readonly Fault[] =>
  wholes.map(([name, whole, cause, family]) => ({
    ...{
      name: `${name}${isStreams ? ' (streams)' : ''}`,
      needs: [],
      places: everywhere,
      about: [],
    },
    family,
    strikes: (ask) => isOk(ask) && (!isStreams || ask.isStream),
    twist: { whole },
    cause,
  }))

export function roundedFault(digits: number, mode: Rounding): Fault {
  return {
    ...{
      name: `rounded ${mode} to ${digits}`,
      family: 'rounding',
      needs: [],
      places: everywhere,
      about: [],
    },
    strikes: isOk,
    twist: { whole: (cost) => rounded(cost, digits, mode) },
    cause: new RegExp(`rounded to ${digits} decimals, ${mode}|free`),
  }
}
