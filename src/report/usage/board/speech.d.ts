import type { BoardData } from './data.ts'
import type { BoardWord } from './words.ts'

export type Values = Readonly<Record<string, string | number>>

export interface BoardSpeech {
  say(word: BoardWord, values?: Values): string
  show(value: number | null | undefined): string
  compact(value: number): string
  /** @param beside names that are drawn as the rest, too */
  nameOf(name: string, by: string, beside?: number): string
  /** The same, for numbers of a metric: money has its currency. */
  of(metric: string): BoardSpeech
}

export function speechOf(data: BoardData): BoardSpeech
export function sentences(
  locale: string,
  digits: number,
  show: (value: number) => string,
): (text: string, values?: Values) => string
