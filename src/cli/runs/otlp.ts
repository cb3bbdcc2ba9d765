import { inStore } from '../../store/session/in-store.ts'
import { userError } from '../../user/user-error.ts'
import type { Options } from '../commands/run.ts'

export type OtlpOptions = Pick<Options, 'otlp' | 'otlpSpans'>

/** Sends a run that is over to a collector; without `--otlp`, does nothing. */
type SendRun = (dbPath: string, runId: string) => Promise<void>

/** Checks the address and loads the library, before any load is sent. */
export async function otlpTo({ otlp, otlpSpans }: OtlpOptions): Promise<SendRun> {
  if (otlp === undefined) {
    if (!otlpSpans) return async () => {}
    throw userError.usage('--otlp-spans: expected --otlp with the address of a collector.')
  }
  const { otlpSender } = await import('../../otlp/send.ts')
  const sender = await otlpSender(otlp, { spans: otlpSpans === true }, process.env)
  return async (dbPath, runId) => {
    return inStore(dbPath, async (store) => {
      const { metrics, spans } = await sender.send(store, runId)
      const more = otlpSpans ? ` and ${spans} spans` : ''
      process.stderr.write(`sent ${metrics} metrics${more} to ${otlp}\n`)
    })
  }
}
