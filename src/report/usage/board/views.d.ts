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

export interface Choice {
  readonly from: number
  readonly to: number
  readonly model: string
  readonly key: string
  readonly endpoint: string
  readonly by: 'model' | 'key' | 'endpoint'
  readonly metric: BoardData['metrics'][number]
}

export interface View {
  readonly id: string
  readonly wide?: boolean
  /** A narrow view without a neighbour. */
  readonly whole?: boolean
  readonly title: string
  readonly note?: string | null
  readonly legend?: Tree | null
  readonly tree: Tree
  readonly bars?: readonly { readonly start: number; readonly end: number }[]
  table(): readonly [readonly string[], readonly (readonly unknown[])[]]
}

export interface Views {
  readonly sums: Readonly<Record<'requests' | 'failed' | 'limited' | 'unknown', number>> &
    Readonly<Record<'credits' | 'input' | 'cached' | 'output', number | null>>
  readonly views: readonly View[]
  readonly cards: readonly (readonly [string, string, string])[]
  readonly tables: readonly { readonly by: string; readonly title: string; readonly tree: Tree }[]
}

export function initial(data: BoardData): Choice
export function choiceOf(data: BoardData, fragment: string): Choice
export function fragmentOf(data: BoardData, choice: Choice): string
export function viewsOf(data: BoardData, choice: Choice, size?: 'desk' | 'phone'): Views
export function requestsOf(data: BoardData, choice: Choice): readonly (readonly unknown[])[] | null
