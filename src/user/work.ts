/** Where long work is. */
export interface WorkProgress {
  /** What it does now, as `rule BILL-07`. */
  readonly doing: string
  /** Parts that are done. */
  readonly done: number
  readonly of: number
}

/** What long work takes: whom to tell how far it is, and a signal that ends it. */
export interface Work {
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: WorkProgress) => void
}

/** Begins a part of long work. @throws the reason of the signal, once aborted */
export function beginPart(work: Work, doing: string, done: number, of: number): void {
  work.signal?.throwIfAborted()
  work.onProgress?.({ doing, done, of })
}
