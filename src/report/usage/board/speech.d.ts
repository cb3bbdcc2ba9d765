import type { BoardData } from './data.ts'
import type { BoardWord } from './words.ts'

export interface BoardSpeech {
  say(word: BoardWord, values?: Readonly<Record<string, string>>): string
  show(value: number | null | undefined): string
}

export function speechOf(data: BoardData): BoardSpeech
