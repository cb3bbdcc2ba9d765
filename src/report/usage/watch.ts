import { openStore, type Store } from '../../store/open.ts'
import { UserError } from '../../user/user-error.ts'
import { type CreditsFieldMap, type CreditsFigures, readCreditsBody } from './credits-body.ts'

/** An answer of `GET /user/credits`. */
export interface CreditsAnswer {
  readonly polledUs: number
  /** The service's Date header; null without one. */
  readonly serviceUs: number | null
  /** Null when nothing answered. */
  readonly status: number | null
  readonly body: string
}

export interface Poll extends CreditsAnswer {
  readonly baseUrl: string
  readonly keyFp: string
  readonly figures: CreditsFigures
}

export interface WatchOptions {
  readonly dbPath: string
  readonly baseUrl: string
  readonly keyFp: string
  readonly fields: CreditsFieldMap
  readonly ask: () => Promise<CreditsAnswer>
  /** Waits until the next poll is due; false ends the watch. */
  readonly next: () => Promise<boolean>
  readonly onPoll: (poll: Poll, kept: boolean) => void
}

const longestBody = 64 * 1024

/**
 * Polls the service's own account of usage into the store until it is told to stop. The file is
 * held only while a poll is written, so that runs and reports can have it between; while another
 * process holds it, polls wait in memory and none is lost.
 *
 * @returns polls that could not be written because the file was held to the end
 */
export async function watchCredits(options: WatchOptions): Promise<readonly Poll[]> {
  let waiting: Poll[] = []
  do {
    const answer = await options.ask()
    const poll = {
      ...answer,
      baseUrl: options.baseUrl,
      keyFp: options.keyFp,
      figures: readCreditsBody(parsed(answer), options.fields),
    }
    if (poll.status !== null) waiting.push(poll)
    if (await keepPolls(options.dbPath, waiting)) waiting = []
    options.onPoll(poll, waiting.length === 0)
  } while (await options.next())
  if (waiting.length > 0 && (await keepPolls(options.dbPath, waiting))) waiting = []
  return waiting
}

function parsed({ status, body }: CreditsAnswer): unknown {
  if (status !== 200) return null
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}

async function keepPolls(dbPath: string, polls: readonly Poll[]): Promise<boolean> {
  let store: Store
  try {
    store = await openStore(dbPath)
  } catch (error) {
    if (error instanceof UserError && error.code === 'store-held') return false
    throw error
  }
  try {
    for (const poll of polls) await keepPoll(store, poll)
    return true
  } finally {
    store.close()
  }
}

export async function keepPoll(store: Store, poll: Poll): Promise<void> {
  const { figures } = poll
  await store.execute(
    `INSERT INTO usage_polls (polled_us, service_us, base_url, key_fp, status, consumed, remaining,
       requests, average_tokens, grants_json, body)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      BigInt(Math.round(poll.polledUs)),
      poll.serviceUs === null ? null : BigInt(poll.serviceUs),
      poll.baseUrl,
      poll.keyFp,
      poll.status,
      figures.consumed,
      figures.remaining,
      figures.requests,
      figures.averageTokens,
      figures.grants.length === 0 ? null : JSON.stringify(figures.grants),
      poll.body.slice(0, longestBody),
    ],
  )
}
