import type { Dimension, Width } from './cells.ts'
import type { BoardData } from './data.ts'
import type { BoardWord } from './words.ts'

/** What a bar can show. */
export type Metric = BoardData['metrics'][number]

/** Local hours since 1970; the end is not part of it. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** An empty name is no filter. */
export interface Choice extends Span, Readonly<Record<Dimension, string>> {
  readonly by: Dimension
  readonly metric: Metric
}

export interface Bar {
  /** Local hours since 1970; the end is not part of it. */
  readonly start: number
  readonly end: number
  readonly measured: boolean
  /** Not over, or not measured to its end. */
  readonly open: boolean
}

/** The bars of a chart, all of one width. */
export interface Bars {
  readonly bucket: Width
  readonly bars: readonly Bar[]
}

/** A value for each bar; null is "not measured". */
export interface Series {
  readonly name: string
  readonly values: readonly (number | null)[]
}

/** All sums of some cells; null is "not measured". */
export type Sums = Readonly<Record<'failed' | 'limited' | 'unknown', number>> &
  Readonly<Record<'requests' | 'credits' | 'input' | 'cached' | 'output', number | null>>

/** A number over a bar that a person should look at. */
export interface Mark {
  readonly rank: number
  /** The place of the bar; -1 is none. */
  readonly bar: number
}

/** What is used up to an hour. */
export interface Point {
  readonly hour: number
  readonly sum: number
}

/** The size of a drawing in its own pixels. */
export interface Size {
  readonly width: number
  readonly height: number
}

export type SizeName = 'desk' | 'middle' | 'paper' | 'phone'

export type Values = Readonly<Record<string, string | number>>

/** How the data of a page are said. */
export interface BoardSpeech {
  say(word: BoardWord, values?: Values): string
  show(value: number | null | undefined): string
  cents(value: number | null): string
  compact(value: number): string
  /** A share of a list. */
  part(share: number): string
  /** The time of day of an hour. */
  clock(hour: number): string
  /** @param beside names that are drawn as the rest, too */
  nameOf(name: string, by: Dimension, beside?: number): string
  /** The same, for numbers of a metric: money has its currency. */
  of(metric: Metric): BoardSpeech
  readonly shortWeekdays: readonly string[]
  readonly weekdays: readonly string[]
  /** A bar's time in words. */
  timeOf(bucket: Width, bar: Pick<Bar, 'start' | 'end'>): string
  /** @param hours how many the axis spans */
  tick(bucket: Width, hour: number, hours: number): string
}

export interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string | number>>
  readonly children: readonly Tree[]
}

/** An element, or text. */
export type Tree = string | number | Element

/** What an element may be given as a child: what is not there is left out. */
export type Child = Tree | null | false

/** The name of a line or a colour, and its class. */
export type LegendEntry = readonly [name: string, kind: string]

export type TableCell = string | number | null | undefined

/** A place in a drawing that the pointer and the arrow keys reach, and what is said of it. */
export interface Stop extends Size {
  readonly x: number
  readonly y: number
  readonly said: string
  /** What the place opens. */
  readonly bar?: Bar
}

/** What stands first in a list of requests: the newest, or the greatest. */
export type RequestSort = 'time' | 'amount' | 'tokens' | 'duration'

/** A part of a list of requests, in the cells of its table. */
export interface RequestPage {
  readonly rows: readonly (readonly TableCell[])[]
  /** Where the next part begins; null if there is none. */
  readonly next: string | null
}

/** A request of a list. */
export interface ListedRequest {
  readonly id: string
  /** Local hours since 1970. */
  readonly hour: number
  /** The time of day. */
  readonly clock: string
  readonly names: readonly string[]
  readonly status: string
  /** Milliseconds; null is unknown. */
  readonly duration: number | null
  readonly input: number | null
  readonly output: number | null
  readonly amount: number | null
}

interface AnyView {
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
  /** The unit of the values of its table, if they are amounts, and what a credit costs in it. */
  readonly unit?: string
  readonly perCredit?: number
  /** The start and the end of each row of its table, or its end alone: local hours. */
  readonly times?: readonly (readonly number[])[]
  /** Says the values of its table, if they are no plain numbers. */
  readonly speech?: BoardSpeech
  table(): readonly [heads: readonly string[], rows: readonly (readonly TableCell[])[]]
}

/** A view over time, whose bars open. */
export interface BarsView extends AnyView, Bars {
  /** The names and values of a bar. */
  describe(at: number): readonly (readonly [name: string, value: string])[]
  /** Why a bar is far above the others, in whole sentences; null for others. */
  whyOf?(at: number): string | null
}

/** A view with places of its own. */
interface StopsView extends AnyView {
  readonly bars?: undefined
  /** How many of its places are side by side; default: all. */
  readonly rows?: number
  stops(): readonly Stop[]
}

export type View = BarsView | StopsView

/** Its name, label, value, and what stands under it. */
export type Card = readonly [name: Metric | 'failed', label: string, value: string, aside: string]

export interface TableOfNames {
  readonly by: Dimension
  readonly title: string
  readonly tree: Tree
}

export interface Views {
  readonly sums: Sums
  readonly views: readonly View[]
  readonly cards: readonly Card[]
  readonly tables: readonly TableOfNames[]
}
