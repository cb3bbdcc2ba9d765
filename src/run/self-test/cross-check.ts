import { buildTemplate, plainRequest, prepareRequest } from '../../client/call/request.ts'
import { defaultContract } from '../../contract/default.ts'
import { installed } from '../../user/installed.ts'

/** A foreign client to compare a calibration with. */
export type CrossCheck = 'autocannon'

export interface CrossCheckOptions {
  readonly connections: number
  readonly threads: number
  readonly seconds: number
  readonly prompt: string
  readonly maxTokens: number
}

/** What is used of autocannon. Its own types are not named, because they are there only if it is installed. */
type Autocannon = (options: {
  readonly url: string
  readonly method: 'POST'
  readonly headers: Record<string, string>
  readonly body: Buffer
  readonly connections: number
  /** Seconds. */
  readonly duration: number
  readonly workers?: number
}) => PromiseLike<{ readonly '2xx': number; readonly duration: number }>

/** Loads an optional package. @throws UserError if it is not installed */
export const loadAutocannon = (): Promise<Autocannon> =>
  installed(async () => (await import('autocannon')).default, '--with autocannon: that package', [
    'autocannon',
  ])

/**
 * Plain responses per second that autocannon receives, by its public API. It records nothing, and its
 * percentiles are not used.
 */
export async function autocannonPerS(origin: string, options: CrossCheckOptions): Promise<number> {
  const autocannon = await loadAutocannon()
  const { connections, threads, seconds, prompt, maxTokens } = options
  const template = buildTemplate(defaultContract, '', {
    ...plainRequest,
    model: 'svc-k2',
    messages: [{ role: 'user', content: prompt }],
    maxTokens,
  })
  const { method, path, headers, body } = prepareRequest(template, 'calibration').wire
  const result = await autocannon({
    url: origin + path,
    method: method as 'POST',
    headers: Object.fromEntries(headers),
    body: Buffer.from(body),
    connections,
    duration: seconds,
    ...(threads > 1 ? { workers: threads } : {}),
  })
  return result['2xx'] / result.duration
}
