import { flagSql } from '../../../attempt/flags.ts'
import type { Promising } from '../../../contract/promises.ts'
import type { Promised, WrongRequest } from '../../../contract/request.ts'
import type { Rule } from '../../rule.ts'
import { sqlList, sqlRule } from '../sql-rule.ts'
import { wantsCreditsSql } from './want-of-credits.ts'

/** A preflight has its own 2xx statuses; only its failures are statuses of the service. */
const isAnswer = `NOT (endpoint = 'other' AND status < 400)`

export const err01 = sqlRule({
  id: 'ERR-01',
  title: 'Only the promised statuses occur',
  section: '§7.1',
  promised: ['statuses'],
  explain: `Looks at the status of every response. A gateway in front of the service may add statuses
of its own (502, 504). They are not in the table either, and clients must handle them.`,
  expected: ({ statuses }) => `one of ${statuses.join(', ')}`,
  observe: ({ statuses }) => `
    SELECT run_id, slot, retry,
      CASE WHEN status NOT IN ${sqlList(statuses)} THEN 'status ' || status || ' on ' || endpoint END AS observed
    FROM seen WHERE status IS NOT NULL AND ${isAnswer}`,
  requires: 'a response',
})

/**
 * SQL: the service has nothing at this path, for which the tables have no code or type. If a path served any request,
 * a 404 there is about something else.
 */
const noEndpoint = `(expects = 'unknown-path' OR status = 404 AND (seen.run_id, endpoint) IN (
  SELECT (run_id, endpoint) FROM seen GROUP BY run_id, endpoint
  HAVING bool_or(status = 404 AND expects = 'ok') AND NOT bool_or(outcome = 'ok')))`

/** Refusals of a format must have its shape. The shape of other errors is open (gap G-28). */
const refusalOf = (format: Promised) =>
  `(endpoint = '${format}' AND status BETWEEN 400 AND 499 AND NOT ${noEndpoint})`

/**
 * SQL for what errors of one shape lack.
 *
 * @param required columns of `seen` that the shape fills; the first one is the error's name in the table
 * @param names of the errors in the table
 */
function wholeErrors(
  shape: Promised,
  required: readonly ('error_code' | 'error_type')[],
  names: readonly string[],
): string {
  const missing = required.map(
    (name) => `WHEN ${name} IS NULL THEN '${name.replace('_', '.')} is not a string'`,
  )
  return `
    SELECT run_id, slot, retry,
      CASE WHEN error_shape <> '${shape}' THEN 'an error of shape ' || error_shape || ' with ' || status
           ${missing.join('\n           ')}
           WHEN bodies.body IS NOT NULL AND NOT truncated
             AND coalesce(json_type(CASE WHEN json_valid(bodies.body) THEN bodies.body END, '$.error.message'), '') <> 'VARCHAR'
           THEN 'error.message is not a string' END AS observed
    FROM seen LEFT JOIN bodies USING (run_id, slot, retry)
    WHERE outcome = 'http_error' AND (${refusalOf(shape)}
      OR error_shape = '${shape}' AND ${required[0]} IN ${sqlList(names)})`
}

export const err02 = sqlRule({
  id: 'ERR-02',
  title: 'A chat request that is refused gets error.message, error.type and error.code as strings',
  section: '§7.2',
  promised: ['chat_errors'],
  explain: `On the chat endpoint every 4xx must have the chat shape. Which shape the lists, unknown
paths and 5xx use is open (gap G-28), and the table has no code for most of them. There, an error of the
chat shape must be complete if the table has its code. A 404 means an unknown path, unless
the path served others. The message is checked if the body was captured.`,
  expected: '{"error": {"message": string, "type": string, "code": string}}',
  observe: ({ chatErrors }) =>
    wholeErrors(
      'chat',
      ['error_code', 'error_type'],
      chatErrors.map(({ code }) => code),
    ),
  requires: 'a refused chat request',
})

export const err03 = sqlRule({
  id: 'ERR-03',
  title: 'A messages request that is refused gets type "error" and error.type, error.message',
  section: '§7.3',
  promised: ['messages_errors'],
  explain: `On the messages endpoint every 4xx must have the messages shape. Elsewhere, on unknown
paths and with 5xx the shape is open (gap G-28). There, an error of the messages shape must be complete if the
table has its type. A 404 means an unknown path, unless the path served others. The
message is checked if the body was captured.`,
  expected: '{"type": "error", "error": {"type": string, "message": string}}',
  observe: ({ messagesErrors }) =>
    wholeErrors(
      'messages',
      ['error_type'],
      messagesErrors.map(({ type }) => type),
    ),
  requires: 'a refused messages request',
})

export const err04 = sqlRule({
  id: 'ERR-04',
  title: 'Each error code comes with its type',
  section: '§7.2, §7.3',
  promised: ['chat_errors'],
  explain: `Compares error.type with the rows of the table that error.code names. A code that is not
in the table decides nothing. In the messages shape the type must be one of the table's for the
statuses whose meaning the table names.`,
  expected: ({ chatErrors }) =>
    chatErrors.map(({ code, type }) => `${code} with ${type}`).join(', '),
  observe: ({ chatErrors }) => `
    SELECT run_id, slot, retry,
      CASE WHEN (error_code, coalesce(error_type, '')) NOT IN (VALUES ${chatErrors.map(({ code, type }) => sqlList([code, type])).join(', ')})
           THEN error_code || ' with type ' || coalesce(error_type, 'null') END AS observed
    FROM seen WHERE error_shape = 'chat' AND error_code IN ${sqlList(chatErrors.map(({ code }) => code))}`,
  requires: 'an error of the chat shape with a code of the table',
})

export const err05 = sqlRule({
  id: 'ERR-05',
  title: 'Each failure has the status that matches its error',
  section: '§7.1',
  promised: ['chat_errors or messages_errors'],
  explain: `The error code or type has a meaning, and the table of statuses has the status for it: key 401,
credits 403, rate 429, validation 400, path 404. Where the specification leaves the status open
(model_not_found, context_length_exceeded: gap G-27), nothing is decided. Nor does the code of a
404 for a path decide anything, because the table has none. A type of the messages table is also wrong
with a status that the table gives to another type. A request that was invalid on purpose and got 400 must have a code or type
that the table has for 400, or for no status, if it has one for 400. A 5xx on an unknown path may come first (gap G-26). Errors of a
format without a table are not judged.`,
  expected: 'the status that the table of statuses gives to the meaning of the error',
  observe: (contract) => `
    SELECT run_id, slot, retry,
      CASE WHEN NOT list_contains(promised.due, status)
           THEN coalesce(error_code, error_type) || ' with status ' || status END AS observed
    FROM seen JOIN (
      SELECT shape, word, list(due) AS due FROM (VALUES ${meanings(contract)}) meaning(shape, word, due) GROUP BY ALL
    ) promised
      ON error_shape = promised.shape
        AND promised.word = CASE error_shape WHEN 'chat' THEN error_code ELSE error_type END
    WHERE outcome = 'http_error' AND ${isInTable(contract)} AND NOT ${noEndpoint}
    UNION ALL
    SELECT run_id, slot, retry,
      CASE WHEN (error_type, status) IN (VALUES ${statusesOfOthers(contract)})
           THEN error_type || ' with status ' || status END
    FROM seen WHERE outcome = 'http_error' AND ${isInTable(contract)} AND error_shape = 'messages'
      AND error_type IN ${sqlList(typesOfSeveral(contract).map(({ type }) => type))}
    UNION ALL
    SELECT run_id, slot, retry,
      CASE WHEN (error_shape, CASE error_shape WHEN 'chat' THEN error_code ELSE error_type END)
             NOT IN (VALUES ${refusing(contract)})
           THEN coalesce(error_code, error_type) || ' for a ' || expects || ', with status 400' END AS observed
    FROM seen WHERE status = 400 AND expects IN ${sqlList(invalidOnPurpose)} AND ${tellsRefusal(contract)}
      AND (endpoint = 'chat' AND error_shape = 'chat' AND error_code IS NOT NULL
        OR endpoint = 'messages' AND error_shape = 'messages' AND error_type IS NOT NULL)
    UNION ALL
    SELECT run_id, slot, retry,
      CASE WHEN status BETWEEN 200 AND 299 OR status = 400
           THEN 'an unknown path with status ' || status END
    FROM seen WHERE expects = 'unknown-path' AND status NOT IN (401, 429) AND status < 500
      AND NOT ${wantsCreditsSql(contract)}`,
  requires: 'an error with a code of the table',
})

export const err06 = sqlRule({
  id: 'ERR-06',
  title: 'A 2xx never carries an error, a failure never a completion',
  section: '§7',
  severity: 'derived',
  explain: `Looks at every response whose body was read: an error object under a 2xx, or a completion
under a 4xx or 5xx. SSE-07 checks an error event inside a stream that had begun.`,
  expected: 'a body that agrees with its status',
  parts: () => ['successes', 'failures'],
  observe: () => `
    SELECT run_id, slot, retry, if(status < 300, 'successes', 'failures') AS part,
      CASE WHEN ${flagSql('bodyContradictsStatus')} AND NOT (streamed = 1 AND ${flagSql('errorInStream')})
           THEN 'status ' || status || ' with the body of ' ||
             CASE WHEN status < 300 THEN 'an error' ELSE 'a completion' END END AS observed
    FROM seen WHERE status IS NOT NULL AND outcome IN ('ok', 'http_error', 'broken')`,
  requires: 'a response',
})

type Errors = Promising<'chat_errors or messages_errors'>

/** SQL: the contract has a table for errors of the endpoint. With one for both formats, it is about all endpoints that it names. */
function isInTable({ chatErrors = [], messagesErrors = [] }: Errors): string {
  if (chatErrors.length > 0 && messagesErrors.length > 0) return `endpoint <> 'other'`
  return `endpoint = '${chatErrors.length > 0 ? 'chat' : 'messages'}'`
}

function meanings({ chatErrors = [], messagesErrors = [] }: Errors): string {
  const open = new Set(chatErrors.flatMap(({ code, status }) => (status === null ? [code] : [])))
  const chat = chatErrors.flatMap(({ code, status }) =>
    status === null || open.has(code) ? [] : [sqlList(['chat', code, status])],
  )
  const messages = messagesErrors.flatMap(({ type, statuses }) =>
    statuses?.length === 1 ? [sqlList(['messages', type, statuses[0]!])] : [],
  )
  return [...chat, ...messages, "('', '', 0)"].join(', ')
}

/** Types of the messages table without exactly one status. */
const typesOfSeveral = ({ messagesErrors = [] }: Errors) =>
  messagesErrors.filter(({ statuses }) => statuses?.length !== 1)

/** Requests that fail validation, on purpose. */
const invalidOnPurpose = [
  'invalid-parameter',
  'missing-messages',
  'malformed-json',
] as const satisfies readonly WrongRequest[]

/** SQL for codes and types that an invalid request may have with status 400. */
function refusing({ chatErrors = [], messagesErrors = [] }: Errors): string {
  const chat = chatErrors.filter(({ status }) => status === null || status === 400)
  const messages = messagesErrors.filter(({ statuses }) => statuses?.includes(400) ?? true)
  return [
    ...chat.map(({ code }) => sqlList(['chat', code])),
    ...messages.map(({ type }) => sqlList(['messages', type])),
    "('', '')",
  ].join(', ')
}

/** SQL: whether the table of the shape says what comes with status 400. */
function tellsRefusal({ chatErrors = [], messagesErrors = [] }: Errors): string {
  const shapes = [
    ...(chatErrors.some(({ status }) => status === 400) ? ['chat'] : []),
    ...(messagesErrors.some(({ statuses }) => statuses?.includes(400)) ? ['messages'] : []),
  ]
  return `error_shape IN ${sqlList(['', ...shapes])}`
}

/** Pairs of such a type and a status that the table gives only to other types. */
function statusesOfOthers(contract: Errors): string {
  const pairs = typesOfSeveral(contract).flatMap(({ type, statuses: own }) =>
    (contract.messagesErrors ?? [])
      .flatMap(({ statuses }) => statuses ?? [])
      .filter((status) => own?.includes(status) !== true)
      .map((status) => sqlList([type, status])),
  )
  return pairs.length === 0 ? '(NULL, NULL)' : pairs.join(', ')
}

/** Section 1.7 of the rulebook. */
export const errorRules: readonly Rule[] = [err01, err02, err03, err04, err05, err06]
