import { Problem } from './problem.ts'

/** What an answer is, besides the fields that each request gets. */
export interface KeptAnswer {
  readonly body: string | Uint8Array<ArrayBuffer>
  readonly headers: Readonly<Record<string, string>>
}

const mostBytes = 64 * 2 ** 20
/** So that one account does not push out the answers of the others. */
const mostBytesOfOne = mostBytes / 8

interface Entry {
  readonly answer: Promise<KeptAnswer>
  readonly account: string
  /** Who waits for it. */
  askers: number
  readonly stop: AbortController
  /** 0 while it is made. */
  bytes: number
}

export interface Asking {
  /** Everything that the answer depends on. */
  readonly question: string
  readonly account: string
  /** False for an answer that may be another a moment later: it is for those who ask meanwhile. */
  readonly isLasting: boolean
  /** Aborted when the asker is gone. */
  readonly signal: AbortSignal
}

/**
 * Answers that many ask for: the same question is answered once. Since a question has everything that its answer depends
 * on, an answer is kept while there is room. A failure is not kept. An answer for which nobody waits any more is given up.
 */
export class KeptAnswers {
  private readonly kept = new Map<string, Entry>()
  private readonly bytesOf = new Map<string, number>()
  private bytes = 0

  /** @param make stops when its signal is aborted */
  async take(
    { question, account, isLasting, signal }: Asking,
    make: (signal: AbortSignal) => Promise<KeptAnswer>,
  ): Promise<KeptAnswer> {
    signal.throwIfAborted()
    const known = this.kept.get(question)
    const entry = known ?? this.begin(question, account, isLasting, make)
    if (known !== undefined) {
      // The least recently used come first.
      this.kept.delete(question)
      this.kept.set(question, known)
    }
    entry.askers++
    const leave = () => {
      entry.askers--
      if (entry.askers > 0 || entry.bytes > 0) return
      if (this.kept.get(question) === entry) this.drop(question)
      entry.stop.abort(gone())
    }
    signal.addEventListener('abort', leave, { once: true })
    try {
      return await entry.answer
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  forget(): void {
    this.kept.clear()
    this.bytesOf.clear()
    this.bytes = 0
  }

  private begin(
    question: string,
    account: string,
    isLasting: boolean,
    make: (signal: AbortSignal) => Promise<KeptAnswer>,
  ): Entry {
    const stop = new AbortController()
    const entry: Entry = { answer: make(stop.signal), account, askers: 0, stop, bytes: 0 }
    this.kept.set(question, entry)
    entry.answer.then(
      ({ body }) => {
        if (this.kept.get(question) !== entry) return
        if (!isLasting) this.drop(question)
        else this.keep(entry, body.length + question.length)
      },
      () => {
        if (this.kept.get(question) === entry) this.drop(question)
      },
    )
    return entry
  }

  private keep(entry: Entry, bytes: number): void {
    entry.bytes = bytes
    this.add(entry, bytes)
    for (const [question, { account, bytes: its }] of this.kept) {
      const isOver = (this.bytesOf.get(entry.account) ?? 0) > mostBytesOfOne
      if (!isOver && this.bytes <= mostBytes) return
      if (its > 0 && (!isOver || account === entry.account)) this.drop(question)
    }
  }

  private add({ account }: Pick<Entry, 'account'>, bytes: number): void {
    this.bytes += bytes
    const own = (this.bytesOf.get(account) ?? 0) + bytes
    if (own === 0) this.bytesOf.delete(account)
    else this.bytesOf.set(account, own)
  }

  private drop(question: string): void {
    const entry = this.kept.get(question)
    if (entry === undefined) return
    this.kept.delete(question)
    this.add(entry, -entry.bytes)
  }
}

const gone = () => new Problem(503, 'too-slow', 'Nobody waits for this answer', { retryAfterS: 2 })
