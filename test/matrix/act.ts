import type { FullContract } from '../../src/contract/contract.ts'
import { defaultContract } from '../../src/contract/default.ts'
import type { ServiceOptions } from '../../src/service/options.ts'
import type { RunningUpstream } from './breaking-upstream.ts'
import type { Stage } from './stage.ts'

/** A service of its own, and the requests to it. */
export interface Act {
  readonly contract: FullContract
  readonly options: ServiceOptions
  /** An upstream server that makes the answers during the act. */
  readonly upstream: (() => Promise<RunningUpstream>) | null
  /** Whether the clock jumps over the times of answers, so that none takes real time. */
  readonly jumps: boolean
  play(stage: Stage): Promise<void>
  /** The base URL of an honest service that plays the same act beside it; null without one. */
  readonly reference: string | null
}

export const act = (
  accounts: ServiceOptions['accounts'],
  play: Act['play'],
  more: Partial<ServiceOptions> = {},
  upstream: Act['upstream'] = null,
  reference: Act['reference'] = null,
): Act => ({
  upstream,
  reference,
  jumps: false,
  contract: more.contract ?? defaultContract,
  options: { ...(accounts === undefined ? {} : { accounts }), ...more },
  play,
})

/** A read of the balance. */
export const balance = { endpoint: 'credits' } as const
