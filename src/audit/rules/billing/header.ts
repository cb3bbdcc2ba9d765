import { flagSql } from '../../../attempt/flags.ts'
import { promisedSql } from '../../../contract/request.ts'
import { takesCredits } from '../../evidence/balances.ts'
import { type Rule, whenPromised } from '../../rule.ts'
import { fail, notObserved, pass, type Witness } from '../../verdict.ts'

interface Header {
  readonly runId: string
  readonly slot: number
  readonly retry: number
  readonly value: number | null
  readonly issue: 'missing' | 'malformed' | 'negative' | null
  readonly kind: string
  readonly seen: number
}

export const bill09: Rule = {
  id: 'BILL-09',
  title: 'Every success carries X-Credits-Remaining, an integer of 0 or more',
  section: '§8.4.4',
  explain: `Looks at the header of each success on a generation endpoint, plain and streamed: it must
exist, be a plain integer, and not be negative. On errors and on other endpoints, values are checked
if present; a missing one is not a failure (gap G-19). A service that shows no balance
anywhere, neither in a header nor at the credits endpoint, makes no such promise: not observed.`,
  ...whenPromised(['headers.credits_remaining'], async ({ store, runIds, contract }) => {
    const headers = await store.rows<Header>(
      `WITH looked AS (
         SELECT run_id, slot, retry, credits_remaining AS value,
           endpoint || CASE streamed WHEN 1 THEN ' stream' ELSE '' END AS kind,
           ${promisedSql} AND outcome = 'ok' AS due,
           CASE WHEN ${flagSql('malformedCredits')} OR credits_remaining <> trunc(credits_remaining) THEN 'malformed'
                WHEN credits_remaining < 0 THEN 'negative'
                WHEN credits_remaining IS NULL AND ${promisedSql} AND outcome = 'ok'
                THEN 'missing' END AS issue
         FROM attempts WHERE list_contains($1::VARCHAR[], run_id) AND sent_us IS NOT NULL)
       SELECT issue, kind, seen, first.run_id AS "runId", first.slot::DOUBLE AS slot,
         first.retry AS retry, first.value AS value
       FROM (SELECT issue, kind, count(*)::DOUBLE AS seen,
               -- Runs share slot numbers, and threads write rows in any order.
               min({slot: slot, run_id: run_id, retry: retry, value: value})
                 FILTER (issue IS NOT NULL) AS first
             FROM looked WHERE due OR issue IS NOT NULL GROUP BY issue, kind)
       ORDER BY kind, issue`,
      [JSON.stringify(runIds)],
    )
    const observations = headers.reduce((sum, { seen }) => sum + seen, 0)
    if (observations === 0) return notObserved('a success on a generation endpoint')
    const shown = headers.some(({ issue }) => issue !== 'missing')
    if (!shown && !(await hasCreditsEndpoint())) return notObserved(takesCredits)
    const wrong = headers.filter(({ issue }) => issue !== null)
    if (wrong.length === 0) return pass(observations)
    return fail(observations, {
      expected: 'an integer of 0 or more on every success',
      observed: wrong.map(({ issue, kind, seen }) => `${issue} on ${seen} of ${kind}`).join('; '),
      witnesses: (await Promise.all(wrong.map(witness))) as [Witness, ...Witness[]],
    })

    async function hasCreditsEndpoint(): Promise<boolean> {
      const [found] = await store.rows<{ n: number }>(
        `SELECT count(*)::DOUBLE AS n FROM attempts
         WHERE list_contains($1::VARCHAR[], run_id) AND endpoint = 'credits' AND outcome = 'ok'`,
        [JSON.stringify(runIds)],
      )
      return (found?.n ?? 0) > 0
    }

    async function witness({ runId, slot, retry, issue, value }: Header): Promise<Witness> {
      const observed = (await asItCame(runId, slot, retry)) ?? value
      const shows =
        issue === 'missing' ? 'no header' : `${issue}${observed === null ? '' : `: ${observed}`}`
      return { runId, slot, retry, shows }
    }

    /** The header's own text, if the response was captured: 1499.0 is not a plain integer, 1499 is. */
    async function asItCame(runId: string, slot: number, retry: number): Promise<string | null> {
      const [kept] = await store.rows<{ headers: string }>(
        'SELECT headers FROM bodies WHERE run_id = $1 AND slot = $2 AND retry = $3',
        [runId, BigInt(slot), retry],
      )
      const starts = contract.headers.creditsRemaining.map((name) => `${name}:`)
      for (const line of kept?.headers.split('\n') ?? []) {
        const start = starts.find((each) => line.toLowerCase().startsWith(each))
        if (start !== undefined) return line.slice(start.length).trim()
      }
      return null
    }
  }),
}
