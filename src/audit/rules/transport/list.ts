import { flagSql } from '../../../attempt/flags.ts'
import { isLoopback } from '../../../contract/base-url.ts'
import { usualOf } from '../../../contract/usual.ts'
import { type Rule, whenPromised } from '../../rule.ts'
import { fail, notObserved, pass } from '../../verdict.ts'
import { wantsCreditsSql } from '../errors/want-of-credits.ts'
import { sqlList, sqlRule } from '../sql-rule.ts'
import { trn03, trn04 } from './cross-origin.ts'

export const trn01: Rule = {
  id: 'TRN-01',
  title: 'The service is reached over HTTPS',
  section: '§1.3',
  explain: `Looks at the base URL of each run. A service on this machine's loopback address cannot be
overheard, so plain HTTP there decides nothing.`,
  ...whenPromised(['https'], async ({ store, runIds }) => {
    const runs = await store.rows<{ runId: string; baseUrl: string; slot: number | null }>(
      `SELECT run_id AS "runId", base_url AS "baseUrl",
         (SELECT min(slot) FROM attempts WHERE attempts.run_id = runs.run_id) AS slot
       FROM runs WHERE list_contains($1::VARCHAR[], run_id) ORDER BY started_at, run_id`,
      [JSON.stringify(runIds)],
    )
    const remote = runs.filter(({ baseUrl, slot }) => slot !== null && !isLoopback(baseUrl))
    if (remote.length === 0) return notObserved('a base URL that is not on this machine')
    const plain = remote.find(({ baseUrl }) => new URL(baseUrl).protocol !== 'https:')
    if (plain === undefined) return pass(remote.length)
    const { runId, slot, baseUrl } = plain
    return fail(remote.length, {
      expected: 'an https base URL',
      observed: baseUrl,
      witnesses: [{ runId, slot: slot ?? 0, retry: 0, shows: 'sent in the clear' }],
    })
  }),
}

export const trn02 = sqlRule({
  id: 'TRN-02',
  title: 'Bodies are JSON in UTF-8 and say so',
  section: '§1.3',
  explain: `Looks at every plain body that was read to its end: it must parse, be valid UTF-8, and have a
JSON content type. The body of a failure is judged only if the contract has the table of chat errors,
because a gateway may fail in another format. The SSE rules check streams.`,
  expected: 'application/json that parses, in UTF-8',
  parts: ({ chatErrors = [] }) => ['successes', ...(chatErrors.length > 0 ? ['failures'] : [])],
  observe: ({ chatErrors = [] }) => `
    SELECT run_id, slot, retry, if(outcome = 'http_error', 'failures', 'successes') AS part,
      CASE WHEN starts_with(reason, 'content-encoding-') THEN reason || ', which was not accepted'
           WHEN ${flagSql('notUtf8')} THEN 'bytes that are not UTF-8, status ' || status
           WHEN ${flagSql('notJson')} THEN 'a body that is not JSON, status ' || status
           WHEN NOT ${flagSql('jsonType')} THEN 'a content type that is not JSON, status ' || status END AS observed
    FROM seen
    WHERE status IS NOT NULL AND NOT ${flagSql('sseType')} AND bytes_in > 0 AND endpoint <> 'other'
      AND (outcome = 'ok' OR outcome = 'http_error' AND ${chatErrors.length > 0} OR reason IN ('malformed-body', 'error-in-body', 'unexpected-content-type')
        OR starts_with(reason, 'content-encoding-'))`,
  requires: 'a plain answer with a body',
})

export const trn05 = sqlRule({
  id: 'TRN-05',
  title: 'The endpoints are where the contract says',
  section: '§1.2, §9.1',
  needs: ['active'],
  promised: ['paths'],
  explain: `A request that was meant to succeed must not get a 404 on the path of the contract, unless
the error names the model as not found, by the contract's code for a 404 or by its name. If other requests on the same path succeeded, the 404
is about the request (gap G-27).`,
  expected: 'an answer on each path of the contract',
  parts: ({ paths }) => Object.keys(paths),
  observe: (contract) => {
    const { limits, defaults } = usualOf(contract)
    const promised = Object.keys(contract.paths)
    const ofRequests = (contract.chatErrors ?? [])
      .filter(({ status }) => status === null || status === 404)
      .map(({ code }) => code)
    return `
    WITH meant AS NOT MATERIALIZED (
      SELECT run_id, slot, retry, endpoint, status
      FROM seen LEFT JOIN templates USING (run_id, template)
      WHERE endpoint IN ${sqlList(promised)} AND expects = 'ok' AND status IS NOT NULL
        AND error_code IS DISTINCT FROM 'model_not_found' AND status NOT IN (401, 429)
        AND NOT coalesce(error_code IN ${sqlList(['', ...ofRequests])}, false)
        AND NOT coalesce(model <> '' AND contains(error_message, model), false)
        -- Far below every context window.
        AND coalesce(length(templates.body) + coalesce(max_tokens, ${defaults.maxTokens}), 0) < ${limits.maxTotalTokens / 2})
    SELECT run_id, slot, retry, endpoint AS part,
      CASE WHEN status = 404 AND NOT succeeded THEN '404 on ' || endpoint END AS observed
    FROM meant JOIN (
      SELECT run_id, endpoint, bool_or(status < 300) AS succeeded FROM meant GROUP BY run_id, endpoint)
      USING (run_id, endpoint)`
  },
  requires: 'a request to an endpoint of the contract',
})

export const trn06 = sqlRule({
  id: 'TRN-06',
  title: 'An unknown path is a 404',
  section: '§7.1',
  needs: ['active'],
  promised: ['chat_errors or messages_errors'],
  explain: `Requests to paths that the contract does not have must get 404. A 401, a 402, a 429, an outage or
a refusal for insufficient credits may come first (gap G-26) and decides nothing; the messages shape has no
type for insufficient credits, so a 403 of that shape decides nothing.`,
  expected: 'status 404',
  observe: (contract) => {
    const broke = (contract.chatErrors ?? []).filter(({ status }) => status === 403)
    return `
      SELECT run_id, slot, retry, CASE WHEN status <> 404 THEN 'status ' || status END AS observed
      FROM seen WHERE expects = 'unknown-path' AND status NOT IN (401, 402, 429) AND status < 500
        AND NOT ${wantsCreditsSql(contract)}
        AND NOT (status = 403 AND (coalesce(error_shape, '') = 'messages'
          OR coalesce(error_code IN ${sqlList(broke.map(({ code }) => code))}, false)
          OR coalesce(error_type IN ${sqlList(broke.map(({ type }) => type))}, false)))`
  },
  requires: 'a request to an unknown path (wrong: unknown-path)',
})

/** Section 1.1 of the rulebook. */
export const transportRules: readonly Rule[] = [trn01, trn02, trn03, trn04, trn05, trn06]
