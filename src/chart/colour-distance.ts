import { smallest } from '../user/extremes.ts'

type Triple = readonly [number, number, number]

/**
 * How the eyes of readers see linear light: all cones, and without those for long, middle and short waves (Machado,
 * Oliveira and Fernandes, 2009, at full severity).
 */
const sights: readonly (readonly [Triple, Triple, Triple])[] = [
  [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
]

/**
 * The least distance of a colour to others in Oklab (0 to 1), for any kind of colour vision. The matrices are of linear light,
 * and widely used on coded values; both count. Colours are `#rrggbb`.
 */
export function distanceForAnyEye(color: string, others: readonly string[]): number {
  const eyes = sights.flatMap((sight) => [
    (each: string) => times(sight, linearLight(each)),
    (each: string) => times(sight, codedOf(each)).map(decoded) as unknown as Triple,
  ])
  return smallest(
    eyes.flatMap((eye) => {
      const own = oklab(eye(color))
      return others.map((other) => {
        const [l, a, b] = oklab(eye(other))
        return Math.hypot(own[0] - l, own[1] - a, own[2] - b)
      })
    }),
  )
}

const codedOf = (color: string): Triple =>
  [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255) as unknown as Triple

const decoded = (part: number) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)

/** The parts of `#rrggbb` as linear light, 0 to 1. */
export const linearLight = (color: string): Triple =>
  codedOf(color).map(decoded) as unknown as Triple

const times = (matrix: readonly [Triple, Triple, Triple], [x, y, z]: Triple): Triple =>
  matrix.map(([a, b, c]) => Math.min(1, Math.max(0, a * x + b * y + c * z))) as unknown as Triple

/** Ottosson, 2020. */
function oklab([r, g, b]: Triple): Triple {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ]
}
