import { isMapping } from '../contract/price-reader.ts'
import type { LogTerms } from '../contract/prices.ts'
import type { Store } from '../store/open.ts'
import { secrets } from '../user/secrets/secrets.ts'
import { UserError } from '../user/user-error.ts'

const place = '{response.id}'
/** Requests at once, and in all: a log by id needs one for each answer. */
const [atOnce, most] = [4, 5_000]
const patienceMs = 30_000

/**
 * The service's own log of some runs, from the place that the contract names: one request for each answer if the place has
 * `{response.id}`, else one in all. The key is that of ASSAY_API_KEY.
 *
 * @returns one JSON row a line
 * @throws UserError if the contract names no place, or the service refuses
 */
export async function fetchLog(
  store: Store,
  runIds: readonly string[],
  terms: LogTerms | null,
  baseUrl: string,
): Promise<string> {
  const get = terms?.get
  if (get == null) {
    throw new UserError(
      'usage',
      '--log: the contract does not say where the log is. Add evidence: { log: { get: "/spend/logs?request_id={response.id}" } }, or give a file.',
    )
  }
  const ids = get.includes(place) ? await responseIds(store, runIds) : [null]
  const texts: string[] = []
  for (let from = 0; from < ids.length; from += atOnce) {
    const some = ids.slice(from, from + atOnce)
    const read = (id: string | null) =>
      page(baseUrl.replace(/\/$/, '') + get.replaceAll(place, encodeURIComponent(id ?? '')))
    texts.push(...(await Promise.all(some.map(read))).filter((text) => text !== null))
  }
  return texts.flatMap(rowsOf).join('\n')
}

async function responseIds(store: Store, runIds: readonly string[]): Promise<readonly string[]> {
  const rows = await store.rows<{ id: string }>(
    `SELECT DISTINCT response_id AS id FROM attempts
     WHERE list_contains($1::VARCHAR[], run_id) AND response_id IS NOT NULL LIMIT ${most + 1}`,
    [JSON.stringify(runIds)],
  )
  if (rows.length > most) {
    throw new UserError(
      'usage',
      `--log: more than ${most} answers, and the log is read for each. Export it to a file instead.`,
    )
  }
  return rows.map(({ id }) => id)
}

/** A page of the log; null if the service has no row for the id. */
async function page(url: string): Promise<string | null> {
  const key = process.env.ASSAY_API_KEY ?? ''
  if (key !== '') secrets.add(key)
  const headers = key === '' ? {} : { authorization: `Bearer ${key}` }
  const answer = await fetch(url, { headers, signal: AbortSignal.timeout(patienceMs) }).catch(
    (error: Error) => {
      throw new UserError(
        'usage',
        `--log: ${new URL(url).origin} cannot be read: ${error.message}.`,
      )
    },
  )
  if (answer.status === 404) return null
  if (answer.ok) return await answer.text()
  const { origin, pathname } = new URL(url)
  throw new UserError(
    'usage',
    `--log: ${origin}${pathname} answered ${answer.status}. It needs a key that may read the log, in ASSAY_API_KEY.`,
  )
}

/** The rows of a page, whole, each on its own line. Numbers keep their text. */
function rowsOf(text: string): readonly string[] {
  if (text.trim() === '') return []
  const whole = parsed(text)
  const isList = Array.isArray(whole)
  if (isList && whole.length === 0) return []
  if (isMapping(whole) && Object.keys(whole).length === 0) return []
  return isList ? splitList(text, whole.length) : [text.replaceAll(/\s*\n\s*/g, ' ')]
}

/** The elements of a JSON list as they are written, so that no number passes through a double. */
function splitList(text: string, count: number): readonly string[] {
  const rows: string[] = []
  let [depth, start, isText] = [0, -1, false]
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]
    if (isText) {
      if (letter === '\\') at++
      else if (letter === '"') isText = false
    } else if (letter === '"') isText = true
    else if (letter === '{' || letter === '[') {
      depth++
      if (depth === 2 && start < 0) start = at
    } else if (letter === '}' || letter === ']') {
      depth--
      if (depth === 1 && start >= 0) {
        rows.push(text.slice(start, at + 1).replaceAll(/\s*\n\s*/g, ' '))
        start = -1
      }
    }
  }
  return rows.length === count ? rows : [text.replaceAll(/\s*\n\s*/g, ' ')]
}

/** @throws UserError for a page that is not JSON, such as one that asks to sign in */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const began = JSON.stringify(text.trim().slice(0, 40))
    throw new UserError(
      'usage',
      `--log: the service's log is not JSON; it begins with ${began}. Correct evidence.log.get in the contract, or give a file.`,
    )
  }
}
