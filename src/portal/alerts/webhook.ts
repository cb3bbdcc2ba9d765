import { createHash, createHmac } from 'node:crypto'
import { userError } from '../../user/user-error.ts'
import type { Settings } from '../settings/settings.ts'

/** A receiver of alerts. */
export interface Webhook {
  /** Digits of a hash: an address may hold a secret, so no file or log has it. */
  readonly id: string
  readonly url: string
  readonly secrets: readonly Buffer[]
}

const webhookId = (url: string) => createHash('sha256').update(url).digest('hex').slice(0, 8)

/** @throws UserError for a secret that is missing, or is none of the scheme; it never has the secret */
export function openWebhooks({ alerts }: Settings, env: NodeJS.ProcessEnv): readonly Webhook[] {
  return (alerts?.webhooks ?? []).map(({ url, secretEnv }) => {
    const given = (env[secretEnv] ?? '').split(/\s+/).filter((each) => each !== '')
    const secrets = given.map((each) => secretOf(each))
    if (secrets.length === 0 || secrets.some((each) => each === null)) {
      throw userError.usage(
        `alerts.webhooks: ${secretEnv}: expected whsec_ and the base64 of 24 to 64 bytes; several are separated by spaces. Make one with: echo "whsec_$(openssl rand -base64 32)".`,
      )
    }
    return { id: webhookId(url), url, secrets: secrets.filter((each) => each !== null) }
  })
}

function secretOf(text: string): Buffer | null {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  const bytes = Buffer.from(base64 ?? '', 'base64')
  return bytes.length >= 24 && bytes.length <= 64 ? bytes : null
}

/**
 * The headers of a signed message, of https://www.standardwebhooks.com (symmetric, v1): each secret signs
 * `id.timestamp.body`.
 */
export function signedHeaders(
  { secrets }: Pick<Webhook, 'secrets'>,
  id: string,
  body: string,
  nowMs: number,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(nowMs / 1000))
  const signatures = secrets.map(
    (secret) =>
      `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  )
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
