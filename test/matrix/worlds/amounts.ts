/**
 * Money of the worlds: whole numbers of 10^-40 of the currency, so that a price of a token times four factors is exact.
 * The judge's arithmetic is fractions; nothing is shared with it.
 */
export type Amount = bigint

const places = 40
const one = 10n ** BigInt(places)

/** `0.15`, exactly. */
export function amount(text: string): Amount {
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.')
  const value = BigInt(whole + fraction.padEnd(places, '0'))
  return text.startsWith('-') ? -value : value
}

/** An amount times a decimal such as `0.5`. @throws if a digit would be lost */
export function times(of: Amount, factor: string): Amount {
  const product = of * amount(factor)
  if (product % one !== 0n) throw new Error(`${factor} times an amount has too many digits`)
  return product / one
}

/** The price of one token, of a price for a million. */
export const ofOne = (perMillion: string): Amount => amount(perMillion) / 1_000_000n

export type Rounding = 'up' | 'down' | 'half_up' | 'half_even'

export function rounded(of: Amount, digits: number, mode: Rounding): Amount {
  const unit = 10n ** BigInt(places - digits)
  const [size, sign] = of < 0n ? [-of, -1n] : [of, 1n]
  const [whole, rest] = [size / unit, size % unit]
  const isUp = {
    up: rest > 0n,
    down: false,
    half_up: 2n * rest >= unit,
    half_even: 2n * rest > unit || (2n * rest === unit && whole % 2n === 1n),
  }[mode]
  return sign * (whole + (isUp ? 1n : 0n)) * unit
}

/** As a service writes it, with no more zeros than it needs. */
export function text(of: Amount): string {
  const digits = `${of < 0n ? -of : of}`.padStart(places + 1, '0')
  const shown = `${digits.slice(0, -places)}.${digits.slice(-places)}`.replace(/\.?0+$/, '')
  return of < 0n ? `-${shown}` : shown
}

export const unitOf = (digits: number): Amount => 10n ** BigInt(places - digits)
/** The last place that the finest of some values shows. */
export const finest = (values: readonly Amount[], digits: number): Amount =>
  unitOf(
    Math.max(
      0,
      ...values.map((of) => text(rounded(of, digits, 'half_even')).split('.')[1]?.length ?? 0),
    ),
  )
export const sizeOf = (of: Amount): Amount => (of < 0n ? -of : of)
export const sumOf = (all: readonly Amount[]): Amount => all.reduce((sum, each) => sum + each, 0n)
