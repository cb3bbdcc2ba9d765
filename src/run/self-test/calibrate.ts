import { scenarioFrom } from '../../scenario/parse.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import { type Ceiling, dropAttempts } from '../../store/runs/runs.ts'
import { openStore, type Store } from '../../store/session/open.ts'
import type { Session } from '../../store/session/session.ts'
import { userError } from '../../user/user-error.ts'
import type { Progress } from '../count/progress.ts'
import { placeOf, run } from '../run.ts'
import { autocannonPerS, type CrossCheck, loadAutocannon } from './cross-check.ts'
import { startNullServer } from './null-server.ts'

export interface CalibrateOptions {
  readonly threads: number
  /** Length of each of the two measurements. */
  readonly seconds: number
  /** A second client, which also measures plain responses. */
  readonly with?: CrossCheck
  readonly onProgress?: (progress: Progress) => void
  readonly signal?: AbortSignal
}

export interface Calibration extends Ceiling {
  /** Plain responses per second of autocannon; null if it did not run. */
  readonly autocannonPerS: number | null
  readonly runIds: readonly string[]
}

const usersOf = ({ threads }: CalibrateOptions) => 64 * threads
const prompt = 'How fast?'
const maxTokens = 16

/** Events of a stream of the null server. */
const eventsOfStream = 100

/**
 * Measures how much this machine can send: a closed loop without think time against the null server,
 * with everything recorded. Plain responses give requests per second, streams give events per second.
 * The store keeps the figures, but not the attempts.
 *
 * @throws the signal's reason if it is aborted
 */
export async function calibrate(
  store: Store | string,
  options: CalibrateOptions,
): Promise<Calibration> {
  if (options.with !== undefined) await loadAutocannon()
  const server = await startNullServer(eventsOfStream)
  try {
    const measure = async (stream: boolean) => {
      const scenario = calibrationScenario(options, stream)
      const { runId } = await run(scenario, {
        kind: 'calibrate',
        baseUrl: server.baseUrl,
        ...placeOf(store),
        keys: { default: 'calibration' },
        ...(options.onProgress && { onProgress: options.onProgress }),
        ...(options.signal && { signal: options.signal }),
      })
      options.signal?.throwIfAborted()
      return runId
    }
    const plain = await measure(false)
    const streams = await measure(true)
    const other =
      options.with === undefined
        ? null
        : await autocannonPerS(server.baseUrl, {
            prompt,
            maxTokens,
            connections: usersOf(options),
            threads: options.threads,
            seconds: options.seconds,
          })
    const opened = typeof store === 'string' ? await openStore(store) : store
    let session: Session | undefined
    try {
      session = await opened.session({ writes: 'attempts' })
      const ceiling: Ceiling = {
        plainPerS: await steadyPerS(session, plain),
        eventsPerS: (await steadyPerS(session, streams)) * eventsOfStream,
        threads: options.threads,
      }
      for (const runId of [plain, streams]) {
        await dropAttempts(session, runId)
        await session.execute('UPDATE runs SET verdict_json = $2 WHERE run_id = $1', [
          runId,
          JSON.stringify({ ceiling }),
        ])
      }
      return { ...ceiling, autocannonPerS: other, runIds: [plain, streams] }
    } finally {
      session?.close()
      if (opened !== store) opened.close()
    }
  } finally {
    server.close()
  }
}

/** Requests per second of the steady part, from the first planned send to the last end. @throws UserError without any */
export async function steadyPerS(session: Session, runId: string): Promise<number> {
  const [row] = await session.rows<{ per_s: number | null }>(
    `SELECT count(*) FILTER (outcome <> 'not_sent')
            / ((max(coalesce(closed_us, intended_us)) - min(intended_us)) / 1e6) AS per_s
     FROM attempts WHERE run_id = $1 AND part = 'steady'`,
    [runId],
  )
  if (row?.per_s != null) return row.per_s
  throw userError.run(
    `the run ${runId} ended no request in its steady part, so the ceiling of this machine is not known. Give it more time: --seconds.`,
  )
}

function calibrationScenario(options: CalibrateOptions, stream: boolean): Scenario {
  const load = { load: 'concurrency', users: usersOf(options) } as const
  return scenarioFrom({
    name: stream ? 'calibrate streams' : 'calibrate plain',
    question: 'How much can this machine send before it measures itself?',
    model: 'svc-k2',
    threads: options.threads,
    steps: {
      [stream ? 'stream' : 'plain']: { endpoint: 'chat', stream, prompt, max_tokens: maxTokens },
    },
    phases: [
      { ...load, name: 'warm-up', part: 'warmup', duration: `${options.seconds * 200}ms` },
      { ...load, name: 'steady', duration: `${options.seconds}s` },
    ],
    max_in_flight: 1_000_000,
    timeouts: { connect: '30s', first_byte: '30s', idle: '30s', total: '30s' },
    capture: 'none',
  })
}
