// Saves files of what the page shows. The board and the words of the page are in scope; each failure says what to do.
/** @import { BoardData } from '../../report/usage/board/data.ts' */
/** @import { Choice } from '../../report/usage/board/types.ts' */
import { choiceOf, timeText } from '../../report/usage/board/choice.js'
import { saveAs } from '../../report/usage/board/nodes.js'
import { bucketOf, dimensions } from '../../report/usage/board/sums.js'

/**
 * The data of the board that is shown.
 *
 * @returns {BoardData}
 */
export const boardData = () => JSON.parse(document.getElementById('board-data')?.textContent ?? '')

/** @typedef {(path: string) => Promise<Response>} Ask */
/** @typedef {'busy' | 'long' | 'expired' | 'refused' | 'sums' | 'name' | 'failed'} Reason */

/**
 * A period and filters of the board, as the API is asked for them.
 *
 * @param {BoardData} data
 * @param {Choice} choice
 */
export function askedOf(data, choice) {
  const search = new URLSearchParams(location.search)
  const asked = new URLSearchParams()
  for (const name of ['tag', ...dimensions]) {
    const value = search.get(name)
    if (value !== null) asked.set(name, value)
  }
  asked.set('from', timeText(data, choice.from))
  asked.set('to', timeText(data, choice.to))
  const tag = data.keyIs === 'tag' && search.get('by')?.slice(4)
  for (const name of dimensions) {
    const value = choice[name]
    if (value === '') continue
    if (name === 'key' && tag) asked.append('tag', `${tag}:${value}`)
    else asked.set(name, value)
  }
  return asked
}

/** @type {(answer: Response | null, code: string) => Reason} */
function reasonOf(answer, code) {
  if (code === 'too-slow' || code === 'too-many-bars' || code === 'bad-period') return 'long'
  if (answer === null || answer.status === 429 || answer.status === 503) return 'busy'
  if (answer.status === 401) return 'expired'
  if (answer.status === 403) return 'refused'
  if (code === 'no-requests') return 'sums'
  return answer.status === 404 ? 'name' : 'failed'
}

/** @param {Response} answer */
const fileNameIn = (answer) =>
  decodeURIComponent(
    /filename\*=UTF-8''([^;]+)/.exec(answer.headers.get('content-disposition') ?? '')?.[1] ??
      'usage',
  )

/**
 * Asks again, a few times, where the answer says when; null without one.
 *
 * @param {() => Promise<Response>} ask
 */
const patiently = async (ask) => {
  for (let tries = 0; ; tries++) {
    const answer = await ask().catch(() => null)
    const seconds = Number(answer?.headers.get('retry-after') ?? 0)
    if (answer?.status !== 429 || seconds === 0 || tries >= 5) return answer
    await new Promise((resume) => setTimeout(resume, 1000 * seconds))
  }
}

/** @param {Blob} content of lines whose heads have no break */
const withoutHeads = async (content) => {
  const bytes = new Uint8Array(await content.arrayBuffer())
  return new Blob([bytes.subarray(bytes.indexOf(10) + 1)])
}

/**
 * Saves what the reader chose to export.
 *
 * @param {Ask} ask
 * @param {string} format
 */
export const saveExport = async (ask, format) => {
  const place = document.querySelector('.exports')
  const said = place?.querySelector('[role=status]')
  if (!(place instanceof HTMLElement) || !said) return
  /** @type {Readonly<Record<Reason | 'making' | 'saved', string>>} */
  const words = JSON.parse(place.dataset.said ?? '{}')
  const data = boardData()
  const choice = choiceOf(data, location.hash.slice(1))
  const asked = askedOf(data, choice)
  const of = place.querySelector('select')?.value
  const isByHour = of === 'hour' || bucketOf(data, choice.from, choice.to) === 'hour'
  if (of !== 'requests') asked.set('bucket', isByHour ? 'hour' : 'day')
  asked.set('format', format)
  said.textContent = words.making
  const path = of === 'requests' ? 'v1/export/requests' : 'v1/export'
  /** @type {string | null} */
  let query = `?${asked}`
  let name = ''
  /** @type {Blob[]} */
  const parts = []
  while (query !== null) {
    const answer = await patiently(() => ask(path + query))
    const content = answer?.ok ? await answer.blob().catch(() => null) : null
    if (answer === null || content === null) {
      const { code = '' } = (await answer?.json().catch(() => null)) ?? {}
      said.textContent = words[reasonOf(answer, code)]
      return
    }
    // Text goes on in one file, without the heads of the next; Parquet has a file for each part.
    if (format === 'parquet') saveAs(fileNameIn(answer), content)
    if (name === '' || format === 'parquet') name = fileNameIn(answer)
    parts.push(parts.length > 0 && format === 'csv' ? await withoutHeads(content) : content)
    query = /<(\?[^>]*)>;\s*rel="next"/.exec(answer.headers.get('link') ?? '')?.[1] ?? null
  }
  if (format !== 'parquet') saveAs(name, new Blob(parts))
  said.textContent = words.saved.replace('{name}', name)
}
