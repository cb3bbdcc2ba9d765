import { flagSql } from '../../../attempt/flags.ts'
import { promisedSql } from '../../../contract/request.ts'
import { chatTexts } from '../../evidence/chat-texts.ts'
import type { Exchange } from '../../evidence/exchange.ts'
import { isList, isObject, type Json } from '../../evidence/json.ts'
import type { Rule } from '../../rule.ts'
import { kindOf } from '../chat/completion.ts'
import { exchangeRule, exchangesRule, type Observed } from '../exchange-rule.ts'
import { sqlRule } from '../sql-rule.ts'

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
  severity: 'must',
  needs: ['passive'],
  explain: `Compares the content type of each 2xx on chat with the request. The format of messages streams is
open (gap G-10).`,
  expected: 'text/event-stream exactly when stream is true',
  observe: () => `
    SELECT run_id, slot, retry,
      CASE WHEN streamed = 1 AND NOT ${flagSql('sseType')} THEN 'no event stream for stream true'
           WHEN streamed = 0 AND ${flagSql('sseType')} THEN 'an event stream for a plain request' END AS observed
    FROM seen WHERE endpoint = 'chat' AND status BETWEEN 200 AND 299`,
  requires: 'a chat success',
})

const sse02 = exchangeRule({
  id: 'SSE-02',
  title: 'Each event is one line of data with JSON, and a blank line ends it',
  section: '§6.1',
  severity: 'must',
  needs: ['passive'],
  explain: `Parses the captured bytes of chat streams by the rules of server-sent events. Comments
(lines that begin with a colon) are legal. SSE-04 checks the terminal event.`,
  expected: 'data: <JSON>, then a blank line',
  requires,
  judge(exchange) {
    const stream = chatEvents(exchange)
    if (stream === null) return undefined
    for (const event of stream.events) {
      if (event.dataLines > 1) return 'several data lines in one event'
      if (event.json === undefined && event.data.trim().toUpperCase() !== '[DONE]') {
        return 'data that is not JSON'
      }
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
  severity: 'must',
  needs: ['passive'],
  explain: `Reads the chunks of captured chat streams. Empty choices are legal (a chunk of usage, or a
first one), a delta without content too; null counts as missing. All chunks of a stream have one id. A first chunk
without choices or delta, and a choice with the results of content filters instead of a delta, are noted: Azure sends
them, and they hold no text.`,
  expected:
    'id a string, the same in each chunk, choices an array, index an integer, delta an object, content a string',
  requires,
  judge(exchange) {
    const stream = chatEvents(exchange)
    if (stream === null) return undefined
    const chunks = stream.events.flatMap(({ json }) => (isObject(json) ? [json] : []))
    let id: string | null = null
    let noted: Observed = null
    for (const [at, chunk] of chunks.entries()) {
      if (chunk.error !== undefined && chunk.error !== null) continue
      if (typeof chunk.id !== 'string') return `id is ${kindOf(chunk.id)}`
      // A first chunk about the prompt may have an empty id.
      if (chunk.id !== '') {
        id ??= chunk.id
        if (chunk.id !== id) return 'another id than the first chunk'
      }
      if (at === 0 && chunk.choices === undefined) {
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
    return noted
  },
})

function wrongChoice(choice: Json, isFirst: boolean): string | null | { readonly note: string } {
  if (!isObject(choice)) return 'a choice that is not an object'
  if (!Number.isInteger(choice.index)) return `index is ${kindOf(choice.index)}`
  const isOfFilters = Object.keys(choice).some((name) => name.startsWith('content_filter_'))
  if (choice.delta === undefined && (isOfFilters || isFirst)) {
    return {
      note: `a choice without a delta${isOfFilters ? ', but with results of content filters' : ''}`,
    }
  }
  if (!isObject(choice.delta)) return `delta is ${kindOf(choice.delta)}`
  const { content } = choice.delta
  return content === undefined || content === null || typeof content === 'string'
    ? null
    : `content is ${kindOf(content)}`
}

const sse04 = sqlRule({
  id: 'SSE-04',
  title: 'A stream ends with exactly one data: [DONE], and nothing after it',
  section: '§6.3',
  severity: 'must',
  needs: ['passive'],
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

const sse05 = exchangesRule({
  id: 'SSE-05',
  title: 'The fragments of a stream add up to the text of the plain answer',
  section: '§6.2',
  severity: 'derived',
  needs: ['active'],
  explain: `Compares a stream with plain answers to the same request at temperature 0. At least
two plain answers must exist, all alike. Even then a model may differ once, so a difference
counts only if a piece is lost or repeated, if characters are broken, or if at least three streams
all have the same other text.`,
  expected: 'the same text, streamed or not',
  requires: 'a stream and two like plain answers to the same request, temperature 0',
  judgeOf(exchanges) {
    const all = exchanges.filter(isRepeatable)
    const [plain, streamed] = [plainText, streamText].map((textOf) => textsBy(all, textOf))
    return (exchange) => {
      const text = isRepeatable(exchange) ? streamText(exchange) : undefined
      if (text === undefined) return undefined
      const request = requestOf(exchange)
      const told = plain!.get(request) ?? []
      const [whole] = told
      if (told.length < 2 || told.some((each) => each !== whole)) return undefined
      if (text === whole) return null
      const others = streamed!.get(request)!
      const always = others.length >= 3 && others.every((each) => each === text)
      return always || isDamaged(whole!, text) ? difference(whole!, text) : undefined
    }
  },
})

function isRepeatable(exchange: Exchange): boolean {
  const { endpoint } = exchange.row
  return endpoint === 'chat' && exchange.isOk && exchange.requestField('temperature') === 0
}

function textsBy(
  exchanges: readonly Exchange[],
  textOf: (exchange: Exchange) => string | undefined,
): ReadonlyMap<string, readonly string[]> {
  const texts = new Map<string, string[]>()
  for (const exchange of exchanges) {
    const text = textOf(exchange)
    if (text === undefined) continue
    const request = requestOf(exchange)
    texts.set(request, [...(texts.get(request) ?? []), text])
  }
  return texts
}

/** Whether a text equals another with one piece lost or repeated, or with broken characters. */
function isDamaged(whole: string, text: string): boolean {
  if (text.includes('\ufffd') && !whole.includes('\ufffd')) return true
  const shorter = Math.min(whole.length, text.length)
  const start = alikeFor(whole, text)
  const end = alikeFor([...whole].reverse().join(''), [...text].reverse().join(''))
  return start + end >= shorter
}

/** Length of the common prefix of two texts. */
function alikeFor(a: string, b: string): number {
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  return at
}

/** The request without its mode of delivery. */
function requestOf(exchange: Exchange): string {
  const asked = exchange.requestJson
  if (!isObject(asked)) return ''
  const { stream, stream_options, ...rest } = asked
  return JSON.stringify(rest)
}

function plainText(exchange: Exchange): string | undefined {
  return exchange.isStream ? undefined : chatTexts(exchange)?.get(0)
}

function streamText(exchange: Exchange): string | undefined {
  const texts = exchange.isStream ? chatTexts(exchange) : undefined
  return texts === undefined ? undefined : (texts.get(0) ?? '')
}

function difference(plain: string, streamed: string): string {
  return `${streamed.length} characters for ${plain.length}, different from ${alikeFor(plain, streamed)} on`
}

const sse06 = sqlRule({
  id: 'SSE-06',
  title: 'Streams come piece by piece',
  section: '§6',
  severity: 'advice',
  needs: ['passive'],
  explain: `A stream of eight or more text events that all arrived in one read was buffered until
its end. So was a stream whose text came within a tenth of its time, with fifty or more events per
read. A stream with ten or more events per read, and 50 ms or more for each read, was buffered piece by piece between
the service and here, as by a proxy that waits for full buffers. The network or a busy client may join a stream, so a joined stream is reported
only if all of at least five were joined: a single incremental stream shows that the service can stream.
A stream of ten seconds or more that was buffered until its end is reported alone.
Some streams are too fast to judge: those that ended within 100 ms, or within ten times the duration of exchanges
without generation (reads and errors, the 90th percentile), because a client that is this late with those finds a
whole stream waiting. Also those that would have been as fast at the median time per event: they were
late, not long. A stream during which the client itself stalled for a tenth of its
time, or for half of the time of a read, by its own record of delays or by a request that it sent this late, is not reported.`,
  expected: 'text that arrives at more than one time',
  observe: () => `
    WITH streams AS (
        SELECT *, closed_us - sent_us AS took_us,
          content_events * median((closed_us - sent_us) / content_events) OVER () AS paced_us,
          content_reads <= 1 OR content_events >= 50 * content_reads
            AND 10 * (last_content_us - first_content_us) <= closed_us - sent_us AS held,
          held OR content_events >= 10 * content_reads
            AND closed_us - sent_us >= 50000 * content_reads AS joined
        FROM seen
        WHERE ${promisedSql} AND outcome = 'ok' AND content_events >= 8),
      telling AS (
        SELECT *, bool_and(joined) OVER () AND count(*) OVER () >= 5 AS all_joined
        FROM streams, (
          SELECT greatest(100000, 10 * coalesce(quantile_cont(closed_us - sent_us, 0.9), 0)) AS bound_us
          FROM seen
          WHERE status >= 400 OR outcome = 'ok' AND NOT ${promisedSql})
        WHERE took_us >= bound_us
          AND (NOT joined OR paced_us >= bound_us OR took_us >= 10000000)),
      stalls(run_id, from_us, until_us, stall_us) AS (
        SELECT run_id, at_us - greatest(loop_delay_p99_us, loop_gap_us) - 1000000, at_us,
          greatest(loop_delay_p99_us, loop_gap_us)
        FROM health WHERE shard >= 0 AND greatest(loop_delay_p99_us, loop_gap_us) >= 10000
        UNION ALL
        SELECT run_id, intended_us, dispatched_us, dispatched_us - intended_us
        FROM seen WHERE dispatched_us - intended_us >= 10000)
    SELECT run_id, slot, retry,
      CASE WHEN joined AND content_reads <= 1 THEN 'all text in one read'
           WHEN held THEN 'all text in ' || content_reads || ' reads within a tenth of its time'
           WHEN joined THEN content_events || ' events of text in ' || content_reads
             || ' reads: buffered between the service and here' END AS observed
    FROM telling
    WHERE NOT joined OR (all_joined OR held AND took_us >= 10000000) AND NOT EXISTS (
      SELECT 1 FROM stalls
      WHERE stalls.run_id = telling.run_id
        AND if(held, 10, 2 * content_reads) * stall_us >= took_us
        AND until_us >= sent_us AND from_us <= closed_us)`,
  requires:
    'a stream of 100 ms or more with eight or more events of text that comes in pieces, or five that do not',
})

const sse07 = sqlRule({
  id: 'SSE-07',
  title:
    'A failure before the first token is an HTTP error, and a stream without its end is not a success',
  section: '§6, §7',
  severity: 'derived',
  needs: ['active', 'passive'],
  explain: `Looks at every requested stream. If a 2xx stream has an error event and no token,
it should have been a 4xx or 5xx. SSE-04 judges whether a stream has its end. An error after the first token can no longer change the status
and decides nothing.`,
  expected: 'a 4xx or 5xx with a JSON body',
  observe: () => `
    SELECT run_id, slot, retry,
      CASE WHEN ${flagSql('errorInStream')} AND first_content_us IS NULL
           THEN 'status ' || status || ' and an error event before any token' END AS observed
    FROM seen WHERE streamed = 1 AND ${promisedSql} AND status BETWEEN 200 AND 299
      AND outcome IN ('ok', 'broken')`,
  requires: 'a stream',
})

/** Section 1.6 of the rulebook. */
export const streamRules: readonly Rule[] = [sse01, sse02, sse03, sse04, sse05, sse06, sse07]
