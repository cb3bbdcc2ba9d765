import type { en } from './en.ts'

export type Word = keyof typeof en

export type Wording = Readonly<Record<Word, string>>
