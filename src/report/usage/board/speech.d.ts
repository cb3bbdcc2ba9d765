import type { BoardData } from './data.ts'
import type { BoardWord } from './words.ts'

export type Values = Readonly<Record<string, string | number>>

export interface BoardSpeech {
  say(word: BoardWord, values?: Values): string
  show(value: number | null | undefined): string
  compact(value: number): string
  nameOf(name: string): string
}

export function speechOf(data: BoardData): BoardSpeech
export function sentences(
  locale: string,
  digits: number,
  show: (value: number) => string,
): (text: string, values?: Values) => string
