import { buildTemplate, plainRequest, prepareRequest } from '../client/request.ts'
import { defaultContract } from '../contract/default.ts'
import { UserError } from '../user/user-error.ts'

/** A client that no one here wrote, which a calibration can be held to. */
export type CrossCheck = 'autocannon'

export interface CrossCheckOptions {
  readonly connections: number
  readonly threads: number
  readonly seconds: number
  readonly prompt: string
  readonly maxTokens: number
}

/** It is installed by who wants the cross-check. @throws UserError where it is not */
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
 * Plain answers a second that autocannon gets, by its public API. It records nothing, and its own
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
