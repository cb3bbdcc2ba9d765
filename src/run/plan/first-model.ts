import { z } from 'zod'
import { Reader } from '../../client/call/reader.ts'
import type { TlsTexts } from '../../client/wire/authorities.ts'
import type { Contract } from '../../contract/contract.ts'
import { usualOf } from '../../contract/usual.ts'
import { jsonOf } from '../../user/json.ts'
import { userError } from '../../user/user-error.ts'
import { refusalOf } from '../send/refusal.ts'
import { reach } from '../start/preflight.ts'

const listShape = z.object({ data: z.array(z.object({ id: z.string().min(1) })).min(1) })

/**
 * The first model that a service lists.
 *
 * @throws UserError if the service is unreachable, refuses, or lists no models
 */
export async function firstModel(
  baseUrl: string,
  key: string,
  contract: Contract,
  tls: TlsTexts,
): Promise<string> {
  await reach(baseUrl, tls, usualOf(contract).timeouts.connectMs)
  const reader = new Reader(baseUrl, key, contract, 'models', tls)
  try {
    const { columns, captured } = await reader.read()
    const { status, reason } = columns
    const { models } = usualOf(contract).paths
    const body = captured?.body ?? null
    if (status === 404 || status === 405) {
      throw userError.unreachable(
        `${baseUrl} has no list of models at ${models}: it answered ${status}. Correct the base URL, or name a model with --model.`,
      )
    }
    if (status !== 200) {
      throw userError.unreachable(refusalOf(`GET ${baseUrl}${models}`, { status, reason, body }))
    }
    const list = listShape.safeParse(jsonOf(body ?? ''))
    if (list.success) return list.data.data[0]!.id
    throw userError.usage(`${baseUrl} lists no models at ${models}. Name one with --model.`)
  } finally {
    await reader.close()
  }
}
