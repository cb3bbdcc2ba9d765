import type { BoardData } from './data.ts'

/** Times are local hours since 1970; an empty name is no filter. */
export interface Choice {
  readonly from: number
  readonly to: number
  readonly model: string
  readonly key: string
  readonly endpoint: string
  readonly by: 'model' | 'key' | 'endpoint'
  readonly metric: BoardData['metrics'][number]
}

export function initial(data: BoardData): Choice
export function choiceOf(data: BoardData, fragment: string): Choice
export function fragmentOf(data: BoardData, choice: Choice): string
