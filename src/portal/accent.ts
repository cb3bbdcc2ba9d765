/** Contrast by WCAG 2.2: relative luminance of both colours (`#rrggbb`), 1 to 21. */
export function contrast(a: string, b: string): number {
  const [high, low] = [luminance(a), luminance(b)].toSorted((left, right) => right - left) as [
    number,
    number,
  ]
  return (high + 0.05) / (low + 0.05)
}

function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

export const leastContrast = 4.5
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
