import type { Choice } from './choice.js'
import type { BoardData } from './data.ts'

export function titleOf(data: BoardData, metric: BoardData['metrics'][number]): string
export function requestsOf(data: BoardData, choice: Choice): readonly (readonly unknown[])[] | null
