import { readFileSync } from 'node:fs'
import type { KV, Kvm } from '@nats-io/kv'
import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node'
import { installed } from '../user/installed.ts'
import { reasonOf } from '../user/reason.ts'
import { secrets } from '../user/secrets/secrets.ts'
import { UserError, userError } from '../user/user-error.ts'
import { bucket, keptMs } from './names.ts'

/** Retries, because shards that create the bucket at once may make each other fail. */
async function bucketOf(buckets: Kvm): Promise<KV> {
  for (let tries = 1; ; tries++) {
    try {
      return await buckets.create(bucket, { ttl: keptMs })
    } catch (error) {
      if (tries === 5) throw error
      await new Promise((resolve) => setTimeout(resolve, 20 * tries))
    }
  }
}

/** A connection to the server, and its bucket of runs. */
export interface Server {
  readonly connection: NatsConnection
  readonly kept: KV
  /** The address without user and password. */
  readonly shown: string
}

const retryMs = 500

/**
 * Connects to a NATS server, with retries until a deadline, because it may start after its clients.
 *
 * @param address `nats://host:port` or `tls://host:port`, optionally with `user:password@` or `token@`;
 *   the variable NATS_CREDS may name a file of credentials
 * @param deadlineMs on the clock of `performance.now()`
 * @throws UserError for another address, or for a server that is unreachable, rejects the credentials or
 *   lacks JetStream
 */
export async function reachServer(address: string, deadlineMs: number): Promise<Server> {
  const { options, shown } = optionsOf(address)
  const { connect, Kvm, AuthorizationError, credsAuthenticator } = await clientOfNats()
  const file = process.env.NATS_CREDS
  const authenticator =
    file === undefined ? {} : { authenticator: credsAuthenticator(credentialsOf(file)) }
  for (;;) {
    try {
      const connection = await connect({ ...options, ...authenticator })
      try {
        const kept = await bucketOf(new Kvm(connection))
        return { connection, kept, shown }
      } catch (error) {
        await connection.close()
        throw userError.fleet(
          `--join: ${shown} cannot store messages (${reasonOf(error)}). Start it with JetStream: nats-server -js.`,
        )
      }
    } catch (error) {
      if (error instanceof UserError) throw error
      if (error instanceof AuthorizationError) {
        throw userError.fleet(
          `--join: ${shown} refuses these credentials. Put user:password@ or token@ before the host, or name a file in NATS_CREDS.`,
        )
      }
      if (performance.now() + retryMs > deadlineMs) {
        throw userError.unreachable(
          `--join: ${shown} was not reached in time (${reasonOf(error)}). Start it (nats-server -js), or correct the address.`,
        )
      }
    }
    await new Promise((resolve) => setTimeout(resolve, retryMs))
  }
}

function optionsOf(address: string): {
  readonly options: ConnectionOptions
  readonly shown: string
} {
  const url = URL.canParse(address) ? new URL(address) : null
  if (url === null || !/^(?:nats|tls):$/.test(url.protocol) || url.hostname === '') {
    throw userError.usage('--join: expected a NATS server, such as nats://10.0.0.7:4222.')
  }
  const [user, pass] = [decoded(url.username), decoded(url.password)]
  for (const part of [user, pass]) secrets.addPassword(part)
  const host = `${url.hostname}:${url.port || 4222}`
  return {
    shown: `${url.protocol}//${host}`,
    options: {
      servers: host,
      name: 'assay',
      timeout: 5000,
      // Reconnect attempts go on until the run is over.
      maxReconnectAttempts: -1,
      reconnectTimeWait: retryMs,
      ...(url.protocol === 'tls:' ? { tls: {} } : {}),
      ...(user === '' ? {} : pass === '' ? { token: user } : { user, pass }),
    },
  }
}

/** Errors never show the part, because it may be a password. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw userError.usage(
      '--join: in user and password, % stands before two hex digits, so a % itself is %25.',
    )
  }
}

function credentialsOf(file: string): Uint8Array {
  try {
    return readFileSync(file)
  } catch (error) {
    throw userError.usage(`NATS_CREDS: ${(error as Error).message}.`)
  }
}

async function clientOfNats() {
  const [transport, { Kvm }] = await installed(
    () => Promise.all([import('@nats-io/transport-node'), import('@nats-io/kv')]),
    '--join: the NATS client',
    ['@nats-io/transport-node', '@nats-io/kv'],
  )
  return { ...transport, Kvm }
}
