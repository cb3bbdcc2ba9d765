import { buildTemplate, plainRequest, prepareRequest } from '../client/request.ts'
import { defaultContract } from '../contract/default.ts'
import { UserError } from '../user/user-error.ts'

/** A foreign client to compare a calibration with. */
export type CrossCheck = 'autocannon'

export interface CrossCheckOptions {
  readonly connections: number
  readonly threads: number
  readonly seconds: number
  readonly prompt: string
  readonly maxTokens: number
}

/** Loads an optional package. @throws UserError if it is not installed */
export async function loadAutocannon() {
  try {
    return (await import('autocannon')).default
  } catch {
    throw new UserError(
      'usage',
      '--with autocannon: that package is not installed. Install it next to assay: npm install autocannon.',
    )
  }
}

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
