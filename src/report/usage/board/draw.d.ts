import type { BoardData } from './data.ts'
import type { BoardSpeech } from './speech.js'
import type { Bar } from './sums.js'
import type { Tree } from './views.js'

export function drawBars(
  speech: BoardSpeech,
  label: string,
  data: {
    readonly bucket: BoardData['finest']
    readonly bars: readonly Bar[]
    readonly series: readonly {
      readonly name: string
      readonly values: readonly (number | null)[]
    }[]
    readonly marks?: readonly { readonly rank: number; readonly bar: number }[]
  },
  size: { readonly width: number; readonly height: number; readonly classes?: readonly string[] },
): Tree
