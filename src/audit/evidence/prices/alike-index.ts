import type { PricedRequest } from '../../../price/judge/request.ts'
import { outputOf, promptOf } from '../../../tokens/usage.ts'
import { countWhile } from '../../../user/count-below.ts'
import type { LogRow } from './log.ts'

/** How far the time of a row may be from its request. */
const slackMs = 1_000

interface Timed<Item> {
  readonly item: Item
  readonly fromMs: number
  readonly untilMs: number
}

/**
 * Rows of a log by their counts and times, or requests by theirs, so that those that may belong together are found without a
 * look at all of them.
 */
export class AlikeIndex<Item> {
  /** By counts, and in order of time. Those without counts fit all. */
  private readonly groups: ReadonlyMap<string | null, Group<Item>>
  private readonly longestMs: number

  private constructor(all: readonly (Timed<Item> & { readonly counts: string | null })[]) {
    const sorted = all.toSorted((a, b) => a.fromMs - b.fromMs)
    const byCounts = Map.groupBy(sorted, ({ counts }) => counts)
    this.groups = new Map([...byCounts].map(([counts, group]) => [counts, new Group(group)]))
    this.longestMs = all.reduce((most, { fromMs, untilMs }) => Math.max(most, untilMs - fromMs), 0)
  }

  /** @param rows those without a time fit nothing */
  static ofRows(rows: readonly LogRow[]): AlikeIndex<LogRow> {
    return new AlikeIndex(
      rows.flatMap((item) =>
        item.atMs === null
          ? []
          : [{ item, fromMs: item.atMs, untilMs: item.atMs, counts: countsOf(item) }],
      ),
    )
  }

  static ofRequests(requests: readonly PricedRequest[]): AlikeIndex<PricedRequest> {
    return new AlikeIndex(
      requests.map((item) => ({
        item,
        fromMs: item.startMs - slackMs,
        untilMs: item.endMs + slackMs,
        counts: countsOf(item),
      })),
    )
  }

  /** The first items that may belong to one, at most so many. @param isTaken whether nobody else gets them */
  alike(
    of: LogRow | PricedRequest,
    isAlike: (item: Item) => boolean,
    most: number,
    isTaken = false,
  ): readonly Item[] {
    const counts = countsOf(of)
    const groups = counts === null ? [...this.groups.values()] : this.groupsFor(counts)
    const [fromMs, untilMs] =
      'startMs' in of ? [of.startMs - slackMs, of.endMs + slackMs] : [of.atMs ?? 0, of.atMs ?? 0]
    const found: Item[] = []
    for (const group of groups) {
      for (const at of group.left(fromMs - this.longestMs)) {
        const { item, ...time } = group.items[at]!
        if (time.fromMs > untilMs) break
        if (time.untilMs < fromMs || !isAlike(item)) continue
        found.push(item)
        if (isTaken) group.take(at)
        if (found.length === most) return found
      }
    }
    return found
  }

  private groupsFor(counts: string): readonly Group<Item>[] {
    return [counts, null].flatMap((name) => this.groups.get(name) ?? [])
  }
}

/** Items in order of time, of which some are taken. */
class Group<Item> {
  readonly items: readonly Timed<Item>[]
  /** Where the next item that is left may be, at or after each place. */
  private readonly next: Int32Array

  constructor(items: readonly Timed<Item>[]) {
    this.items = items
    this.next = Int32Array.from({ length: items.length + 1 }, (_, at) => at)
  }

  take(at: number): void {
    this.next[at] = at + 1
  }

  /** The places of the items that are left, from a moment on. */
  *left(fromMs: number): Generator<number> {
    const { items } = this
    let at = this.leftFrom(countWhile(items.length, (place) => items[place]!.fromMs < fromMs))
    while (at < items.length) {
      yield at
      at = this.leftFrom(at + 1)
    }
  }

  private leftFrom(start: number): number {
    const { next } = this
    let at = start
    while (next[at] !== at) {
      // Each step halves the way for the next one.
      next[at] = next[next[at]!]!
      at = next[at]!
    }
    return at
  }
}

/** `120 40`: prompt and output; null if one of them is not known. */
function countsOf(of: LogRow | PricedRequest): string | null {
  const [prompt, output] =
    'startMs' in of
      ? of.usage === null
        ? [null, null]
        : [promptOf(of.usage.parts), outputOf(of.usage.parts)]
      : [of.tokens.prompt, of.tokens.completion]
  return prompt === null || output === null ? null : `${prompt} ${output}`
}
