import type { Target } from './target.ts'

/** One rule of the rulebook, checked from outside. */
export interface Check {
  readonly rule: string
  readonly title: string
  /** Whether it needs the operator's endpoint: balances and time of its own. */
  readonly operated: boolean
  run(target: Target): Promise<void>
}

export const check = (rule: string, title: string, run: Check['run']): Check => ({
  rule,
  title,
  operated: false,
  run,
})

export const operated = (rule: string, title: string, run: Check['run']): Check => ({
  rule,
  title,
  operated: true,
  run,
})
