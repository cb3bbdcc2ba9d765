import type { Choice } from './choice.js'
import type { BoardData } from './data.ts'

/** An element, or text. */
export type Tree =
  | string
  | number
  | {
      readonly name: string
      readonly attributes: Readonly<Record<string, string | number>>
      readonly children: readonly Tree[]
    }

export interface View {
  readonly id: string
  readonly wide?: boolean
  /** A narrow view without a neighbour. */
  readonly whole?: boolean
  readonly title: string
  readonly note?: string | null
  readonly legend?: Tree | null
  /** Stands under the drawing. */
  readonly under?: Tree | null
  readonly tree: Tree
  readonly bars?: readonly { readonly start: number; readonly end: number }[]
  table(): readonly [readonly string[], readonly (readonly unknown[])[]]
}

export interface Views {
  readonly sums: Readonly<Record<'requests' | 'failed' | 'limited' | 'unknown', number>> &
    Readonly<Record<'credits' | 'input' | 'cached' | 'output', number | null>>
  readonly views: readonly View[]
  /** Name, label, value, and what stands under it. */
  readonly cards: readonly (readonly [string, string, string, string])[]
  readonly tables: readonly { readonly by: string; readonly title: string; readonly tree: Tree }[]
}

export function viewsOf(
  data: BoardData,
  choice: Choice,
  size?: 'desk' | 'middle' | 'paper' | 'phone',
): Views
