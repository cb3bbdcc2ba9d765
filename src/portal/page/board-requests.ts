import { type Dimension, dimensions } from '../../report/usage/board/cells.ts'
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
 * The single requests of a file, if they are few, the oldest first. One that came after the copy from which the page is made may
 * have a name that no sum of the page has: it is left out, as it is of the sums.
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
  const words = outcomeWords(speech)
  const placeOf = (each: Request, dimension: Dimension) => {
    const names = data.names[dimension]
    const name = nameIn(each, dimension, tag)
    const place = names.indexOf(
      visible(dimension === 'key' && tag === null ? name : shortName(name)),
    )
    return place >= 0 ? place : names.indexOf('(other)')
  }
  const all = requests
    .toReversed()
    .filter((each) => dimensions.every((dimension) => placeOf(each, dimension) >= 0))
  const places = (dimension: Dimension) => all.map((each) => placeOf(each, dimension))
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
