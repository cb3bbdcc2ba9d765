/** What an answer is, besides the fields that each request gets. */
export interface KeptAnswer {
  readonly body: string | Uint8Array<ArrayBuffer>
  readonly headers: Readonly<Record<string, string>>
}

const longestMs = 5000
const mostBytes = 64 * 2 ** 20

interface Entry {
  readonly answer: Promise<KeptAnswer>
  /** Unix milliseconds. */
  readonly atMs: number
  /** 0 while it is made. */
  bytes: number
}

/**
 * Answers that many ask for. The same question is answered once, and again after 5 seconds, since an answer says when
 * its figures were read. A failure is not kept.
 */
export class KeptAnswers {
  private readonly kept = new Map<string, Entry>()
  private bytes = 0

  /** @param question everything that the answer depends on, its account first */
  take(question: string, nowMs: number, make: () => Promise<KeptAnswer>): Promise<KeptAnswer> {
    const known = this.kept.get(question)
    const isMade = known !== undefined && known.bytes > 0
    if (known !== undefined && (!isMade || nowMs - known.atMs < longestMs)) return known.answer
    this.drop(question)
    const entry: Entry = { answer: make(), atMs: nowMs, bytes: 0 }
    this.kept.set(question, entry)
    entry.answer.then(
      ({ body }) => {
        if (this.kept.get(question) !== entry) return
        entry.bytes = body.length + question.length
        this.bytes += entry.bytes
        this.shrink(nowMs)
      },
      () => {
        if (this.kept.get(question) === entry) this.drop(question)
      },
    )
    return entry.answer
  }

  /** Forgets all. */
  forget(): void {
    this.kept.clear()
    this.bytes = 0
  }

  private drop(question: string): void {
    this.bytes -= this.kept.get(question)?.bytes ?? 0
    this.kept.delete(question)
  }

  /** The oldest come first. */
  private shrink(nowMs: number): void {
    for (const [question, { atMs, bytes }] of this.kept) {
      if (nowMs - atMs < longestMs && this.bytes <= mostBytes) return
      if (bytes > 0) this.drop(question)
    }
  }
}
