import type { Target } from './target.ts'

/** One rule of the rulebook, walked from outside. */
export interface Check {
  readonly rule: string
  readonly says: string
  /** Whether it takes the operator's endpoint: balances and time of its own. */
  readonly operated: boolean
  run(target: Target): Promise<void>
}

export const check = (rule: string, says: string, run: Check['run']): Check => ({
  rule,
  says,
  operated: false,
  run,
})

export const operated = (rule: string, says: string, run: Check['run']): Check => ({
  rule,
  says,
  operated: true,
  run,
})
