import type { Progress } from '../../run/count/progress.ts'
import { sizeOf } from '../terminal/terminal-width.ts'
import { blockOf, type Room, searchText, waitWords } from './live-block.ts'
import { spentText } from './spent-text.ts'

/** Interval of lines without a terminal. */
const lineEveryMs = 5000

/**
 * Shows the progress of long work on stderr: a block that is redrawn on a terminal, or occasional lines
 * elsewhere. For a run, it uses only counters.
 */
export class LiveView {
  private readonly out: NodeJS.WriteStream
  private drawn = 0
  private lastLineMs = 0

  constructor(out: NodeJS.WriteStream = process.stderr) {
    this.out = out
  }

  /** Shortest useful interval of progress, in milliseconds. */
  get everyMs(): number {
    return this.out.isTTY ? 0 : lineEveryMs
  }

  show(progress: Progress): void {
    this.draw(progress.atUs / 1000, (room) => blockOf(progress, room), lineOf(progress))
  }

  /** Draws the block on a terminal, or writes the line elsewhere. @param tookMs time since the work began */
  draw(tookMs: number, block: (room: Room) => readonly string[], line: string): void {
    if (this.out.isTTY) {
      // The cursor is below the block, so the block cannot use the last row.
      const { columns, rows } = sizeOf(this.out)
      const lines = block({ columns, rows: rows - 1 })
      this.clear()
      this.out.write(`${lines.join('\n')}\n`)
      this.drawn = lines.length
      return
    }
    // A view may show several measurements, each from its own beginning.
    if (tookMs < this.lastLineMs) this.lastLineMs = 0
    if (tookMs - this.lastLineMs < lineEveryMs) return
    this.lastLineMs = tookMs
    this.out.write(`${line}\n`)
  }

  /** Writes a line that stays, above the next block. */
  say(line: string): void {
    this.clear()
    this.out.write(`${line}\n`)
  }

  /** Removes the block, so that the summary can replace it. */
  clear(): void {
    if (this.drawn > 0) this.out.write(erased(this.drawn))
    this.drawn = 0
  }
}

/**
 * Erases the lines above the cursor, one by one: tmux keeps a screen that is erased as a whole from its first line on, so
 * that each repaint would stay in the scrollback.
 */
const erased = (lines: number) =>
  `\x1b[${lines}F${'\x1b[2K\x1b[1E'.repeat(lines - 1)}\x1b[2K${lines > 1 ? `\x1b[${lines - 1}F` : ''}`

export function lineOf(progress: Progress): string {
  const { counts, steps } = progress
  const open = steps.filter((step) => step.plannedPerS !== null)
  const planned = open.reduce((sum, step) => sum + (step.plannedPerS ?? 0), 0)
  const achieved = steps.reduce((sum, step) => sum + step.achievedPerS, 0)
  return [
    `${(progress.atUs / 1e6).toFixed(0)} s`,
    progress.phase ?? '-',
    `${achieved.toFixed(1)}/s${open.length > 0 ? ` of ${planned.toFixed(1)}/s` : ', closed'}`,
    `${counts.planned - counts.notSent} sent`,
    `${counts.ok} ok`,
    `${steps.reduce((sum, step) => sum + step.failures, 0)} failed`,
    `${counts.notSent} not sent`,
    `${progress.inFlight} in flight`,
    ...spentOf(progress),
    ...waitWords(progress),
    ...(progress.searching == null ? [] : [searchText(progress.searching, progress.atUs)]),
  ].join(' | ')
}

function spentOf(progress: Progress): readonly string[] {
  const spent = spentText(progress)
  if (spent === null) return []
  return [progress.money === null ? `${progress.creditsSpent} credits` : `${spent.value}`]
}
