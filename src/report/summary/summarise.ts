import { type Contract, costOf } from '../../contract/contract.ts'
import { generatesSql } from '../../contract/request.ts'
import { standings } from '../../measure/standings.ts'
import { otherTries } from '../../store/runs/run-shards.ts'
import { type RunRow, resolveRun } from '../../store/runs/runs.ts'
import type { Store } from '../../store/session/open.ts'
import { inSession, type Session } from '../../store/session/session.ts'
import { isObject, jsonOf } from '../../user/json.ts'
import { userError } from '../../user/user-error.ts'
import type { Work } from '../../user/work.ts'
import { readCertificate } from '../certificate/read.ts'
import { closedPhases } from '../closed-phases.ts'
import { readBalances } from './balances.ts'
import { readErrors } from './errors.ts'
import { readFluidity } from './fluidity.ts'
import { countedOf, readGroups } from './groups.ts'
import { readLengths } from './lengths.ts'
import { machineOf } from './machines.ts'
import { readMoney } from './money.ts'
import { readToldByService } from './service-metrics.ts'
import type { RunSummary } from './shape.ts'
import { readTasks } from './tasks.ts'
import { readWrongAnswers } from './wrong-answers.ts'

/**
 * All figures of a run, from its rows. Percentiles are exact, with linear interpolation. Latencies are those of
 * successes, with timeouts as "at least the deadline"; failures are separate. Figures cover the steady part, if any.
 *
 * @param contract prices of the successes
 * @throws UserError when the store holds no such run; the signal's reason, once it is aborted
 */
export const summarise = (
  store: Store,
  runId: string,
  contract: Contract,
  work: Pick<Work, 'signal'> = {},
): Promise<RunSummary> => inSession(store, work, (session) => summariseIn(session, runId, contract))

/** The same within the session of another operation. */
export async function summariseIn(
  session: Session,
  runId: string,
  contract: Contract,
): Promise<RunSummary> {
  const run = await readRun(session, runId)
  await session.takeAttemptsAtHand({ values: true })
  const counted = countedOf(runId, run.scenario_json)
  const phases = await session.rows<{ phase: string; part: string }>(
    `SELECT DISTINCT phase, part FROM request_kinds WHERE run_id = $1 AND ${standings.counted.sql}`,
    [runId],
  )
  const groups = await readGroups(session, counted)
  const all = groups[0]!
  const steps = groups.filter((group) => group.step !== null)
  if (all.counts.attempts === 0) throw userError.report(`run ${runId} has no attempts`)
  const counts = all.counts
  return {
    format: 'assay-run-summary/1',
    run: {
      runId,
      kind: run.kind,
      scenario: run.scenario,
      seed: Number(run.seed),
      baseUrl: run.base_url,
      contract: run.contract,
      startedAt: run.started_at.toISOString(),
      endedS: run.ended_us === null ? null : Number(run.ended_us) / 1e6,
      timeScale: run.time_scale,
      assayVersion: run.assay_version,
      machine: machineOf(run.machine_json),
    },
    verdict: run.verdict,
    verdictTests: testsOf(run.verdict_json),
    countsAddUp:
      counts.attempts === counts.sent + counts.notSent &&
      counts.sent ===
        counts.ok + counts.httpError + counts.broken + counts.timeout + counts.aborted,
    certificate: await readCertificate(session, run, steps),
    part: phases.some(({ part }) => part === 'steady') ? 'steady' : 'all',
    closedPhases: closedPhases(run.scenario_json).filter((closed) =>
      phases.some(({ phase }) => phase === closed),
    ),
    all,
    steps,
    errors: counts.attempts === counts.ok ? [] : await readErrors(session, counted),
    tasks: await readTasks(session, runId, contract),
    lengths: await readLengths(session, counted, run.scenario_json),
    fluidity: await readFluidity(session, counted),
    wrongAnswers: all.correctness === null ? [] : await readWrongAnswers(session, counted),
    money: await readMoney(session, [runId, ...(await otherTries(session, runId))], contract),
    credits: await readCredits(session, runId, contract),
    service: (await readToldByService(session, runId))?.metrics ?? null,
  }
}

async function readRun(session: Session, runId: string): Promise<RunRow> {
  const [run] = await session.rows<RunRow>('SELECT * FROM runs WHERE run_id = $1', [runId])
  if (run === undefined) {
    await resolveRun(session, runId)
    throw userError.report(`${session.path}: no run "${runId}"`)
  }
  return run
}

async function readCredits(
  session: Session,
  runId: string,
  contract: Contract,
): Promise<RunSummary['credits']> {
  const balances = await readBalances(session, runId, contract)
  const own = await readSpent(session, runId, contract)
  const tries: (Spent & { readonly runId: string })[] = []
  for (const id of await otherTries(session, runId)) {
    tries.push({ runId: id, ...(await readSpent(session, id, contract)) })
  }
  const sum = (name: 'spent' | 'spentAtMost') =>
    [own, ...tries].reduce<number | null>(
      (total, { [name]: each }) => (total === null || each === null ? null : total + each),
      0,
    )
  return {
    stated: own.stated,
    spent: sum('spent'),
    spentAtMost: sum('spentAtMost'),
    balances: [...balances],
    otherTries: tries.map((each) => ({ runId: each.runId, spent: each.spent })),
  }
}

type Spent = Pick<RunSummary['credits'], 'stated' | 'spent' | 'spentAtMost'>

async function readSpent(session: Session, runId: string, contract: Contract): Promise<Spent> {
  const models = await session.rows<{ model: string | null; ok: number; ambiguous: number }>(
    `SELECT coalesce(model, response_model) AS model,
            count(*) FILTER (WHERE outcome = 'ok')::INTEGER AS ok,
            count(*) FILTER (WHERE outcome IN ('broken', 'timeout', 'aborted')
                               AND sent_us IS NOT NULL)::INTEGER AS ambiguous
     FROM attempts WHERE run_id = $1 AND ${generatesSql} GROUP BY 1`,
    [runId],
  )
  const total = (of: (row: { ok: number; ambiguous: number }) => number) =>
    models.reduce<number | null>((sum, row) => {
      const n = of(row)
      if (n === 0 || sum === null) return sum
      const price = row.model === null ? null : costOf(contract, row.model)
      return price === null ? null : sum + n * price
    }, 0)
  const isStated = ({ model }: (typeof models)[number]) =>
    model !== null && costOf(contract, model) !== null
  return {
    stated: models.some(isStated),
    spent: total((row) => row.ok),
    spentAtMost: total((row) => row.ok + row.ambiguous),
  }
}

/** The tests of a stored verdict: a list, or an object with a list. */
function testsOf(text: string | null): unknown[] {
  const value = text === null ? [] : jsonOf(text)
  if (Array.isArray(value)) return value
  return isObject(value) ? (Object.values(value).find(Array.isArray) ?? [value]) : []
}
