/**
 * One double charge among 10,000 requests: is it found, and where?
 * `node bench/double-charge.ts [last seed] [requests] [first seed]`.
 *
 * A real service on a socket, sixteen waves with 64 requests in flight, of which 5 % are streams that are
 * aborted and 2 % time out, and a settled read of the balance after each. The timeouts are plain answers
 * of steps whose others end soon: they hold their price and give it back, so the values between the reads
 * are no ledger.
 * Each seed is run clean and with one charge, of a number that the seed draws, taken twice; the service's own
 * books, which the audit never sees, tell that it was, and whose.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { audit } from '../src/audit/audit.ts'
import type { Verdict } from '../src/audit/verdict.ts'
import type { FullContract } from '../src/contract/contract.ts'
import { defaultContract } from '../src/contract/default.ts'
import { run } from '../src/run/run.ts'
import { parseScenario } from '../src/scenario/parse.ts'
import { startService } from '../src/service/start.ts'
import { openStore } from '../src/store/session/open.ts'

/** The contract with limits that this load does not meet. */
const roomy: FullContract = {
  ...defaultContract,
  bands: defaultContract.bands.map((band, nth) => ({
    ...band,
    requests: { minute: 1e6 + nth, hour: 2e6 + nth, day: 3e6 + nth },
  })),
}

const waves = Array.from({ length: 16 }, (_, at) => at + 1)

/** Requests that come first and are not counted: connections are opened, and code gets hot. */
const warmUp = 640

/** @param prompts a file of which one line in forty takes longer than the deadline */
const scenario = (requests: number, prompts: string) => `
name: double-charge
question: Is one double charge found among requests that are aborted and time out?
model: svc-k2
max_credits: ${2 * (warmUp + requests)}
keys: { main: { env: ASSAY_API_KEY, account: main } }
timeouts: { total: 600ms }
steps:
  balance: { endpoint: credits }
  short: { endpoint: chat, prompt: Say what a carat is., max_tokens: 60 }
  chat: { endpoint: chat, prompt: { file: ${prompts} }, max_tokens: 2000, weight: 55 }
  dear: { endpoint: messages, model: svc-k2.5, prompt: { file: ${prompts} }, max_tokens: 2000, weight: 25 }
  stream: { endpoint: chat, stream: true, prompt: "Count from 1 to 40, please.", max_tokens: 60, weight: 15 }
  left: { endpoint: chat, stream: true, prompt: "Count from 1 to 40, please.", max_tokens: 60, abort: first-event, weight: 5 }
phases:
  - { name: warm-up, load: concurrency, users: 64, max_requests: ${warmUp}, steps: [short] }
  - { name: before, load: concurrency, users: 1, think: 1500ms, max_requests: 2, steps: [balance] }
${waves
  .map(
    (wave) => `
  - { name: wave-${wave}, load: concurrency, users: 64, max_requests: ${Math.ceil(requests / waves.length)}, steps: [chat, dear, stream, left] }
  - { name: settled-${wave}, load: concurrency, users: 1, think: 1500ms, max_requests: 2, steps: [balance] }`,
  )
  .join('')}
  - { name: after, load: concurrency, users: 1, think: 1500ms, max_requests: 2, steps: [balance] }
stop: { error_share: 100%, consecutive_failures: 100000 }
`

export interface Trial {
  /** Requests that the service charged twice, by its own books. */
  readonly twice: number
  readonly aborted: number
  readonly timedOut: number
  readonly verdict: Verdict
  /** Rules of billing that failed. */
  readonly failed: readonly string[]
  /** Attempts that the verdict names. */
  readonly suspects: number
  /** Whether one that was charged twice is among them. */
  readonly located: boolean
}

/** Runs the load against a service of its own, and audits it. */
export async function tryOut(seed: number, requests: number, faults: string[]): Promise<Trial> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-double-'))
  const books = join(folder, 'service.sqlite')
  const dbPath = join(folder, 'assay.duckdb')
  try {
    const service = await startService({
      seed,
      faults,
      contract: roomy,
      dataPath: books,
      accounts: [{ name: 'main', balance: 1_000_000 }],
      shape: {
        timeToFirstUs: { kind: 'lognormal', median: 15_000, sigma: 0.3 },
        betweenTokensUs: { kind: 'constant', value: 1_000 },
      },
    })
    const prompts = join(folder, 'prompts.txt')
    writeFileSync(
      prompts,
      [...Array<string>(39).fill('Say what a carat is.'), 'Count from 1 to 999.'].join('\n'),
    )
    const checked = parseScenario(scenario(requests, prompts), 'double-charge.yaml', roomy)
    const { runId } = await run(checked, {
      baseUrl: service.baseUrl,
      dbPath,
      contract: roomy,
      seed,
      keys: Object.fromEntries(service.keys.map(({ name, apiKey }) => [name, apiKey])),
    }).finally(() => service.close())
    const database = new DatabaseSync(books, { readOnly: true })
    const charged = database.prepare(`SELECT request_id FROM entries WHERE note = 'fault'`).all()
    database.close()
    const twice = new Set(charged.map((row) => row.request_id))
    const store = await openStore(dbPath)
    const { findings } = await audit(store, {
      contract: roomy,
      runIds: [runId],
      rules: ['BILL'],
      auditId: 'bench',
      auditedAt: new Date(0),
    })
    const { verdict } = findings.find(({ rule }) => rule === 'BILL-11')!
    const witnesses = 'witnesses' in verdict ? (verdict.witnesses ?? []) : []
    const named = await store.rows<{ id: string | null }>(
      `SELECT response_id AS id FROM attempts
       WHERE list_contains(from_json($1, '["BIGINT"]'), slot)`,
      [JSON.stringify(witnesses.map(({ slot }) => slot))],
    )
    const [counts] = await store.rows<{ aborted: number; timedOut: number }>(
      `SELECT count(*) FILTER (outcome = 'aborted') AS aborted,
              count(*) FILTER (outcome = 'timeout') AS "timedOut" FROM attempts`,
    )
    store.close()
    return {
      ...counts!,
      twice: twice.size,
      verdict,
      failed: findings
        .filter((finding) => finding.verdict.verdict === 'fail')
        .map(({ rule }) => rule),
      suspects: witnesses.length,
      located: named.some(({ id }) => twice.has(id?.replace(/^(chatcmpl-|msg_)/, '') ?? null)),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const seeds = Number(process.argv[2] ?? 20)
  const requests = Number(process.argv[3] ?? 10_000)
  process.stdout.write(
    'seed   fault   twice   aborted   timed out   BILL-11        suspects   located\n',
  )
  for (let seed = Number(process.argv[4] ?? 1); seed <= seeds; seed++) {
    // Golden steps are spread evenly; the last tenth is left out, since what is left may not be charged.
    const nth = warmUp + Math.ceil(((seed * 0.618_034) % 1) * 0.9 * requests)
    for (const faults of [[], [`double-charge=#${nth}`]]) {
      const trial = await tryOut(seed, requests, faults)
      const cells = [
        String(seed).padEnd(7),
        (faults.length > 0 ? 'yes' : 'no').padEnd(8),
        String(trial.twice).padEnd(8),
        String(trial.aborted).padEnd(10),
        String(trial.timedOut).padEnd(12),
        trial.verdict.verdict.padEnd(15),
        String(trial.suspects).padEnd(11),
        trial.twice === 0 ? '' : trial.located ? 'yes' : 'no',
      ]
      process.stdout.write(`${cells.join('').trimEnd()}\n`)
      if (trial.verdict.verdict === 'inconclusive')
        process.stdout.write(`       ${trial.verdict.why}\n`)
    }
  }
}
