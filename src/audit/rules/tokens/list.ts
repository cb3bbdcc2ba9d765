import { modelNamed, namesOf } from '../../../contract/contract.ts'
import type { Promising } from '../../../contract/promises.ts'
import { promisedSql } from '../../../contract/request.ts'
import { usualOf } from '../../../contract/usual.ts'
import { isList, isObject } from '../../../user/json.ts'
import type { Exchange } from '../../evidence/exchange.ts'
import type { Rule } from '../../rule.ts'
import { exchangeRule } from '../exchange-rule.ts'
import { sqlList, sqlRule } from '../sql-rule.ts'

const lim01 = exchangeRule({
  id: 'LIM-01',
  title: 'Input beyond the context window is refused as context_length_exceeded',
  section: '§7.2, §8.2',
  needs: ['active'],
  promised: ['models', 'limits.max_input_tokens'],
  explain: `A prompt with more words than the model's window has tokens cannot fit, with any
tokenizer. Nor can a request with more prompt tokens than the window, unless its texts are shorter
than that in bytes: then the count is not that of its prompt (CHAT-09). If the service serves it, it silently
truncated the input and charged for it. On chat the code must be context_length_exceeded if the contract has that code. Its status is open
(gap G-27); so is whether 8.2 or the model's own window applies between the two (gap G-30). To test
this with short prompts, reduce the windows in the contract of both sides.`,
  expected: 'a refusal, on chat with context_length_exceeded where the contract has that code',
  requires: "a prompt longer than the model's window",
  judge(exchange, contract) {
    const { row } = exchange
    if (row.endpoint !== 'chat' && row.endpoint !== 'messages') return undefined
    const window = windowOf(contract, row.model)
    if (window === null || row.status === null) return undefined
    if (row.promptTokens !== null && row.promptTokens > window && exchange.isOk) {
      if (mostTokensOf(exchange) > window) return `served with ${row.promptTokens} prompt tokens`
    }
    if (wordsOf(exchange) <= window) return undefined
    if (exchange.isOk) return `served a prompt of ${wordsOf(exchange)} words`
    if (row.status !== 400 && row.status !== 404) return undefined
    const code = 'context_length_exceeded'
    const isPromised = (contract.chatErrors ?? []).some((each) => each.code === code)
    return row.endpoint === 'messages' || !isPromised || row.errorCode === code
      ? null
      : `code ${JSON.stringify(row.errorCode)}`
  },
})

type Windows = Promising<'models' | 'limits.max_input_tokens'>

/** The most tokens of input and output together, by the wider of the two promises. */
function windowOf({ models, limits }: Windows, name: string | null): number | null {
  const model = modelNamed(models, name ?? '')
  return model === undefined
    ? null
    : Math.max(model.contextWindowTokens ?? 0, limits.maxInputTokens)
}

/** Words of the messages. Each is at least one token. */
const wordsOf = (exchange: Exchange): number =>
  sumOver(exchange, (text) => text.match(/\S+/g)?.length ?? 0)

/** Upper bound of tokens that frame a message in a model's template and prime the response. */
const frameTokens = 16

/** An upper bound of prompt tokens: a token has at least one byte. Lists of parts may hold more than text. */
function mostTokensOf(exchange: Exchange): number {
  const system = exchange.requestField('system')
  const ofSystem = typeof system === 'string' ? Buffer.byteLength(system) : 0
  return ofSystem + sumOver(exchange, (text) => Buffer.byteLength(text) + frameTokens)
}

function sumOver(exchange: Exchange, measure: (text: string) => number): number {
  const messages = exchange.requestField('messages')
  if (!isList(messages)) return 0
  return messages.reduce<number>((sum, message) => {
    const content = isObject(message) ? message.content : undefined
    return sum + (typeof content === 'string' ? measure(content) : 0)
  }, 0)
}

/** What is that much of a limit tests it. */
const nearly = 0.9
const nearLimit = 'an answer near the limit'
const nearDeadline = 'a response near its deadline'

const choicesAsked = `coalesce(n, choices, 1)`

const lim02 = sqlRule({
  id: 'LIM-02',
  title: 'No answer is longer than the output limit',
  section: '§8.2',
  needs: ['passive', 'active'],
  promised: ['limits.max_output_tokens'],
  explain: `Compares completion_tokens of every success, for each choice, with the limit. The treatment
of a max_tokens above it is open (gap G-29): clamped, refused or honoured up to the limit.`,
  expected: ({ limits }) => `at most ${limits.maxOutputTokens} output tokens for each choice`,
  parts: () => [nearLimit],
  observe: ({ limits }) => `
    SELECT run_id, slot, retry,
      if(completion_tokens >= ${nearly * limits.maxOutputTokens}, '${nearLimit}', '') AS part,
      CASE WHEN completion_tokens > ${limits.maxOutputTokens} * greatest(CASE endpoint WHEN 'chat' THEN ${choicesAsked} ELSE 1 END, 1)
           THEN completion_tokens || ' output tokens' END AS observed
    FROM seen LEFT JOIN templates USING (run_id, template)
    WHERE outcome = 'ok' AND completion_tokens IS NOT NULL`,
  requires: 'a success with usage',
})

const lim03 = sqlRule({
  id: 'LIM-03',
  title: 'Input and output together stay within the total limit',
  section: '§8.2',
  needs: ['passive', 'active'],
  promised: ['models', 'limits.max_total_tokens'],
  explain: `Compares prompt and completion tokens of every success with one choice with the total limit,
or with the model's own window if that is larger (gap G-30). No prompt has more tokens than its
request has bytes: a usage above that covers more than this request, and is ignored.`,
  expected: 'at most the total limit, or the window of the model',
  parts: () => [nearLimit],
  observe: ({ limits, models }) => `
    SELECT run_id, slot, retry,
      if(prompt_tokens + completion_tokens >= ${nearly} * greatest(${limits.maxTotalTokens}, model_window.tokens), '${nearLimit}', '') AS part,
      CASE WHEN prompt_tokens + completion_tokens > greatest(${limits.maxTotalTokens}, model_window.tokens)
           THEN (prompt_tokens + completion_tokens) || ' tokens in all' END AS observed
    FROM seen JOIN (VALUES ${models.flatMap((model) => namesOf(model).map((name) => sqlList([name, model.contextWindowTokens ?? 0]))).join(', ')})
      model_window(id, tokens) ON model = model_window.id
      LEFT JOIN templates USING (run_id, template)
    WHERE coalesce(prompt_tokens <= octet_length(encode(templates.body)), true) AND outcome = 'ok' AND prompt_tokens IS NOT NULL AND completion_tokens IS NOT NULL
      AND (endpoint = 'messages' OR coalesce(choices, 1) <= 1)`,
  requires: 'a success with usage',
})

/** Shorter responses do not test the deadline. */
const longUs = 10e6

const lim04 = sqlRule({
  id: 'LIM-04',
  title: 'An active response is not cut off before its deadline',
  section: '§8.3',
  needs: ['time'],
  promised: ['timeouts.stream_ms'],
  explain: `Looks at responses that lasted ten seconds of the service's time or more. A response that the
service ended before the promised 600 s was cut. Network failures look the same, so a single one
decides nothing. A messages stream without a known end event was not cut (gap G-10).`,
  lone: 'the way may have broken it, too; a second one would tell',
  expected: ({ timeouts }) => `no cut before ${timeouts.streamMs / 1000} s`,
  parts: () => [nearDeadline],
  observe: ({ timeouts }) => `
    SELECT run_id, slot, retry,
      if((closed_us - sent_us) * time_scale >= ${nearly * Math.min(timeouts.readMs ?? Infinity, timeouts.streamMs) * 1000}, '${nearDeadline}', '') AS part,
      CASE WHEN outcome = 'broken' AND (closed_us - sent_us) * time_scale < ${Math.min(timeouts.readMs ?? Infinity, timeouts.streamMs) * 1000}
           THEN 'cut after ' || round((closed_us - sent_us) * time_scale / 1e6)::INTEGER || ' s (' || reason || ')' END AS observed
    FROM seen JOIN runs USING (run_id)
    WHERE ${promisedSql} AND (closed_us - sent_us) * time_scale >= ${longUs}
      AND (outcome = 'ok' OR outcome = 'broken' AND reason IN ('closed-early', 'reset')
        -- A stream with a finish reason, or without any readable event, was not cut.
        OR endpoint = 'chat' AND reason = 'no-done' AND finish_reason IS NULL AND events > 0)`,
  requires: "a response that takes ten seconds of the service's time or more",
})

const lim05 = sqlRule({
  id: 'LIM-05',
  title: 'Our own client retries as the specification advises: on 429 only, with its delays',
  section: '§7.5, §8.3',
  severity: 'derived',
  explain: `Checks Assay, not the service. Each retry must follow a 429 of the same slot, and be within the
allowed number. It must wait for the base delay, doubled for each attempt, and at most for that plus
jitter and a second of tolerance; a Retry-After may extend the wait.`,
  expected: (contract) => {
    const { maxAttempts, baseDelayMs } = usualOf(contract).retry
    return `at most ${maxAttempts} retries, each after a 429 and ${baseDelayMs} ms doubled`
  },
  observe: (contract) => {
    const { retry } = usualOf(contract)
    return `
    SELECT seen.run_id, seen.slot, seen.retry,
      CASE WHEN seen.retry > ${retry.maxAttempts} THEN 'retry ' || seen.retry
           WHEN before.status <> 429 THEN 'a retry after status ' || before.status
           WHEN (seen.dispatched_us - before.closed_us) * 1e-3 <
                least(${retry.baseDelayMs} * 2 ** (seen.retry - 1), ${retry.maxDelayMs}) * 0.99
           THEN 'only ' || round((seen.dispatched_us - before.closed_us) * 1e-3)::INTEGER || ' ms later' END AS observed
    FROM seen JOIN attempts before
      ON before.run_id = seen.run_id AND before.slot = seen.slot AND before.retry = seen.retry - 1
    WHERE seen.retry > 0`
  },
  requires: 'a retry (retries: specification)',
})

/** Section 1.8 of the rulebook. */
export const tokenRules: readonly Rule[] = [lim01, lim02, lim03, lim04, lim05]
