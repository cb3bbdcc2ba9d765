import type { Exchange } from '../exchange.ts'

/** Requests that a service may treat otherwise than the rest. */
export interface Part {
  /** `In streams` */
  readonly said: string
  /** The column of attempts that tells them apart, and its value. */
  readonly column: 'streamed' | 'key_fp' | 'run_id'
  readonly value: string
}

/** The part that a request belongs to; null if it has no such value. */
type PartOf = (row: Exchange['row']) => Part | null

export const byStreaming: PartOf = ({ streamed }) => ({
  said: streamed === 1 ? 'In streams' : 'In plain answers',
  column: 'streamed',
  value: String(streamed),
})

/** How requests are answered, whose they are, and when they were sent. */
const kinds: readonly PartOf[] = [
  byStreaming,
  ({ keyFp }) =>
    keyFp === null ? null : { said: `With the key ${keyFp}`, column: 'key_fp', value: keyFp },
  ({ runId }) => ({ said: `In the run ${runId}`, column: 'run_id', value: runId }),
]

/** For each kind of parts that there are several of, each part with what a judge says of it. */
function judgedParts<Each extends { readonly exchange: Exchange }, Found>(
  all: readonly Each[],
  judge: (own: readonly Each[]) => Found,
  by: readonly PartOf[],
) {
  return by.flatMap((partOf) => {
    const groups = Map.groupBy(all, ({ exchange }) => partOf(exchange.row)?.value ?? null)
    groups.delete(null)
    if (groups.size < 2) return []
    const judged = [...groups.values()].map((own) => {
      const part = partOf(own[0]!.exchange.row)!
      return { part, own, found: judge(own) }
    })
    return [judged]
  })
}

/** The first part of requests (streams, a key, a run) that a judge fails while it passes another of the same kind; else all. */
export function failingPart<
  Each extends { readonly exchange: Exchange },
  Found extends { readonly is: string },
>(all: readonly Each[], judge: (own: readonly Each[]) => Found, by: readonly PartOf[] = kinds) {
  const parts = judgedParts(all, judge, by)
    .filter((judged) => judged.some(({ found }) => found.is === 'pass'))
    .flatMap((judged) => judged.find(({ found }) => found.is === 'fail') ?? [])
  return parts[0] ?? { part: undefined, own: all, found: judge(all) }
}

/** The first part that passes beside one that does not; null if none is told apart. */
export function passingPart<
  Each extends { readonly exchange: Exchange },
  Found extends { readonly is: string },
>(all: readonly Each[], judge: (own: readonly Each[]) => Found): Part | null {
  const kind = judgedParts(all, judge, kinds).find(
    (judged) =>
      judged.some(({ found }) => found.is === 'pass') &&
      judged.some(({ found }) => found.is !== 'pass'),
  )
  return kind?.find(({ found }) => found.is === 'pass')?.part ?? null
}

/** A sentence about a part, or about all. Abbreviations keep their capitals. */
export const saidOfPart = (part: Part | undefined, sentence: string): string =>
  part === undefined
    ? sentence
    : `${part.said}: ${sentence.replace(/^[A-Z](?![A-Z])/, (first) => first.toLowerCase())}`
