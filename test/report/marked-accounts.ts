import { createHash } from 'node:crypto'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import type { Store } from '../store/opened.ts'
import { attempt, enterRun, novemberUs } from './attempts.ts'
import { enterEvents } from './usage-events.ts'

/** An account whose every name and amount is found nowhere else. */
export interface MarkedAccount {
  readonly name: string
  readonly keys: readonly [string, string]
  readonly keyNames: readonly [string, string]
  readonly model: string
  readonly endpoint: string
  /** The value of its tag `team`. */
  readonly tag: string
  /** Credits of a request. */
  readonly amount: number
  readonly id: (at: number) => string
}

const digits = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12)

export const accounts: readonly MarkedAccount[] = Array.from({ length: 50 }, (_, at) => {
  const mark = `zq${String.fromCharCode(97 + (at % 26))}${at}xv`
  return {
    name: `acct-${mark}`,
    keys: [digits(`${mark}-1`), digits(`${mark}-2`)],
    keyNames: [`billing ${mark}`, `search ${mark}`],
    model: `model-${mark}`,
    endpoint: `chat-${mark}`,
    tag: `team-${mark}`,
    amount: 31_013_007 + at * 1_009_003,
    id: (id) => `id-${mark}-${id}`,
  }
})

/** The account of which tests ask. */
export const subject = accounts[7]!
export const others = accounts.filter((each) => each !== subject)
export const keyNames = Object.fromEntries(
  accounts.flatMap(({ keys, keyNames: names }) => keys.map((key, at) => [key, names[at]!])),
)

/** What may not occur in an answer for the subject. */
export const marksOfOthers = others.flatMap(({ name, keys, model, amount }) => [
  name.slice('acct-'.length),
  ...keys,
  model,
  String(amount),
  amount.toLocaleString('en-US'),
])

const dayUs = 86_400e6
const hourUs = 3600e6

/**
 * Enters usage of these accounts. Each way by which one account could change the figures of another is tried: days and
 * imports of others that reach further, finer sums, events of a day, a common run, its clock, the clock of polls, and keys of the same name.
 */
export async function enterMarked(store: Store, some: readonly MarkedAccount[]): Promise<void> {
  await enterRun(store, 'common')
  if (some.includes(others[0]!)) await enterRun(store, 'foreign', { timeScale: 2 })
  const [sums, polls, fours]: [string[], string[], string[]] = [[], [], []]
  const events: Parameters<typeof enterEvents>[1][number][] = []
  const attempts: ReturnType<typeof attempt>[] = []
  const imported = new Set<string>()
  for (const account of some) {
    const { name, keys, model, endpoint, tag, amount, id } = account
    const isSubject = account === subject
    // A name of a key may be that of another key in another account.
    for (const key of isSubject ? keys : [...keys, subject.keys[1]])
      fours.push(`('${name}', '${key}', '${name.slice(-4)}')`)
    const event = (at: number, change: object) => ({
      ...{ atUs: novemberUs + at, id: id(Math.round(at / 1e6)), account: name, model, endpoint },
      ...{ source: 'gateway', keyFp: keys[0], credits: amount, promptTokens: amount },
      tags: JSON.stringify({ team: tag }),
      ...change,
    })
    const days = isSubject ? 20 : 26
    for (let day = 0; day < days; day++)
      events.push(
        event(day * dayUs + (7 + day) * 0.7 * hourUs + (amount % 500) * 1e6, {
          keyFp: keys[day % 2],
          outcome: day === 3 ? 'http_error' : 'ok',
          status: day === 3 ? 500 : 200,
          endpoint: day === 5 ? 'messages' : endpoint,
        }),
      )
    // Sums of a day, and of hours, of the same source: the finest that cover a time count.
    const sum = (fromH: number, hours: number, statement: number, credits: number) => {
      const start = novemberUs + 24 * dayUs + fromH * hourUs
      imported.add(`${statement}`)
      sums.push(
        `('sums', '${name}/${fromH}/${hours}', ${statement}, 0, ${start}, ${start + hours * hourUs}, 'account,model', 'usage', '${model}', NULL, '${keys[0]}', '${name}', 'ok', ${credits}, 'credits', 3, ${amount}, ${amount})`,
      )
    }
    sum(0, 24, 1, amount * 30)
    sum(24, 24, 1, amount * 20)
    for (const hour of isSubject ? [3, 4] : [0, 3, 4, 23]) sum(hour, 1, 2, amount)
    if (!isSubject) events.push(event(25 * dayUs + hourUs, { source: 'sums', id: id(-1) }))
    const runId = isSubject || account !== others[0] ? 'common' : 'foreign'
    const at = amount % 500
    for (const slot of [0, 1, 2])
      attempts.push(
        attempt(at + slot, {
          ...{ runId, account: name, keyFp: keys[0], model: slot === 2 ? model : 'svc-k2' },
          ...{ creditsRemaining: amount * 100 - slot, headersUs: (at + slot) * 1e6 + 90_000 },
          dateS: novemberUs / 1e6 + at + slot + (isSubject ? 9 : 2),
        }),
      )
    for (const hours of [2, 30, 400]) {
      const aheadUs = isSubject ? (hours === 30 ? 9e6 : 5e6) : 70e6
      const polledUs = novemberUs + hours * hourUs
      polls.push(
        `(${polledUs}, ${polledUs + aheadUs}, 'http://127.0.0.1:1', '${keys[0]}', 200, ${amount + hours}, ${amount * 90 - hours})`,
      )
    }
  }
  await enterEvents(store, events)
  await appendAttempts(store, attempts)
  await store.execute(`
    INSERT INTO usage_polls (polled_us, service_us, base_url, key_fp, status, consumed, remaining)
    VALUES ${polls.join()};
    INSERT INTO usage_keys VALUES ${fours.join()};
    INSERT INTO usage_statements (source, id, statement, ingested_us, start_us, end_us, dimensions, measures, model,
      endpoint, key_fp, account, outcome, credits, unit, requests, prompt_tokens, completion_tokens)
    VALUES ${sums.join()};
    INSERT INTO usage_event_days SELECT DISTINCT source, at_us // 86400000000 FROM usage_events WHERE type = 'usage';
    INSERT INTO usage_imports
    SELECT statement, any_value(source), 'file', 'sums', '{}', 0, 0, 0, 0, 0, min(start_us), max(end_us), false
    FROM usage_statements GROUP BY statement`)
}
