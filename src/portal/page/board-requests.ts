import type { Dimension } from '../../report/usage/board/cells.ts'
import type { BoardData } from '../../report/usage/board/data.ts'
import { mostRequests } from '../../report/usage/board/requests.ts'
import { amountIn, endIn, hourIn, nameIn } from '../../report/usage/board/tables.js'
import { shortName } from '../../report/usage/short-name.ts'
import { visible } from '../../user/hostile.ts'
import type { Answers } from '../api/shapes.ts'
import { outcomeWords } from './board-words.ts'
import type { Speech } from './speech.ts'

type Request = Answers['requests']['requests'][number]

/**
 * The single requests of a file, if they are few, the oldest first.
 *
 * @param requests the newest first
 * @param tag the tag whose values stand in place of keys; null for keys
 */
export function withRequests(
  data: BoardData,
  requests: readonly Request[],
  speech: Speech,
  tag: string | null,
): BoardData {
  if (requests.length === 0 || requests.length > mostRequests) return data
  const all = requests.toReversed()
  const words = outcomeWords(speech)
  const places = (dimension: Dimension) => {
    const names = data.names[dimension]
    const isKey = dimension === 'key' && tag === null
    return all.map((each) => {
      const name = nameIn(each, dimension, tag)
      const place = names.indexOf(visible(isKey ? name : shortName(name)))
      return place >= 0 ? place : names.indexOf('(other)')
    })
  }
  return {
    ...data,
    requests: {
      hour: all.map((each) => hourIn(data, each)),
      clock: all.map(({ at }) => at.slice(11, 19)),
      model: places('model'),
      key: places('key'),
      endpoint: places('endpoint'),
      id: all.map(({ id }) => id),
      duration: all.map(({ durationMs }) => durationMs),
      status: all.map((each) => endIn(each, words)),
      input: all.map(({ input }) => input),
      output: all.map(({ output }) => output),
      credits: all.map((each) => amountIn(each, data.unit)),
    },
  }
}
