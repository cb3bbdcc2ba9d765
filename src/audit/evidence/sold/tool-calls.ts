import { chanceOfMore } from './chance.ts'

export interface ToolCall {
  /** Whether its arguments fit the tool's schema; null if that is not known. */
  readonly fits: boolean | null
  /** Arguments that the request gave word by word and the call has otherwise, though well formed. */
  readonly rewritten: readonly Rewritten[]
  /** Whether the request gave some word by word, and the call has all of them to compare. */
  readonly isVerbatim: boolean
}

export interface Rewritten {
  readonly name: string
  readonly asked: string
  readonly received: string
}

export type SchemaResult =
  | { readonly is: 'unseen' }
  | { readonly is: 'few' }
  | { readonly is: 'pass' | 'fail' | 'inconclusive'; readonly broken: number; readonly of: number }

export const leastCalls = 20
/** So many calls with arguments word by word make a pass. */
export const leastVerbatim = 10
const fails = 0.01

/** Whether the arguments fit their schemas as often as promised: SOLD-07. */
export function judgeSchemas(calls: readonly ToolCall[], promised: number): SchemaResult {
  const known = calls.filter(({ fits }) => fits !== null)
  if (known.length === 0) return { is: 'unseen' }
  if (known.length < leastCalls) return { is: 'few' }
  const broken = known.filter(({ fits }) => fits === false).length
  const of = known.length
  if (chanceOfMore(broken, of, 1 - promised) <= fails) return { is: 'fail', broken, of }
  return { is: (of - broken) / of >= promised ? 'pass' : 'inconclusive', broken, of }
}

export type IntactResult =
  | { readonly is: 'unseen' }
  | { readonly is: 'few'; readonly of: number }
  | { readonly is: 'pass'; readonly of: number }
  | {
      readonly is: 'fail' | 'inconclusive'
      readonly of: number
      /** Calls with the same argument rewritten. */
      readonly times: number
      readonly first: Rewritten
    }

/** Whether arguments come as they were asked for: SOLD-07. Once may be the model's mistake; the same argument twice is not. */
export function judgeIntact(calls: readonly ToolCall[]): IntactResult {
  const of = calls.filter(({ isVerbatim }) => isVerbatim).length
  if (of === 0) return { is: 'unseen' }
  const byName = Map.groupBy(
    calls.flatMap(({ rewritten }) => rewritten),
    ({ name }) => name,
  )
  const [most] = [...byName.values()].toSorted((a, b) => b.length - a.length)
  if (most === undefined) return { is: of < leastVerbatim ? 'few' : 'pass', of }
  return { is: most.length >= 2 ? 'fail' : 'inconclusive', of, times: most.length, first: most[0]! }
}
