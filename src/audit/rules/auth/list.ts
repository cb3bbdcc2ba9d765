import type { AuthHeader, AuthHeaders } from '../../../contract/contract.ts'
import type { Promising } from '../../../contract/promises.ts'
import { isAmong, refusalsFor, statusesForKeys } from '../../../contract/refusals.ts'
import { type Promised, promisedSql } from '../../../contract/request.ts'
import { usualOf } from '../../../contract/usual.ts'
import { literal } from '../../../store/literal.ts'
import { billingRule, witnessOf } from '../../evidence/balances.ts'
import type { Evidence, Rule } from '../../rule.ts'
import { fail, inconclusive, notObserved, passed, type Verdict } from '../../verdict.ts'
import { clearStretches, rowsOf, type SeenStretch } from '../billing/stretches.ts'
import { exchangesRule } from '../exchange-rule.ts'
import { sqlList, sqlRule } from '../sql-rule.ts'

const keyVariable = '$ASSAY_API_KEY'

/** A request with the real key in the header of its format, and none in the other header. */
function takesKey(
  id: string,
  format: Promised,
  section: string,
  headersOf: (auth: AuthHeaders) => { readonly own: AuthHeader; readonly other: AuthHeader },
): Rule {
  return exchangesRule({
    id,
    title: `The ${format} endpoint accepts the key in its own header`,
    section,
    severity: 'must',
    needs: ['active'],
    promised: [`auth.${format}`],
    explain: `A valid key in the header that the specification names for ${format} must not get a 401, nor what else the contract has for a
key that is refused.
A key is valid if the same run generates with it at that time or later, on either
endpoint: a refusal counts only if the same key succeeds then or later. A 429 or 5xx decides nothing,
as it may come first (gap G-26), nor does a refusal for something else. A request that also has a key in the other format's header decides
nothing either, because which of the two counts is open (gap G-08).`,
    expected: 'an answer other than the refusal of a key',
    requires: `a ${format} request with a key that is served`,
    async judgeOf(_, evidence) {
      const served = await lastServed(evidence)
      const { own, other } = headersOf(usualOf(evidence.contract).auth)
      const ofKeys = refusalsFor('keys', evidence.contract)
      return ({ row }) => {
        const { status } = row
        if (row.endpoint !== format || status === null || row.requestHeaders === null)
          return undefined
        if (row.expects.endsWith('-key') || status === 429 || status >= 500) return undefined
        const headers = JSON.parse(row.requestHeaders) as Record<string, string>
        if (headers[own.name] !== `${own.prefix}${keyVariable}`) return undefined
        if (other.name !== own.name && headers[other.name] !== undefined) return undefined
        // A refusal for something else may come before the key is looked at.
        if (status < 300) return null
        if (status !== 401 && !isAmong(ofKeys, row)) return undefined
        const isValid = (served.get(`${row.runId}/${row.keyFp}`) ?? -1) >= row.sentUs
        return isValid ? `${status} for a key in its own header` : undefined
      }
    },
  })
}

/** When each key of each run last sent a successful generation, in the run's time. */
async function lastServed({ store, runIds }: Evidence): Promise<ReadonlyMap<string, number>> {
  const keys = await store.rows<{ key: string; sentUs: number }>(
    `SELECT run_id || '/' || key_fp AS key, max(sent_us)::DOUBLE AS "sentUs" FROM attempts
     WHERE list_contains($1::VARCHAR[], run_id) AND ${promisedSql}
       AND outcome = 'ok' AND expects NOT LIKE '%-key' AND key_fp IS NOT NULL
     GROUP BY key`,
    [JSON.stringify(runIds)],
  )
  return new Map(keys.map(({ key, sentUs }) => [key, sentUs]))
}

export const auth01 = takesKey('AUTH-01', 'chat', '§5.2', ({ chat, messages }) => ({
  own: chat,
  other: messages,
}))
export const auth02 = takesKey('AUTH-02', 'messages', '§5.3', ({ chat, messages }) => ({
  own: messages,
  other: chat,
}))

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
    severity: 'must',
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

type Errors = Promising<'chat_errors or messages_errors'>

/** Codes with their types, and types of the messages shape, that the tables of a contract have for a key that is refused with a status. */
interface KeyWords {
  readonly chat: readonly (readonly [code: string, type: string])[]
  readonly messages: readonly string[]
}

function wordsForKeys(contract: Errors, status: number): KeyWords {
  // Every 401 is about the key. Another status may also have other meanings.
  const words = new Set(refusalsFor('keys', contract).map(({ word }) => word))
  const isOfKey = (...names: readonly string[]) =>
    status === 401 || names.some((name) => words.has(name))
  return {
    chat: (contract.chatErrors ?? []).flatMap((each) =>
      each.status === status && isOfKey(each.code, each.type)
        ? [[each.code, each.type] as const]
        : [],
    ),
    messages: (contract.messagesErrors ?? []).flatMap(({ type, statuses }) =>
      statuses?.includes(status) === true && isOfKey(type) ? [type] : [],
    ),
  }
}

/** The statuses of which the words are judged, each once. */
const statusesWithWords = (contract: Errors) => [...new Set([401, ...statusesForKeys(contract)])]

/** SQL: requests that were sent without a valid key. */
const withoutKey = `expects IN ${sqlList(['missing-key', 'invalid-key', 'altered-key', 'recased-key'])}`

export const auth05 = sqlRule({
  id: 'AUTH-05',
  title: 'A 401 carries the error of an invalid key, in the shape of its endpoint',
  section: '§7.2, §7.3',
  severity: 'must',
  needs: ['active'],
  promised: ['chat_errors or messages_errors'],
  explain: `On chat the code must be one that the contract has for status 401, with its type, on messages a type
of its table for 401. A table without a row for 401 promises no words for it, nor does a format without a table. If the contract has another status for keys, a request
without a valid key that got it is judged likewise.`,
  expected: (contract) =>
    statusesWithWords(contract)
      .flatMap((status) => {
        const { chat, messages } = wordsForKeys(contract, status)
        return [
          ...(chat.length === 0 ? [] : [`${chat.map(([code]) => code).join(' or ')} on chat`]),
          ...(messages.length === 0 ? [] : [`${messages.join(' or ')} on messages`]),
        ]
      })
      .join(', '),
  observe: (contract) =>
    statusesWithWords(contract)
      .map((status) => wordsAt(contract, status))
      .join(' UNION ALL '),
  requires: 'a refused key on a generation endpoint',
})

/** SQL: refusals of a key with a status, and what is wrong with their words. */
function wordsAt(contract: Errors, status: number): string {
  const { chat, messages } = wordsForKeys(contract, status)
  const pairs = chat.map((pair) => sqlList(pair)).join(', ')
  const judged = [
    ...(chat.length === 0
      ? []
      : [
          `endpoint = 'chat' AND (coalesce(error_code, ''), coalesce(error_type, '')) NOT IN (VALUES ${pairs})`,
        ]),
    ...(messages.length === 0
      ? []
      : [`endpoint = 'messages' AND coalesce(error_type, '') NOT IN ${sqlList(messages)}`]),
  ]
  const formats = [
    ...(chat.length === 0 ? [] : ['chat']),
    ...(messages.length === 0 ? [] : ['messages']),
  ]
  return `
      SELECT run_id, slot, retry,
        CASE WHEN ${judged.join(' OR ') || 'false'}
             THEN 'code ' || coalesce(error_code, 'none') || ', type ' || coalesce(error_type, 'none') ||
               ' on ' || endpoint END AS observed
      FROM seen WHERE status = ${status} AND endpoint IN ${sqlList(['', ...formats])}
        ${status === 401 ? '' : `AND ${withoutKey}`}`
}

export const auth06 = billingRule({
  id: 'AUTH-06',
  title: 'A key moves the balance of its own account and of no other',
  section: '§2.8',
  severity: 'must',
  needs: ['active', 'quiescence'],
  explain: `Two accounts in one run: each balance must fall by the cost of its own requests. If one account
misses as many credits as another did not pay for a request of that time, a charge went to the wrong account. It is inconclusive
if most of what is missing went at other times.`,
  decideBy(readings) {
    const runs = [...Map.groupBy(readings, (reading) => reading.history.runId).values()]
      .map((all) =>
        all.filter((reading) => reading.charges > 0 || reading.conservation.whole !== null),
      )
      .filter((all) => all.length > 1)
    const requires = 'two accounts in one run, each with idle values of its balance'
    if (runs.length === 0) return notObserved(requires)
    let observations = 0
    for (const run of runs) {
      const judged = run.map((reading) => clearStretches([reading])).filter((all) => all.length > 0)
      // A balance that rose was topped up, which is no undercharge.
      const all = judged.flat().filter(({ stretch }) => stretch.taken >= 0)
      const over = all.filter(({ stretch: { excess } }) => excess > 0)
      const under = all.filter(({ stretch: { excess } }) => excess < 0)
      const moved = over.flatMap((more) => {
        const less = under.find((each) => paidBy(more, each))
        return less === undefined ? [] : [{ more, less }]
      })
      const [first] = moved
      if (first !== undefined && moved.length * 2 >= over.length) {
        const { more, less } = first
        return fail(judged.length, {
          expected: 'each account pays for its own requests',
          observed: `${more.reading.history.account} paid ${more.stretch.excess} too much, ${less.reading.history.account} ${-less.stretch.excess} too little`,
          witnesses: [
            witnessOf(more.reading, more.stretch.to, `${more.stretch.excess} too low`),
            witnessOf(less.reading, less.stretch.to, `${-less.stretch.excess} too high`),
          ],
        })
      }
      if (over.some((more) => under.some((less) => less.reading !== more.reading)))
        return inconclusive(
          judged.length,
          'the balance of one account is too low and that of another too high, but mostly at other times: no request is shown to be paid by the wrong account',
        )
      if (judged.length > 1 && over.length === 0) observations += judged.length
    }
    return passed(observations, requires)
  },
})

/** Whether what one account paid too much is what another did not pay for a request of that time. */
function paidBy(more: SeenStretch, less: SeenStretch): boolean {
  if (more.reading === less.reading || more.stretch.excess !== -less.stretch.excess) return false
  const { callUs, endUs } = more.reading.history
  const [fromUs, toUs] = [callUs[more.stretch.from]!, endUs[more.stretch.to]!]
  return rowsOf(less, 'charge').some((row) => {
    const atUs = less.reading.history.callUs[row]!
    return fromUs <= atUs && atUs <= toUs
  })
}

/** Section 1.2 of the rulebook. */
export const authRules: readonly Rule[] = [auth01, auth02, auth03, auth04, auth05, auth06]
