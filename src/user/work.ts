export interface WorkProgress {
  /** The current part, such as `rule BILL-07`. */
  readonly doing: string
  /** Finished parts. */
  readonly done: number
  readonly of: number
}

/** Options of long work. */
export interface Work {
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: WorkProgress) => void
}

/** Reports the start of a part. @throws the signal's reason if it is aborted */
export function beginPart(work: Work, doing: string, done: number, of: number): void {
  work.signal?.throwIfAborted()
  work.onProgress?.({ doing, done, of })
}
