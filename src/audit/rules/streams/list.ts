import { flagSql } from '../../../attempt/flags.ts'
import { promisedSql } from '../../../contract/request.ts'
import { isList, isObject, type Json, type JsonObject } from '../../../user/json.ts'
import type { Exchange } from '../../evidence/exchange.ts'
import type { Rule } from '../../rule.ts'
import { kindOf } from '../chat/completion.ts'
import { exchangeRule, type Observed } from '../exchange-rule.ts'
import { sqlRule } from '../sql-rule.ts'
import { sse05 } from './fragments.ts'
import { sse06 } from './pieces.ts'

const requires = 'a captured chat stream'

const endedReasons = ['no-done', 'no-finish-reason', 'generation-failed', 'malformed-body']

/** The events of a chat stream that the service ended itself; null for anything else. */
function chatEvents(exchange: Exchange) {
  const { endpoint, reason } = exchange.row
  const ended = exchange.isOk || (reason !== null && endedReasons.includes(reason))
  return endpoint === 'chat' && ended ? exchange.events : null
}

const sse01 = sqlRule({
  id: 'SSE-01',
  title: 'stream true gives server-sent events, and nothing else does',
  section: '§6',
  explain: `Compares the content type of each 2xx on chat with the request. The format of messages streams is
open (gap G-10).`,
  expected: 'text/event-stream exactly when stream is true',
  parts: () => ['streams', 'plain answers'],
  observe: () => `
    SELECT run_id, slot, retry, CASE streamed WHEN 1 THEN 'streams' ELSE 'plain answers' END AS part,
      CASE WHEN streamed = 1 AND NOT ${flagSql('sseType')} THEN 'no event stream for stream true'
           WHEN streamed = 0 AND ${flagSql('sseType')} THEN 'an event stream for a plain request' END AS observed
    FROM seen WHERE endpoint = 'chat' AND status BETWEEN 200 AND 299`,
  requires: 'a chat success',
})

const sse02 = exchangeRule({
  id: 'SSE-02',
  title: 'Each event is one line of data with JSON, and a blank line ends it',
  section: '§6.1',
  explain: `Parses the captured bytes of chat streams by the rules of server-sent events. Comments
(lines that begin with a colon) are legal. SSE-04 checks the terminal event.`,
  expected: 'data: <JSON>, then a blank line',
  requires,
  judge(exchange) {
    const stream = chatEvents(exchange)
    if (stream === null || stream.events.length + stream.strays.length === 0) return undefined
    for (const event of stream.events) {
      if (event.dataLines > 1) return 'several data lines in one event'
      if (event.json === undefined && event.data.trim().toUpperCase() !== '[DONE]')
        return 'data that is not JSON'
    }
    if (stream.strays.length > 0) return 'a line that is neither field nor comment'
    return stream.ended ? null : 'no blank line after the last event'
  },
})

const sse03 = exchangeRule({
  id: 'SSE-03',
  title:
    'Each chunk has the id of its stream and choices; each choice an index and a delta with text',
  section: '§6.2',
  explain: `Reads the chunks of captured chat streams, apart from errors. Empty choices are legal (a chunk of usage, or a
first one), a delta without content too; null counts as missing. All chunks of a stream have one id; it may be empty
before the first one with an id (which is noted if more than one is), and in those that hold no text. A first chunk without choices or delta, and a
choice with the results of content filters instead of a delta, are noted: Azure sends them, and they hold no text. So is
a stream whose ids are all empty.`,
  expected:
    'an object, id a string, the same in each chunk, choices an array, index an integer from 0, delta an object, content a string',
  requires,
  judge(exchange) {
    const stream = chatEvents(exchange)
    if (stream === null) return undefined
    const chunks = stream.events.flatMap(({ json }) =>
      json === undefined || isError(json) ? [] : [json],
    )
    if (chunks.length === 0) return undefined
    let id: string | null = null
    let noted: Observed = null
    let isLate = false
    for (const [at, chunk] of chunks.entries()) {
      if (!isObject(chunk)) return `a chunk that is ${kindOf(chunk)}`
      if (typeof chunk.id !== 'string') return `id is ${kindOf(chunk.id)}`
      if (chunk.id !== '') id ??= chunk.id
      else if (id === null && at > 0 && holdsText(chunk)) isLate = true
      if (chunk.id !== id && id !== null && (chunk.id !== '' || holdsText(chunk)))
        return 'another id than the first chunk'
      if (at === 0 && isMissing(chunk.choices)) {
        noted = { note: 'a first chunk without choices, which holds no text' }
        continue
      }
      if (!isList(chunk.choices)) return `choices is ${kindOf(chunk.choices)}`
      for (const choice of chunk.choices) {
        const wrong = wrongChoice(choice, at === 0)
        if (typeof wrong === 'string') return wrong
        noted = wrong ?? noted
      }
    }
    if (id === null) return noted ?? { note: 'no chunk has an id, other than an empty one' }
    return noted ?? (isLate ? { note: 'several chunks before the first with an id' } : null)
  },
})

const isMissing = (value: Json | undefined) => value === undefined || value === null

const isError = (chunk: Json) => isObject(chunk) && !isMissing(chunk.error)

/** Whether a choice is about a text instead of a part of it: Azure filters a text after it was sent. */
const isOfFilters = (choice: Json) =>
  isObject(choice) && Object.keys(choice).some((name) => name.startsWith('content_filter_'))

/** Whether a choice has some text or a call of a tool: chunks without, such as those of usage, have an empty id in some services. */
const holdsText = ({ choices }: JsonObject) =>
  isList(choices) &&
  choices.some(
    (choice) =>
      isObject(choice) &&
      isObject(choice.delta) &&
      Object.entries(choice.delta).some(
        ([name, value]) =>
          name !== 'role' && !isMissing(value) && value !== '' && !(isList(value) && !value.length),
      ),
  )

function wrongChoice(choice: Json, isFirst: boolean): string | null | { readonly note: string } {
  if (!isObject(choice)) return 'a choice that is not an object'
  if (!Number.isInteger(choice.index)) return `index is ${kindOf(choice.index)}`
  if (Number(choice.index) < 0) return `index is ${String(choice.index)}`
  const ofFilters = isOfFilters(choice)
  if (isMissing(choice.delta) && (ofFilters || isFirst))
    return {
      note: `a choice without a delta${ofFilters ? ', but with results of content filters' : ''}`,
    }
  if (!isObject(choice.delta)) return `delta is ${kindOf(choice.delta)}`
  const { content } = choice.delta
  return isMissing(content) || typeof content === 'string' ? null : `content is ${kindOf(content)}`
}

const sse04 = sqlRule({
  id: 'SSE-04',
  title: 'A stream ends with exactly one data: [DONE], and nothing after it',
  section: '§6.3',
  explain: `Counts the terminal events of every chat stream that the service ended by itself. An aborted
stream, or one whose connection broke, decides nothing.`,
  expected: 'one [DONE] at the end',
  observe: () => `
    SELECT run_id, slot, retry,
      CASE WHEN done_marks = 0 THEN 'no [DONE]'
           WHEN done_marks > 1 THEN done_marks || ' times [DONE]'
           WHEN ${flagSql('afterDone')} THEN 'something after [DONE]' END AS observed
    FROM seen
    WHERE endpoint = 'chat' AND streamed = 1 AND status BETWEEN 200 AND 299 AND ${flagSql('sseType')}
      AND NOT ${flagSql('errorInStream')} AND (outcome = 'ok' OR outcome = 'broken' AND (reason = 'no-done' OR done_marks > 0))`,
  requires: 'a chat stream that came to its end',
})

const sse07 = sqlRule({
  id: 'SSE-07',
  title: 'A failure of a stream before its first token is an HTTP error',
  section: '§6, §7',
  severity: 'derived',
  needs: ['active', 'passive'],
  explain: `Looks at every requested stream that failed before its first token. A 2xx with an error event
should have been a 4xx or 5xx. SSE-04 judges whether a stream has its end. An error after the first token can no longer change the status
and decides nothing, nor does a stream that succeeded.`,
  expected: 'a 4xx or 5xx with a JSON body',
  observe: () => `
    SELECT run_id, slot, retry,
      CASE WHEN status BETWEEN 200 AND 299
           THEN 'status ' || status || ' and an error event before any token' END AS observed
    FROM seen WHERE streamed = 1 AND ${promisedSql} AND first_content_us IS NULL
      AND (outcome = 'http_error'
        OR status BETWEEN 200 AND 299 AND outcome IN ('ok', 'broken') AND ${flagSql('errorInStream')})`,
  requires: 'a stream that fails before its first token, such as one with a wrong parameter',
})

/** Section 1.6 of the rulebook. */
export const streamRules: readonly Rule[] = [sse01, sse02, sse03, sse04, sse05, sse06, sse07]
