import { distanceForAnyEye, linearLight } from '../../chart/colour-distance.ts'
import { seriesOf } from '../../chart/theme.ts'

/** Contrast by WCAG 2.2: relative luminance of both colours (`#rrggbb`), 1 to 21. */
export function contrast(a: string, b: string): number {
  const [high, low] = [luminance(a), luminance(b)].toSorted((left, right) => right - left) as [
    number,
    number,
  ]
  return (high + 0.05) / (low + 0.05)
}

function luminance(color: string): number {
  const [red, green, blue] = linearLight(color)
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

export const leastContrast = 4.5

/** In Oklab: from here on, CIEDE2000 is above 4 for any kind of colour vision. */
const leastDistance = 0.07

/** The first colour of charts: the accent, unless a reader with any kind of colour vision could mistake it for another series. */
export function firstColour(accent: string, theme: 'light' | 'dark'): string {
  const [first, ...others] = seriesOf(theme) as [string, ...string[]]
  return distanceForAnyEye(accent, others) >= leastDistance ? accent : first
}

/** The grounds of the page on which the accent is hardest to read: its page in light, its cards in dark. */
export const grounds = { light: '#ffffff', dark: '#161b22' } as const

/** The colour, mixed with another in steps of 1 % until it is readable on a ground. */
export function mixedUntilReadable(color: string, other: string, ground: string): string {
  const part = (of: string, at: number) => Number.parseInt(of.slice(at, at + 2), 16)
  for (let share = 0; share < 1; share += 0.01) {
    const mixed = `#${[1, 3, 5]
      .map((at) => Math.round(part(color, at) * (1 - share) + part(other, at) * share))
      .map((each) => each.toString(16).padStart(2, '0'))
      .join('')}`
    if (contrast(mixed, ground) >= leastContrast) return mixed
  }
  return other
}
