import type { BoardData } from '../../report/usage/board/data.ts'
import { mostRequests } from '../../report/usage/board/requests.ts'
import type { Answers } from '../api/shapes.ts'
import { outcomeWords } from './board-words.ts'
import type { Speech } from './speech.ts'

/** The single requests of a file, if they are few; the newest come first. */
export function withRequests(
  data: BoardData,
  requests: Answers['requests']['requests'],
  speech: Speech,
): BoardData {
  if (requests.length === 0 || requests.length > mostRequests) return data
  const all = [...requests].reverse()
  const words = outcomeWords(speech)
  const placeOf = (dimension: 'model' | 'key' | 'endpoint', name: string | null) => {
    const place = data.names[dimension].indexOf(name ?? '(unknown)')
    return place >= 0 ? place : data.names[dimension].indexOf('(other)')
  }
  return {
    ...data,
    requests: {
      hour: all.map(({ at }) => Date.parse(`${at.slice(0, 13)}:00:00Z`) / 3_600_000),
      clock: all.map(({ at }) => at.slice(11, 19)),
      model: all.map(({ model }) => placeOf('model', model)),
      key: all.map(({ key }) => placeOf('key', key)),
      endpoint: all.map(({ endpoint }) => placeOf('endpoint', endpoint)),
      status: all.map(({ outcome }) => words[outcome]),
      input: all.map(({ input }) => input),
      output: all.map(({ output }) => output),
      credits: all.map(({ credits }) => (credits === null ? null : Number(credits))),
    },
  }
}
