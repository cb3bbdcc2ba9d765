import type { Call } from '../call/call.ts'
import { ChoiceTimes } from '../document/choice-times.ts'
import { mostChoices } from '../document/document-facts.ts'
import type { AttemptContext } from '../row/attempt-context.ts'
import {
  contentEventsCell,
  contentReadsCell,
  itlMaxUsCell,
  lastContentUsCell,
} from './event-numbers.ts'

/**
 * When the text of one stream came, and the gaps between its texts.
 *
 * In most streams only the first choice has text, and a row of `EventNumbers` is enough. Once another choice has text, each choice has
 * its own times, and gaps are those within a choice:
 *
 *     choice 0   a     b           c
 *     choice 1            d     e
 *                 ─ab─   ─────bc───    gaps of choice 0
 *                          ─de─        gap of choice 1
 */
export class ContentTimes {
  private readonly context: Pick<AttemptContext, 'numbers' | 'readUs'>
  private readonly row: number
  private call!: Call
  /** When the first text came; microseconds, NaN before. */
  firstUs = Number.NaN
  /** Times of each choice; null while only the first has text. */
  private choices: ChoiceTimes | null = null
  /** The same object for all streams, created for the first that needs it. */
  private kept: ChoiceTimes | null = null

  /** @param row the cells of this stream */
  constructor(context: Pick<AttemptContext, 'numbers' | 'readUs'>, row: number) {
    this.context = context
    this.row = row
  }

  /** Starts again, for the body of a call; other cells of the row are not touched. */
  open(call: Call): void {
    this.call = call
    this.firstUs = Number.NaN
    this.choices = null
    const { row } = this
    const { cells } = this.context.numbers
    cells[row + lastContentUsCell] = Number.NaN
    cells[row + itlMaxUsCell] = Number.NaN
  }

  get isEmpty(): boolean {
    return this.context.numbers.cells[this.row + contentEventsCell] === 0
  }

  /** From the first to the last text of each of so many choices, added up; NaN while only the first has text. */
  textUs(choices: number): number {
    // A mask has no bit for further choices.
    return this.choices === null || choices > mostChoices ? Number.NaN : this.choices.textUs
  }

  /** An event with text was read, at the time of the context; a bit for each choice with text. */
  onText(textBits: number): void {
    const { row } = this
    const { readUs } = this.context
    const { cells } = this.context.numbers
    const contentEvents = ++cells[row + contentEventsCell]!
    const lastUs = cells[row + lastContentUsCell]!
    cells[row + lastContentUsCell] = readUs
    if (contentEvents === 1) {
      this.firstUs = readUs
      this.call.listener.onContent?.(readUs - this.call.sentUs)
    }
    // Events of one read have one time. The comparison is false for the first, whose `lastUs` is NaN.
    if (!(readUs <= lastUs)) cells[row + contentReadsCell]!++
    if (this.choices === null && textBits <= 1) {
      if (contentEvents > 1) this.onItl(readUs - lastUs)
      return
    }
    this.choices ??= this.timesUntil(lastUs)
    for (let choice = 0; choice < mostChoices; choice++) {
      if ((textBits & (1 << choice)) === 0) continue
      const itlUs = this.choices.see(choice, readUs)
      if (!Number.isNaN(itlUs)) this.onItl(itlUs)
    }
  }

  /** The times of a stream in which only the first choice had text, until `lastUs`; NaN if none had. */
  private timesUntil(lastUs: number): ChoiceTimes {
    this.kept ??= new ChoiceTimes()
    this.kept.clear()
    if (!Number.isNaN(lastUs)) {
      this.kept.see(0, this.firstUs)
      this.kept.see(0, lastUs)
    }
    return this.kept
  }

  private onItl(itlUs: number): void {
    const { row } = this
    const { cells } = this.context.numbers
    // The comparison is false for NaN, so the first gap counts.
    if (!(cells[row + itlMaxUsCell]! >= itlUs)) cells[row + itlMaxUsCell] = itlUs
    this.call.listener.onItl(itlUs)
  }
}
