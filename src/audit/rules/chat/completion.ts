import { type Contract, mayBeNamed } from '../../../contract/contract.ts'
import { usualOf } from '../../../contract/usual.ts'
import { isList, isObject, type Json, type JsonObject } from '../../../user/json.ts'
import { chatTexts, plainChoices } from '../../evidence/chat-texts.ts'
import { type Exchange, exchangesOf } from '../../evidence/exchange.ts'
import { exchangeRule, judgedRule, type Observed } from '../exchange-rule.ts'
import { isUnixSeconds } from '../models/list.ts'
import { sqlList, sqlRule } from '../sql-rule.ts'

const requires = 'a captured chat completion'

/** The body of a plain chat success; undefined for anything else. */
function completion(exchange: Exchange): Json | undefined {
  const { row } = exchange
  return row.endpoint === 'chat' && exchange.isOk && !exchange.isStream
    ? exchange.responseJson
    : undefined
}

export const chat01 = exchangeRule({
  id: 'CHAT-01',
  title: 'A chat completion has its fields',
  section: '§2.5',
  explain: `Reads captured plain completions: id and model are strings, object is "chat.completion", created
a Unix time in seconds, choices an array. The format leaves further fields open, so usage (an object) and
system_fingerprint (a string) must be there only if the contract promises them (response_fields.chat).`,
  expected: 'id, object, created, model, choices and the promised fields as specified',
  requires,
  judge(exchange, { responseFields }) {
    const body = completion(exchange)
    if (body === undefined) return undefined
    if (!isObject(body)) return 'no object'
    const promised = responseFields?.chat ?? []
    for (const field of ['id', 'model', ...promised]) {
      if (field !== 'usage' && typeof body[field] !== 'string')
        return `${field} is ${kindOf(body[field])}`
    }
    if (body.object !== 'chat.completion') return `object ${JSON.stringify(body.object)}`
    if (!isUnixSeconds(body.created)) return `created ${JSON.stringify(body.created)}`
    if (!isList(body.choices)) return 'choices is not an array'
    return isObject(body.usage) || !promised.includes('usage')
      ? null
      : `usage is ${kindOf(body.usage)}`
  },
})

export function kindOf(value: Json | undefined): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  return isList(value) ? 'an array' : `a ${typeof value}`
}

export const chat02 = sqlRule({
  id: 'CHAT-02',
  title: 'Each chat completion has a unique id',
  section: '§2.5',
  explain: `Compares the ids of all chat successes of the audited runs. A request that carried an
Idempotency-Key may be answered again with the same id (gap G-37) and is left out.`,
  expected: 'an id that no other request got',
  observe: () => `
    WITH completions AS NOT MATERIALIZED (
      SELECT run_id, slot, retry, response_id
      FROM seen LEFT JOIN templates USING (run_id, template)
      WHERE endpoint = 'chat' AND outcome = 'ok' AND response_id IS NOT NULL
        AND coalesce(templates.headers, '') NOT ILIKE '%idempotency-key%')
    SELECT run_id, slot, retry,
      CASE WHEN response_id IN (SELECT response_id FROM completions GROUP BY response_id HAVING count(*) > 1)
           THEN 'the same id as another request' END AS observed
    -- A single id is unique whatever it is.
    FROM completions WHERE (SELECT count(*) FROM completions) > 1`,
  requires: 'two chat completions with an id',
})

export const chat03 = sqlRule({
  id: 'CHAT-03',
  title: 'A chat completion names the requested model',
  section: '§2.5',
  promised: ['models'],
  explain: `Compares the model of each chat success, plain or streamed, with the one asked for. Its aliases and
snapshots in the contract are the same model, in capitals or with their maker before them, too. A request for an unknown model is checked by MODEL-05.`,
  expected: 'the model that was asked for, or an alias or snapshot of it',
  observe: () => `
    SELECT run_id, slot, retry, to_json([response_model, model])::VARCHAR AS observed
    FROM seen WHERE endpoint = 'chat' AND outcome = 'ok' AND response_model IS NOT NULL
      AND model IS NOT NULL AND expects <> 'unknown-model'`,
  wrong(names, { models }) {
    const [answered, asked] = JSON.parse(names) as readonly [string, string]
    return mayBeNamed(models, asked, answered) ? null : `${answered} for ${asked}`
  },
  requires: 'a chat completion that names its model',
})

export const chat04 = exchangeRule({
  id: 'CHAT-04',
  title: 'A completion has n choices, numbered from 0, each a message of the assistant',
  section: '§2.5, §4.2',
  needs: ['active', 'passive'],
  explain: `Reads captured completions against the n of their request, 1 where it named none. A
stream must have events of each choice, by its index; SSE-03 checks a stream without any index.`,
  expected: 'n choices with index 0 to n - 1, role assistant and content a string',
  requires,
  parts: {
    of: () => ['n above 1'],
    tested: (exchange, contract) => ((countAsked(exchange, contract) ?? 0) > 1 ? 'n above 1' : []),
  },
  judge(exchange, contract) {
    const n = countAsked(exchange, contract)
    if (n === null) return undefined
    if (exchange.isStream) return streamJudged(exchange, n)
    const choices = plainChoices(exchange)
    if (choices === undefined) return undefined
    if (choices.length !== n) return `${choices.length} choices for n ${n}`
    const indexes = choices.map((choice) => choice.index)
    if (!choices.every((_, at) => indexes.includes(at))) return `indexes ${JSON.stringify(indexes)}`
    for (const { message } of choices) {
      if (!isObject(message)) return 'a choice without message'
      if (message.role !== 'assistant') return `role ${JSON.stringify(message.role)}`
      if (typeof message.content !== 'string' && !isInsteadOfText(message))
        return `content is ${kindOf(message.content)}`
    }
    return null
  },
})

function streamJudged(exchange: Exchange, n: number): Observed {
  const indexes = [...(chatTexts(exchange)?.keys() ?? [])]
  if (indexes.length === 0) return undefined
  const isEach = indexes.length === n && indexes.every((index) => index >= 0 && index < n)
  return isEach ? null : `a stream of indexes ${JSON.stringify(indexes)} for n ${n}`
}

/** Null if the request asks for no choice, which is open (gap G-31). */
function countAsked(exchange: Exchange, contract: Contract): number | null {
  const n = exchange.requestField('n')
  if (typeof n !== 'number') return usualOf(contract).defaults.n
  return n < 1 ? null : n
}

/** A call of a tool or of a function, a sound and a refusal take the place of the text, which is then null or left out. */
const isInsteadOfText = (message: JsonObject): boolean =>
  (message.content ?? null) === null &&
  (isList(message.tool_calls) ||
    isObject(message.function_call) ||
    isObject(message.audio) ||
    !!message.refusal)

export const chat05 = sqlRule({
  id: 'CHAT-05',
  title: 'finish_reason is stop or length',
  section: '§2.5',
  promised: ['finish_reasons'],
  explain: `Looks at the first choice of every chat answer. A plain completion must have a reason;
whether a stream has one is open (gap G-11), so a stream without one decides nothing. An answer to a request with
tools may also end with tool_calls, and one with functions with function_call. If that request was not stored, these
reasons decide nothing.`,
  expected: ({ finishReasons }) =>
    `${finishReasons.join(' or ')}; tool_calls or function_call to a request with tools or functions`,
  observe: ({ finishReasons }) => `
    SELECT run_id, slot, retry,
      CASE WHEN finish_reason IS NULL THEN 'none'
           WHEN finish_reason NOT IN ${sqlList(finishReasons)} AND NOT coalesce(${callsATool}, false)
           THEN '"' || finish_reason || '"' END AS observed
    FROM seen LEFT JOIN templates USING (run_id, template)
    WHERE endpoint = 'chat' AND (outcome = 'ok' OR reason IN ('no-finish-reason', 'generation-failed'))
      AND (streamed = 0 OR finish_reason IS NOT NULL)
      AND NOT (coalesce(finish_reason IN ('tool_calls', 'function_call'), false)
        AND finish_reason NOT IN ${sqlList(finishReasons)} AND templates.body IS NULL)`,
  requires: 'a chat completion',
})

/** SQL: whether the reason is that of a call, and the request has something to call. */
const callsATool = `CASE finish_reason
  WHEN 'tool_calls' THEN ${mayCall('tools', 'tool_choice')}
  WHEN 'function_call' THEN ${mayCall('functions', 'function_call')} END`

function mayCall(list: string, choice: string): string {
  const asked = 'TRY_CAST(templates.body AS JSON)'
  return `json_array_length(${asked}, '$.${list}') > 0
    AND coalesce(json_extract_string(${asked}, '$.${choice}'), '') <> 'none'`
}

export const chat07 = judgedRule({
  id: 'CHAT-07',
  title: 'A stop sequence that is reached ends the text with finish_reason stop',
  section: '§2.5, §4.2',
  needs: ['active'],
  explain: `Looks at requests for a text that contains a stop sequence ("Repeat after me: one two
three", stop "two"), streamed or not. The text must not continue after the sequence, and a text that
ends where the sequence was due must have the reason stop. Whether the text contains the sequence is open
(gap G-33), but it must be the same in all answers: if some contain it and others do not, the rarer ones
fail. A request whose text did not reach its sequence decides nothing.`,
  expected: 'a text that ends at the stop sequence, in one way, finish_reason stop',
  requires: 'a request with stop whose prompt asks to repeat text that holds it',
  async judged(evidence) {
    const judged = (await exchangesOf(evidence)).map(
      (exchange) => [exchange, stopJudged(exchange, evidence.contract)] as const,
    )
    const ends = new Map(
      judged.flatMap(([exchange, observed]) =>
        observed === null ? [[exchange, endOf(exchange)]] : [],
      ),
    )
    const [kept, dropped] = (['kept', 'dropped'] as const).map(
      (end) => [...ends.values()].filter((each) => each === end).length,
    ) as [number, number]
    const rarer = kept === 0 || dropped === 0 ? null : kept <= dropped ? 'kept' : 'dropped'
    return judged.map(([exchange, observed]) =>
      observed === null && rarer !== null && ends.get(exchange) === rarer
        ? [exchange, `the stop sequence is in ${kept} texts and not in ${dropped}`]
        : [exchange, observed],
    )
  },
})

function stopJudged(exchange: Exchange, contract: Contract): Observed {
  const texts = chatTexts(exchange)
  const stops = stopsOf(exchange.requestField('stop'))
  if (texts === undefined || stops.length === 0) return undefined
  for (const text of texts.values()) {
    const over = stops.find(
      (stop) => text.includes(stop) && text.slice(text.indexOf(stop) + stop.length).trim() !== '',
    )
    if (over !== undefined) return 'text goes on after the stop sequence'
  }
  const wanted = echoOf(exchange)
  if (wanted === null || !stops.some((stop) => wanted.includes(stop))) return undefined
  const reason = exchange.row.finishReason
  const asked = Number(exchange.requestField('max_tokens') ?? usualOf(contract).defaults.maxTokens)
  // A larger max_tokens may be cut to the output limit (gap G-29), and without a promised limit nobody knows where.
  const bound = Math.min(asked, contract.limits?.maxOutputTokens ?? 0)
  const full = (exchange.row.completionTokens ?? bound) >= bound
  if (reason === 'length') return full ? undefined : 'finish_reason length'
  return null
}

/** Whether a text that a stop sequence ended includes that sequence; null if it may not have reached it. */
function endOf(exchange: Exchange): 'kept' | 'dropped' | null {
  const wanted = echoOf(exchange) ?? ''
  const places = stopsOf(exchange.requestField('stop')).flatMap((stop) => {
    const at = wanted.indexOf(stop)
    return at < 0 ? [] : [{ at, end: at + stop.length }]
  })
  const [first] = places.toSorted((a, b) => a.at - b.at)
  const text = chatTexts(exchange)?.get(0)?.trim()
  if (first === undefined || text === undefined) return null
  const [withStop, without] = [first.end, first.at].map((end) => wanted.slice(0, end).trim())
  // A stop sequence of white space does not show.
  if (withStop === without) return null
  if (text === withStop) return 'kept'
  return text === without ? 'dropped' : null
}

function stopsOf(stop: Json | undefined): readonly string[] {
  const list = isList(stop) ? stop : [stop]
  return list.filter((each): each is string => typeof each === 'string' && each !== '')
}

/** The text that a prompt such as `Repeat after me: …` requests; null for other prompts. */
function echoOf(exchange: Exchange): string | null {
  const messages = exchange.requestField('messages')
  const last = isList(messages) ? messages.at(-1) : undefined
  const content = isObject(last) && typeof last.content === 'string' ? last.content : ''
  return /\brepeat\b[^:]*:\s*([\s\S]+)/i.exec(content)?.[1] ?? null
}

const longAnswers = 'max_tokens left out, and an answer that reaches the default'

export const chat13 = exchangeRule({
  id: 'CHAT-13',
  title: 'Left out, max_tokens is 1024, n is 1 and stream is false',
  section: '§4.2',
  needs: ['active'],
  promised: ['defaults'],
  explain: `A request that names none of the three must get a plain JSON body with one choice and at
most the default number of tokens. A wrong default of max_tokens shows only if the model generates
more than that, so the audit scenarios ask it to count to a large number. A pass says so where none did.`,
  expected: 'a plain body with one choice and at most 1024 tokens',
  requires: 'a chat request without max_tokens, n and stream',
  parts: {
    of: ({ defaults }) => [
      ...(defaults.maxTokens === undefined ? [] : [longAnswers]),
      ...(defaults.n === undefined ? [] : ['n left out']),
      'stream left out',
    ],
    tested: (exchange, { defaults }) => {
      const absent = (field: string) => exchange.requestField(field) === undefined
      const { completionTokens, finishReason } = exchange.row
      const isLong =
        finishReason === 'length' || (completionTokens ?? 0) >= (defaults.maxTokens ?? Infinity)
      return [
        ...(absent('max_tokens') && absent('n') && isLong ? [longAnswers] : []),
        ...(absent('n') ? ['n left out'] : []),
        ...(absent('stream') ? ['stream left out'] : []),
      ]
    },
  },
  judge(exchange, { defaults }) {
    const { row } = exchange
    if (row.endpoint !== 'chat' || row.status !== 200 || row.requestBody === null) return undefined
    const absent = (field: string) => exchange.requestField(field) === undefined
    if (absent('stream') && exchange.isStream) return 'a stream'
    if (!exchange.isOk) return undefined
    const { n = row.choices, maxTokens = Infinity } = defaults
    if (absent('n') && row.choices !== null && row.choices !== n && !exchange.isStream)
      return `${row.choices} choices`
    if (!absent('max_tokens') || !absent('n')) return absent('stream') ? null : undefined
    return row.completionTokens !== null && row.completionTokens > maxTokens
      ? `${row.completionTokens} tokens`
      : null
  },
})
