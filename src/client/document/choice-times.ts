import { mostChoices } from './document-facts.ts'

/** When the text of each choice of one stream began, and when it last went on; microseconds, NaN before the first. */
export class ChoiceTimes {
  private readonly firstUs = new Float64Array(mostChoices).fill(Number.NaN)
  private readonly lastUs = new Float64Array(mostChoices).fill(Number.NaN)

  clear(): void {
    this.firstUs.fill(Number.NaN)
    this.lastUs.fill(Number.NaN)
  }

  /** Notes text of a choice. @returns the gap since its text before; NaN for its first */
  see(choice: number, atUs: number): number {
    const itlUs = atUs - this.lastUs[choice]!
    this.lastUs[choice] = atUs
    if (Number.isNaN(itlUs)) this.firstUs[choice] = atUs
    return itlUs
  }

  /** From the first to the last text of each choice, added up, in whole microseconds. */
  get textUs(): number {
    let sum = 0
    for (let choice = 0; choice < mostChoices; choice++) {
      const us = this.lastUs[choice]! - this.firstUs[choice]!
      if (us > 0) sum += us
    }
    return Math.round(sum)
  }
}
