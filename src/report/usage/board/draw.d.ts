import type { BoardData } from './data.ts'
import type { Bar } from './sums.js'
import type { Tree } from './views.js'

export function drawBars(
  label: string,
  data: {
    readonly bucket: BoardData['finest']
    readonly bars: readonly Bar[]
    readonly series: readonly {
      readonly name: string
      readonly values: readonly (number | null)[]
    }[]
  },
  size: { readonly width: number; readonly height: number; readonly classes?: readonly string[] },
): Tree
