import { fileURLToPath } from 'node:url'
import { writeReport } from '../../public/report.ts'
import { run } from '../../public/run.ts'
import { loadScenario } from '../../public/scenario.ts'
import { startService } from '../../public/service.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import { type Clock, type MovableClock, realClock } from '../../service/clock.ts'
import { inStore } from '../../store/session/in-store.ts'
import type { Store } from '../../store/session/open.ts'
import { dayUs } from '../../user/durations.ts'
import { LiveView } from '../runs/live-view.ts'

const scenarioPath = fileURLToPath(new URL('../../../scenarios/month.yaml', import.meta.url))
const days = 30
/** Thirty days of the service, in our time. */
const lastsUs = 5e6
/** Days that may pass between the first connection and the first request. */
const spare = 15
/** Requests a second, as a multiple of those of the scenario. */
const denser = 6
/** Credits of the customer: the page shows when they run out. */
const balance = 700

/**
 * Lives through thirty days on a service whose clock is fast, and writes the usage page that they make. They end at most
 * `spare` days before today: each second that a slow machine takes to begin is six days.
 */
export async function demoMonth({ db, out }: { readonly db: string; readonly out: string }) {
  const timeScale = (days * dayUs) / lastsUs
  const todayUs = Math.floor((Date.now() * 1000) / dayUs) * dayUs
  const clock = clockFrom(todayUs - (days + spare) * dayUs, timeScale)
  const service = await startService({
    clock,
    seed: 30,
    accounts: [{ name: 'customer', balance }],
    // Any wait of ours would be hours of the service.
    shape: {
      timeToFirstUs: { kind: 'constant', value: 0 },
      betweenTokensUs: { kind: 'constant', value: 0 },
    },
  })
  const live = new LiveView()
  const scenario = inFiveSeconds(await loadScenario(scenarioPath))
  try {
    const { runId } = await run(db, {
      scenario,
      baseUrl: service.baseUrl,
      timeScale,
      firstRequests: false,
      keys: { [scenario.keys[0]!.name]: service.keys[0]!.apiKey },
      onProgress: (progress) => live.show(progress),
    })
    live.clear()
    await inStore(db, async (store) =>
      writeReport(store, { page: 'usage', runIds: [runId], out, nowUs: await lastUs(store) }),
    )
  } finally {
    live.clear()
    await service.close()
  }
}

/** Stands still until the first connection: each second before it would be a week without use. */
function clockFrom(beginUs: number, timeScale: number): Clock {
  let moving: MovableClock | null = null
  const moved = () => {
    if (moving !== null) return moving
    moving = realClock(timeScale)
    moving.advance(beginUs - moving.nowUs())
    return moving
  }
  return {
    nowUs: () => moving?.nowUs() ?? beginUs,
    at: (dueUs, callback) => moved().at(dueUs, callback),
    pace: (dueUs, step) => moved().pace(dueUs, step),
    catchUp: () => moved().catchUp(),
  }
}

/** The time of the last answer by the service's clock. */
async function lastUs(store: Store): Promise<number> {
  const [last] = await store.rows<{ us: number }>(
    `SELECT max(service_start_us + headers_us * time_scale)::DOUBLE AS us
     FROM attempts JOIN run_clocks USING (run_id)`,
  )
  return last!.us
}

/** The same month in less time, at a higher rate. */
function inFiveSeconds(scenario: Scenario): Scenario {
  const phases = scenario.phases.map((phase) => {
    if (phase.load.kind !== 'arrivals' || phase.durationUs === null) return phase
    const faster = phase.durationUs / lastsUs
    const rate = phase.load.rate.map(({ durationUs, fromPerS, toPerS }) => ({
      durationUs: durationUs / faster,
      fromPerS: fromPerS * denser,
      toPerS: toPerS * denser,
    }))
    return { ...phase, durationUs: lastsUs, load: { ...phase.load, rate } }
  })
  return { ...scenario, phases }
}
