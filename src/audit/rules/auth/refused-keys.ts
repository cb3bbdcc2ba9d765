import type { Promising } from '../../../contract/promises.ts'
import { statusesForKeys } from '../../../contract/refusals.ts'
import { promisedSql } from '../../../contract/request.ts'
import { literal } from '../../../store/literal.ts'
import type { Evidence, Rule } from '../../rule.ts'
import { fail, inconclusive, type Verdict } from '../../verdict.ts'
import { sqlList, sqlRule } from '../sql-rule.ts'

/** Requests without a valid key that got only 429s and failures. */
interface Unrefused {
  readonly sent: number
  readonly failed: number
  readonly statuses: string
  readonly runId: string
  readonly slot: number
  readonly retry: number
}

/** The time in a run between the first and the last failure of requests without a valid key. */
interface FailedSpan {
  readonly runId: string
  readonly fromUs: number
  readonly untilUs: number
}

/** Requests with a key in those times, and how many of them failed. */
interface Keyed {
  readonly sent: number
  readonly failed: number
}

/** Below this probability, a result is not accidental. */
const noAccident = 1e-6

/** The meaning of those failures if no request was refused because of its key. */
async function ofFailures(
  { store, runIds, contract }: Evidence,
  expects: readonly string[],
  what: string,
): Promise<Verdict | null> {
  const ids = JSON.stringify(runIds)
  const keyless = `FROM attempts WHERE list_contains($1::VARCHAR[], run_id)
    AND ${promisedSql} AND status IS NOT NULL AND expects IN ${sqlList(expects)}`
  const [seen] = await store.rows<Unrefused>(
    `SELECT count(*)::DOUBLE AS sent, count(*) FILTER (status >= 500)::DOUBLE AS failed,
       string_agg(DISTINCT status::VARCHAR, ', ' ORDER BY status::VARCHAR) AS statuses,
       min(first).run_id AS "runId", min(first).slot::DOUBLE AS slot, min(first).retry AS retry
     FROM (SELECT status, {failed: status < 500, slot: slot, run_id: run_id, retry: retry} AS first
           ${keyless})`,
    [ids],
  )
  if (seen === undefined || seen.sent === 0) return null
  const spans = await store.rows<FailedSpan>(
    `SELECT run_id AS "runId", min(sent_us)::DOUBLE AS "fromUs", max(sent_us)::DOUBLE AS "untilUs"
     ${keyless} AND status >= 500 GROUP BY run_id`,
    [ids],
  )
  const keyed = await keyedDuring(store, spans)
  const { sent, failed, statuses, runId, slot, retry } = seen
  const shows = `${sent} of ${sent} generation requests with ${what} got ${statuses}`
  const chance = ((keyed.failed + 1) / (keyed.sent + 2)) ** failed
  if (failed === 0 || chance > noAccident) {
    const why = `${shows}, which may come before the key is looked at`
    return inconclusive(sent, why)
  }
  return fail(sent, {
    expected: `status ${statusesForKeys(contract).join(' or ')}`,
    observed: `${shows}; of ${keyed.sent} with a key meanwhile, ${keyed.failed} failed so`,
    witnesses: [{ runId, slot, retry, shows: `status ${statuses} for ${what}` }],
  })
}

/** A join with the spans would keep all attempts in memory. */
async function keyedDuring(store: Evidence['store'], spans: readonly FailedSpan[]): Promise<Keyed> {
  const during = spans.map(
    ({ runId, fromUs, untilUs }) =>
      `run_id = ${literal(runId)} AND sent_us BETWEEN ${fromUs} AND ${untilUs}`,
  )
  const [keyed] = await store.rows<Keyed>(
    `SELECT count(*)::DOUBLE AS sent, count(*) FILTER (status >= 500)::DOUBLE AS failed FROM attempts
     WHERE expects = 'ok' AND ${promisedSql} AND status <> 429 AND (${during.join(' OR ') || 'false'})`,
  )
  return keyed!
}

/** The formats of which the contract promises where their key is. */
const formatsWithKey = ({ auth }: Promising<'auth.chat or auth.messages'>) =>
  (['chat', 'messages'] as const).filter((format) => auth[format] !== undefined)

function refusesKey(id: string, expects: readonly string[], what: string): Rule {
  const promised = ['auth.chat or auth.messages'] as const
  const requires = `a generation request with ${what} (wrong: ${expects.join(', ')})`
  const answered = sqlRule({
    id,
    title: `A generation request with ${what} is refused with 401, plain or streamed`,
    section: '§5.4',
    needs: ['active'],
    promised,
    explain: `Every request that was sent with ${what} on a generation endpoint whose key header is promised must get a 401, or the status that the contract's
tables have for a key, such as a 403 in tables without a 401. A success, or any other refusal, breaks the promise. A 429 or 5xx may come first and decides nothing by itself. If
there was nothing else, the rule is inconclusive, unless requests with a key did not fail at the same
time, and chance does not explain so many failures.`,
    expected: (contract) => `status ${statusesForKeys(contract).join(' or ')}`,
    parts: (contract) =>
      formatsWithKey(contract).flatMap((format) => [`plain ${format}`, `streamed ${format}`]),
    observe: (contract) => `
      SELECT run_id, slot, retry, if(streamed = 1, 'streamed ', 'plain ') || endpoint AS part,
        CASE WHEN status NOT IN ${sqlList(statusesForKeys(contract))} THEN 'status ' || status || ' on ' || endpoint ||
          CASE streamed WHEN 1 THEN ' stream' ELSE '' END END AS observed
      FROM seen WHERE expects IN ${sqlList(expects)} AND endpoint IN ${sqlList(formatsWithKey(contract))}
        AND status IS NOT NULL AND status <> 429 AND status < 500`,
    requires,
  })
  return {
    ...answered,
    async decide(evidence) {
      const verdict = await answered.decide(evidence)
      if (verdict.verdict !== 'not-observed') return verdict
      return (await ofFailures(evidence, expects, what)) ?? verdict
    },
  }
}

export const auth03 = refusesKey('AUTH-03', ['missing-key'], 'no key')
export const auth04 = refusesKey(
  'AUTH-04',
  ['invalid-key', 'altered-key', 'recased-key'],
  'an invalid key',
)
