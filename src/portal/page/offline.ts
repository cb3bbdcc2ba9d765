import type { Contract } from '../../contract/contract.ts'
import { tagOf } from '../../measure/usage/tags.ts'
import { mostRequests } from '../../report/usage/board/requests.ts'
import { openStore } from '../../store/session/open.ts'
import type { Asked } from '../api/asked.ts'
import { Problem } from '../api/problem.ts'
import type { Answers } from '../api/shapes.ts'
import { namesOfKeys } from '../figures/keys.ts'
import { forecastOf } from '../figures/outlook.ts'
import { readRequests } from '../figures/requests.ts'
import { accountView, dayZones } from '../settings/account-view.ts'
import { closedFiles, type Settings } from '../settings/settings.ts'
import { Snapshot } from '../source/snapshot.ts'
import type { Source } from '../source/source.ts'
import { withRequests } from './board-requests.ts'
import { offlineDocument } from './document.ts'
import { readLogo } from './logo.ts'
import { pageBody } from './page.ts'
import { readPageData } from './page-data.ts'
import type { PageData } from './page-shape.ts'
import { speechOf } from './speech.ts'
import { wordsFor } from './words.ts'

export interface OfflineOptions {
  readonly source: Source
  readonly settings: Settings
  readonly account: string
  readonly keys: readonly string[] | null
  readonly contract: Contract | null
  /** Filters, as in the address of the served page. */
  readonly search: URLSearchParams
  readonly nowMs: number
}

/**
 * The served page of an account as one file, for those who mail it. It is the same code as `usage serve`.
 *
 * @throws UserError for a store that cannot be read, Problem for a filter that is wrong
 */
export async function offlinePage({ source, ...options }: OfflineOptions): Promise<string> {
  const snapshot = await Snapshot.of(await openStore(':memory:'), source)
  try {
    snapshot.useZones(dayZones(options.settings))
    await snapshot.refresh(options.nowMs)
    await snapshot.keepClosed(closedFiles(options.settings))
    return await offlinePageOf(snapshot, options)
  } finally {
    await snapshot.close()
  }
}

/** The same of a snapshot. @throws Problem for a filter that is wrong */
export async function offlinePageOf(
  snapshot: Snapshot,
  options: Omit<OfflineOptions, 'source'>,
): Promise<string> {
  const { settings, account, keys, contract, search, nowMs } = options
  const view = accountView(settings, account)
  const speech = speechOf(wordsFor(view.locale, settings), view)
  const bearer = {
    account,
    keys,
    shows: new Set(settings.shows),
    origin: null,
    id: 'a file',
    expiresS: Number.POSITIVE_INFINITY,
  }
  return snapshot.within(
    { account, keys },
    async (session) => {
      const named = await namesOfKeys(session, view)
      const asked: Asked = { bearer, view, keys: named, session, nowMs, refreshedMs: nowMs }
      const page = await forecastOf(snapshot, { account, keys }, view, contract, nowMs)
      const data = await readPageData(asked, search, speech, { page, isPending: false }, snapshot)
      const requests = await requestsOf(asked, data, snapshot)
      const tag = tagOf(search.get('by') ?? '')
      const board = data.board === null ? null : withRequests(data.board, requests, speech, tag)
      const body = pageBody({ ...data, board }, settings, view, speech)
      return offlineDocument(body, settings, speech, readLogo(settings))
    },
    view,
  )
}

/** The single requests of the period, if they are known and few; else none. */
async function requestsOf(
  asked: Asked,
  { fromUs, toUs }: PageData,
  snapshot: Snapshot,
): Promise<Answers['requests']['requests']> {
  if (!asked.bearer.shows.has('requests')) return []
  const moment = (us: number) => new Date(us / 1000).toISOString()
  const query = {
    from: moment(fromUs),
    to: moment(toUs),
    timezone: asked.view.timezone,
    model: [],
    key: [],
    endpoint: [],
    tag: [],
    outcome: [],
    sort: 'time' as const,
    limit: mostRequests,
  }
  try {
    const { requests, next } = await readRequests(asked, query, snapshot.source)
    return next === null ? requests : []
  } catch (error) {
    if (error instanceof Problem) return []
    throw error
  }
}
