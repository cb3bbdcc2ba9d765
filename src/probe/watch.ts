import { setTimeout as wait } from 'node:timers/promises'
import { fingerprintOf } from '../attempt/fingerprint.ts'
import { Reader } from '../client/call/reader.ts'
import type { Contract } from '../contract/contract.ts'
import { defaultContract } from '../contract/default.ts'
import { insertRow } from '../store/insert-row.ts'
import { withoutCredentials } from '../store/runs/runs.ts'
import { openStore, type Store } from '../store/session/open.ts'
import { openSoon } from '../store/session/open-soon.ts'
import { jsonOf } from '../user/json.ts'
import { UserError } from '../user/user-error.ts'
import { type CreditsFieldMap, type CreditsFigures, readCreditsBody } from './usage-body.ts'

/** A response of `GET /user/credits`. */
export interface CreditsAnswer {
  readonly polledUs: number
  /** The service's Date header; null without one. */
  readonly serviceUs: number | null
  /** Null without a response. */
  readonly status: number | null
  readonly body: string
}

export interface Poll extends CreditsAnswer {
  readonly baseUrl: string
  readonly keyFp: string
  readonly figures: CreditsFigures
}

export interface WatchOptions {
  readonly baseUrl: string
  readonly apiKey: string
  readonly contract?: Contract
  readonly everyMs: number
  /** Number of polls; without it, the signal ends the watch. */
  readonly count?: number
  /** Paths of figures in the response; missing ones are found by name. */
  readonly fields?: CreditsFieldMap
  readonly signal?: AbortSignal
  /** Keeps polls elsewhere than in the store; false if it cannot now. */
  readonly keep?: (polls: readonly Poll[]) => Promise<boolean>
  readonly onPoll?: (poll: Poll, isKept: boolean) => void
}

/**
 * Polls the credits of a service into the store, on the clock of this machine, until a signal or after `count` polls.
 *
 * @throws UserError if no poll brought a balance, or polls could not be written
 */
export async function watch(store: Store | string, options: WatchOptions): Promise<void> {
  const { apiKey, everyMs, signal, onPoll } = options
  const baseUrl = withoutCredentials(options.baseUrl)
  const contract = options.contract ?? defaultContract
  const reader = new Reader(options.baseUrl, apiKey, contract, 'credits')
  let polls = 0
  let last: Poll | null = null
  let isAnswered = false
  // An open store is used between the polls, too.
  const hold = typeof store === 'string' ? null : await store.session()
  try {
    const unwritten = await watchCredits({
      keep:
        options.keep ?? ((some, isLast) => keepPolls(store, some, isLast ? heldAtEndMs : heldMs)),
      baseUrl,
      keyFp: fingerprintOf(apiKey),
      fields: options.fields ?? {},
      ask: () => askCredits(reader, signal),
      next: async () => {
        polls++
        if (polls >= (options.count ?? Infinity)) return false
        await wait(everyMs, undefined, { ...(signal && { signal }) }).catch(() => {})
        return signal?.aborted !== true
      },
      onPoll: (poll, isKept) => {
        last = poll
        isAnswered ||= poll.status === 200
        onPoll?.(poll, isKept)
      },
    })
    if (unwritten.length > 0)
      throw new UserError(
        'usage',
        `${unwritten.length} polls could not be written: ${options.keep === undefined ? `${typeof store === 'string' ? store : store.path} was held by another process` : 'the engine was away'} to the end.`,
      )
    if (!isAnswered && signal?.aborted !== true) throw unanswered(baseUrl, last)
  } finally {
    hold?.close()
    await reader.close()
  }
}

async function askCredits(reader: Reader, signal?: AbortSignal): Promise<CreditsAnswer> {
  const polledUs = Date.now() * 1000
  const { columns, captured } = await reader.read(signal)
  return {
    polledUs,
    serviceUs: columns.dateS === null ? null : columns.dateS * 1e6,
    status: columns.status,
    body: captured?.body ?? '',
  }
}

function unanswered(baseUrl: string, last: Poll | null): UserError {
  const status = last?.status ?? null
  const why =
    status === null
      ? 'nothing answered. Check --base-url'
      : `the last status was ${status}. Check ${status === 401 || status === 403 ? 'ASSAY_API_KEY' : '--base-url'}`
  return new UserError('unreachable', `No poll of ${baseUrl} brought a balance: ${why}.`)
}

/** Like `WatchOptions`, with transport and clock as parameters. */
export interface CreditsWatch {
  readonly keep: (polls: readonly Poll[], isLast: boolean) => Promise<boolean>
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
 * Polls the service's usage figures into the store until `next` ends the watch; returns polls that could not be written. The
 * file is open only while one is written: polls wait in memory while another process holds it.
 */
export async function watchCredits(options: CreditsWatch): Promise<readonly Poll[]> {
  let waiting: Poll[] = []
  do {
    const answer = await options.ask()
    const poll = {
      ...answer,
      baseUrl: options.baseUrl,
      keyFp: options.keyFp,
      figures: readCreditsBody(answer.status === 200 ? jsonOf(answer.body) : null, options.fields),
    }
    if (poll.status !== null) waiting.push(poll)
    if (await options.keep(waiting, false)) waiting = []
    options.onPoll(poll, waiting.length === 0)
  } while (await options.next())
  if (waiting.length > 0 && (await options.keep(waiting, true))) waiting = []
  return waiting
}

/** An import or a server of usage has the store for a moment. */
const heldMs = 1000
/** What waits at the end would be lost, so the last try outlasts a long import. */
const heldAtEndMs = 30_000

export async function keepPolls(
  place: Store | string,
  polls: readonly Poll[],
  forMs = heldMs,
): Promise<boolean> {
  let store: Store
  try {
    store = typeof place === 'string' ? await openSoon(() => openStore(place), forMs) : place
  } catch (error) {
    if (error instanceof UserError && error.code === 'store-held') return false
    throw error
  }
  try {
    for (const poll of polls) await keepPoll(store, poll)
    return true
  } finally {
    if (store !== place) store.close()
  }
}

export function rowOf({ figures, ...poll }: Poll) {
  return {
    polled_us: Math.round(poll.polledUs),
    service_us: poll.serviceUs,
    base_url: poll.baseUrl,
    key_fp: poll.keyFp,
    status: poll.status,
    consumed: figures.consumed,
    remaining: figures.remaining,
    requests: figures.requests,
    average_tokens: figures.averageTokens,
    grants_json: figures.grants.length === 0 ? null : JSON.stringify(figures.grants),
    body: poll.body.slice(0, longestBody),
  }
}

async function keepPoll(store: Pick<Store, 'execute'>, poll: Poll): Promise<void> {
  const { polled_us, service_us, ...row } = rowOf(poll)
  const times = { polled_us: BigInt(polled_us), service_us: service_us && BigInt(service_us) }
  await insertRow(store, 'usage_polls', { ...times, ...row })
}
