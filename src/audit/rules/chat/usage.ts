import { isSharedTemplate } from '../../../attempt/evidence.ts'
import { readPackedBodies } from '../../../store/attempts/packed-bodies.ts'
import { literal } from '../../../store/literal.ts'
import { isList, isObject, type Json } from '../../../user/json.ts'
import { type Exchange, exchangesOf } from '../../evidence/exchange.ts'
import { promptOf } from '../../evidence/prompt.ts'
import type { Evidence } from '../../rule.ts'
import { type Judged, judgedRule, type Observed } from '../exchange-rule.ts'
import { sqlRule } from '../sql-rule.ts'

const atItsLimit = 'an answer that reaches its limit'

export const chat06 = judgedRule({
  id: 'CHAT-06',
  title: 'max_tokens is a limit, and finish_reason length means that it was reached',
  section: '§2.5, §4.2',
  needs: ['active', 'passive'],
  explain: `completion_tokens must not exceed max_tokens for each choice. length below every limit is
wrong. stop exactly at the limit may be the natural end, so it is wrong only if at least three
different requests for one choice ended exactly at their limit and no request has the reason length. Answers that are all shorter
test no limit. A limit or an n below 1 is open, and decides nothing.`,
  expected: 'at most max_tokens, and length exactly when they were reached',
  requires: 'a chat completion with usage that reaches the max_tokens of its request',
  parts: {
    of: () => [],
    tested: (exchange) => (isFull(exchange) || endsByLength(exchange) ? atItsLimit : []),
    needed: atItsLimit,
  },
  async judged(evidence) {
    const { contract } = evidence
    const exchanges = await exchangesOf(evidence)
    const judged = exchanges.map((exchange) => [exchange, limitJudged(exchange)] as const)
    const full = judged.filter(([exchange, observed]) => observed === null && isFull(exchange))
    const told = exchanges.some(
      (exchange) => exchange.row.endpoint === 'chat' && endsByLength(exchange),
    )
    // A text that has as many tokens as its limit has them each time.
    const different = new Set(
      full.map(([{ row }]) =>
        isSharedTemplate(row) ? `${row.runId} ${row.slot} ${row.retry}` : row.requestBody,
      ),
    )
    const neverTold = different.size >= 3 && !told
    return judged.map(([exchange, observed]) => [
      exchange,
      neverTold && observed === null && isFull(exchange)
        ? 'finish_reason stop at the limit'
        : observed,
    ])

    function limitJudged(exchange: Exchange): Observed {
      const { row } = exchange
      const limit = exchange.requestField('max_tokens')
      if (row.endpoint !== 'chat' || !exchange.isOk || typeof limit !== 'number') return undefined
      if (row.completionTokens === null) return undefined
      const n = exchange.requestField('n')
      const choices = typeof n === 'number' ? n : 1
      if (limit < 1 || choices < 1) return undefined
      if (row.completionTokens > limit * choices)
        return `${row.completionTokens} tokens for max_tokens ${limit}${choices > 1 ? ` and n ${choices}` : ''}`
      const total = row.completionTokens + (row.promptTokens ?? 0)
      // Without a promised limit, an unknown one may have ended the text.
      const { maxOutputTokens = 0, maxTotalTokens = 0 } = contract.limits ?? {}
      const reachable = Math.min(limit, maxOutputTokens)
      return row.finishReason === 'length' &&
        choices === 1 &&
        row.completionTokens < reachable &&
        total < maxTotalTokens
        ? `length at ${row.completionTokens} of ${limit} tokens`
        : null
    }
  },
})

const endsByLength = ({ row }: Exchange) => row.finishReason === 'length'

/** Of several choices, only the sum of their tokens is told. */
function isFull(exchange: Exchange): boolean {
  const isOneChoice = (exchange.requestField('n') ?? 1) === 1
  return isOneChoice && exchange.row.completionTokens === exchange.requestField('max_tokens')
}

const counts = ['prompt_tokens', 'completion_tokens', 'total_tokens']
const noCountsSql = `coalesce(${counts.join(', ')}) IS NULL`
const zeroOf = (name: string) => `"${name}"\\s*:\\s*0[,}\\s]`
/** SQL, and the same of a text: whether a body has three counts of 0, which a row does not keep beside a text. */
const areZerosSql = counts.map((name) => `regexp_matches(body, '${zeroOf(name)}')`).join(' AND ')
const areZeros = (body: string) => counts.every((name) => new RegExp(zeroOf(name)).test(body))

/** Of plain answers without a count that are too long for SQL to read, at most so many are read. */
const mostRead = 200

/** JSON of these answers, each with whether it has three counts of 0. */
async function longAnswers({ store, runIds }: Evidence): Promise<string> {
  const rows = await store.rows<{ slot: number; packedAt: number }>(
    `SELECT run_id, slot::DOUBLE AS slot, retry, packed_at AS "packedAt"
     FROM attempts JOIN bodies USING (run_id, slot, retry)
     WHERE list_contains($1::VARCHAR[], run_id) AND sent_us IS NOT NULL AND endpoint = 'chat' AND outcome = 'ok'
       AND streamed = 0 AND ${noCountsSql} AND packed_at IS NOT NULL AND NOT truncated
     ORDER BY run_id, slot, retry LIMIT ${mostRead}`,
    [JSON.stringify(runIds)],
  )
  const bodies = readPackedBodies(
    store.path,
    rows.map(({ packedAt }) => packedAt),
  )
  const read = rows.flatMap(({ packedAt: _, ...row }, at) =>
    bodies[at] === null ? [] : [{ ...row, zeros: areZeros(bodies[at]!) }],
  )
  return JSON.stringify(read)
}

export const chat08 = sqlRule({
  id: 'CHAT-08',
  title: 'usage counts are integers of 0 or more, and the total is the sum of the two',
  section: '§2.5',
  explain: `Looks at the usage of every chat completion that carries one; a plain success must if the contract
promises it (response_fields.chat). Whether streams carry usage is open (gap G-11), so a stream without it
decides nothing. Three counts of 0 beside a text, as a cache of a gateway writes them, are integers: a plain answer of which no count is known
is judged by its body, and without one that is stored whole not at all.`,
  expected: 'total_tokens = prompt_tokens + completion_tokens, all 0 or more',
  async observe({ responseFields }, evidence) {
    const isPromised = responseFields?.chat?.includes('usage') === true
    return `
    SELECT run_id, slot, retry,
      CASE WHEN ${noCountsSql} AND zeros THEN NULL
           WHEN prompt_tokens IS NULL OR completion_tokens IS NULL OR total_tokens IS NULL
           THEN 'usage is not three integers'
           WHEN least(prompt_tokens, completion_tokens, total_tokens) < 0 THEN 'a count below 0'
           WHEN total_tokens <> prompt_tokens + completion_tokens
           THEN 'total_tokens ' || total_tokens || ' for ' || prompt_tokens || ' + ' || completion_tokens
      END AS observed
    FROM seen LEFT JOIN (
      SELECT run_id, slot, retry, ${areZerosSql} AS zeros FROM bodies WHERE body IS NOT NULL AND NOT truncated
      UNION ALL SELECT unnest(from_json(${literal(isPromised ? await longAnswers(evidence) : '[]')},
        '[{"run_id": "VARCHAR", "slot": "BIGINT", "retry": "INTEGER", "zeros": "BOOLEAN"}]'), recursive := true)
    ) AS stored USING (run_id, slot, retry)
    WHERE endpoint = 'chat' AND outcome = 'ok'
      AND (streamed = 0 AND zeros IS NOT NULL AND ${isPromised} OR NOT (${noCountsSql}))`
  },
  requires: 'a chat completion with usage',
})

export const chat09 = judgedRule({
  id: 'CHAT-09',
  title:
    'The same prompt costs the same prompt_tokens, streamed or not, and a longer one not fewer',
  section: '§2.5',
  severity: 'derived',
  needs: ['active'],
  promised: ['models'],
  explain: `Metamorphic: successes on one endpoint with equal model, messages, tools and all else that may be part of a prompt must report
equal prompt tokens, whatever their other parameters. A conversation that continues another (the same
messages and more) must not report fewer; templates may drop earlier thoughts, so messages with more than a role, a name and a
text are not compared. The exact count depends on the tokenizer and is not checked.`,
  expected: 'equal prompt_tokens for equal prompts, and no fewer for longer ones',
  requires: 'two successes with the same prompt',
  async judged(evidence) {
    const all = (await exchangesOf(evidence)).filter(
      (exchange) =>
        exchange.isOk &&
        exchange.row.endpoint === 'chat' &&
        exchange.row.promptTokens !== null &&
        !isSharedTemplate(exchange.row),
    )
    const prompts = Map.groupBy(all, (exchange) => promptOf(exchange))
    const repeated = [...prompts.values()].filter((group) => group.length > 1)
    const judged = repeated.flatMap((group) => {
      const usual = group[0]!.row.promptTokens
      return group.map((exchange): Judged => {
        const { promptTokens } = exchange.row
        return [
          exchange,
          promptTokens === usual ? null : `${promptTokens} after ${usual} for the same prompt`,
        ]
      })
    })
    const longer = [...prompts.values()].flatMap((group) => shrinking(group[0]!, prompts))
    return [...judged, ...longer]
  },
})

/** Compares a conversation with the shorter one that it continues, if that was sent, too. */
function shrinking(exchange: Exchange, prompts: ReadonlyMap<string, readonly Exchange[]>) {
  const messages = exchange.requestField('messages')
  if (!isList(messages) || messages.length < 2 || !messages.every(isPlainTurn)) return []
  for (let kept = messages.length - 1; kept > 0; kept--) {
    const key = promptOf(exchange, { messages: messages.slice(0, kept) })
    const shorter = prompts.get(key)?.[0]?.row.promptTokens
    if (shorter === undefined || shorter === null) continue
    const { promptTokens } = exchange.row
    const observed =
      promptTokens! < shorter ? `${promptTokens} for more than what cost ${shorter}` : null
    return [[exchange, observed] as const]
  }
  return []
}

const isPlainTurn = (message: Json): boolean =>
  isObject(message) &&
  Object.keys(message).every((name) => name === 'role' || name === 'content' || name === 'name')
