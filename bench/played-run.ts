import { audit } from '../src/audit/audit.ts'
import type { Finding } from '../src/audit/verdict.ts'
import type { Credits, FullContract } from '../src/contract/contract.ts'
import { defaultContract } from '../src/contract/default.ts'
import { run } from '../src/run/run.ts'
import { parseScenario } from '../src/scenario/parse.ts'
import type { ProfileAnswers } from '../src/service/profile.ts'
import { startService } from '../src/service/start.ts'
import { openExistingStore } from '../src/store/session/open.ts'

export interface Played {
  readonly scenario: string
  readonly seed: number
  /** Of the one account. */
  readonly balance: Credits
  readonly faults: readonly string[]
  readonly profile?: ProfileAnswers
  readonly dbPath: string
}

/**
 * Plays a scenario once against a service of its own in this process, into a store.
 *
 * @returns the credits that were taken beyond what the successes cost: below zero were spared
 */
export async function playRun(played: Played): Promise<Credits> {
  const { scenario, seed, balance, faults, profile, dbPath } = played
  const service = await startService({
    seed,
    faults,
    ...(profile === undefined ? {} : { profile }),
    accounts: [{ name: 'main', balance }],
  })
  try {
    const [key] = service.keys
    const parsed = parseScenario(scenario, 'played.yaml', defaultContract)
    const { runId } = await run(parsed, {
      baseUrl: service.baseUrl,
      dbPath,
      seed,
      keys: Object.fromEntries(parsed.keys.map(({ name }) => [name, key!.apiKey])),
    })
    const taken = balance - service.operator.balance(key!.account)
    return taken - (await priceOf(dbPath, runId, defaultContract, profile?.readsCharged ?? 'none'))
  } finally {
    await service.close()
  }
}

/** What an honest service takes for the successes of a run in which nobody left. */
async function priceOf(
  dbPath: string,
  runId: string,
  { models }: FullContract,
  readsCharged: NonNullable<ProfileAnswers['readsCharged']>,
): Promise<Credits> {
  const store = await openExistingStore(dbPath)
  try {
    const rows = await store.rows<{ endpoint: string; model: string | null; count: number }>(
      `SELECT endpoint, model, count(*)::DOUBLE AS count FROM attempts
       WHERE run_id = $1 AND outcome = 'ok' AND key_fp IS NOT NULL GROUP BY ALL`,
      [runId],
    )
    const priceOf = (endpoint: string, model: string | null) =>
      endpoint === 'chat' || endpoint === 'messages'
        ? models.find(({ id }) => id === model)!.costCredits
        : readsCharged === 'both' || readsCharged === endpoint
          ? 1
          : 0
    return rows.reduce(
      (sum, { endpoint, model, count }) => sum + count * priceOf(endpoint, model),
      0,
    )
  } finally {
    store.close()
  }
}

/** What some rules say of all runs of a store. */
export async function findingsOf(
  dbPath: string,
  rules: readonly string[],
): Promise<readonly Finding[]> {
  const store = await openExistingStore(dbPath)
  try {
    const { findings } = await audit(store, {
      contract: defaultContract,
      rules,
      auditId: 'bench',
      auditedAt: new Date(0),
    })
    return findings
  } finally {
    store.close()
  }
}
