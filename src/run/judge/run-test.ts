import { samplesNeeded } from '../../measure/percentile.ts'

/** How a test ended: the worst last. */
export const testResults = ['not judged', 'held', 'degraded', 'failed'] as const

export interface RunTest {
  readonly name: string
  readonly result: (typeof testResults)[number]
  readonly figure: string
  readonly bound: string
  /** Empty if it held. */
  readonly remedy: string
  /** Whether a user must know it even if it is no doubt. */
  readonly isTold?: true
}

/** Samples for 99 % confidence in a percentile, from MLPerf's early stopping. */
export const samplesFor: Readonly<Record<'p90' | 'p95' | 'p99' | 'p99.9', number>> = {
  p90: samplesNeeded(0.9),
  p95: samplesNeeded(0.95),
  p99: samplesNeeded(0.99),
  'p99.9': samplesNeeded(0.999),
}

export function notJudged(name: string, bound: string, why: string): RunTest {
  return { name, result: 'not judged', figure: why, bound, remedy: '' }
}

/** A test that holds, or has a worse result and its remedy. */
export const heldIf = (
  isHeld: boolean,
  worse: 'degraded' | 'failed' | 'not judged',
  test: Omit<RunTest, 'result'>,
): RunTest => (isHeld ? { ...test, result: 'held', remedy: '' } : { ...test, result: worse })

export const milliseconds = (us: number): string => `${(us / 1000).toFixed(us < 10_000 ? 2 : 0)} ms`
