import { takesPrompt } from '../contract/request.ts'
import type { Phase, Scenario, Step } from '../scenario/scenario.ts'
import type { Store } from '../store/open.ts'
import type { Coordinator, Loads } from './coordinator.ts'
import { type Refusal, refusalOf } from './refusal.ts'

/** The phase of first requests: its rows are kept, and no figure is made of them. */
export const firstPhase = 'first requests'

/** A service may think long: after this the load begins, and what is in flight ends beside it. */
const mostWaitUs = 10e6

const onceASecond = [{ durationUs: 1e6, fromPerS: 1, toPerS: 1 }]

/**
 * Sends one request of each kind before the load, one after the other. The first that the service
 * refuses for good stops the run: a wrong path or key fails a whole load in the same way.
 */
export async function sendFirstRequests(
  coordinator: Coordinator,
  scenario: Scenario,
  loads: Loads,
): Promise<void> {
  const endUs = coordinator.now() + mostWaitUs
  for (const step of oneOfEachKind(scenario.steps)) {
    const phase: Phase = {
      name: firstPhase,
      part: 'warmup',
      load: { kind: 'arrivals', spacing: { kind: 'constant' }, rate: onceASecond },
      durationUs: 1e6,
      maxRequests: 1,
      steps: [step.name],
    }
    const { length } = coordinator.phases
    await coordinator.runPhases([phase], loads)
    await coordinator.untilDrained(endUs)
    const counters = coordinator.tally.countersWhere((run) => run.ordinal >= length)
    if (counters.some(({ errors }) => [...errors.keys()].some(isForGood))) {
      coordinator.stop('first-request')
    }
    if (coordinator.stopReason !== null || coordinator.now() > endUs) return
  }
}

/** Prompts that are meant to succeed: one for each endpoint, way of answering and model. */
function oneOfEachKind(steps: readonly Step[]): readonly Step[] {
  const kinds = new Map<string, Step>()
  for (const step of steps) {
    if (!takesPrompt(step.endpoint) || step.wrong !== null || step.weight === 0) continue
    const kind = JSON.stringify([step.endpoint, step.stream, step.model, step.keys])
    if (!kinds.has(kind)) kinds.set(kind, step)
  }
  return [...kinds.values()]
}

/** What refuses every request of a kind: the key, the account, the address. */
const forGood = new Set([401, 402, 403, 404, 405])

/** What a connection comes to where no HTTP is spoken: no head of an answer came. */
const noHttp = new Set(['protocol', 'tls', 'closed-early', 'reset'])

/**
 * Whether the load would end the same way. A 400 may be what a step is there for, unless it names
 * the model.
 *
 * @param words as errors are counted: `404 code`, `200 closed-early`, or a reason where no head came
 */
function isForGood(words: string): boolean {
  const [, status, code = ''] = /^(\d{3})\b ?(.*)$/.exec(words) ?? []
  return status === undefined
    ? noHttp.has(words)
    : forGood.has(Number(status)) || (status.startsWith('4') && /model/.test(code))
}

interface Refused extends Refusal {
  readonly method: string
  readonly path: string
  readonly step: string
}

/** The first request that was refused for good, in a sentence: what was sent, what came, the remedy. */
export async function firstRefusal(store: Store, runId: string, baseUrl: string): Promise<string> {
  const [refused] = await store.rows<Refused>(
    `SELECT templates.method, templates.path, attempts.step, status, reason, bodies.body
     FROM attempts JOIN templates USING (run_id, template)
     LEFT JOIN bodies USING (run_id, slot, retry)
     WHERE run_id = $1 AND phase = $2 AND outcome <> 'ok' ORDER BY slot DESC LIMIT 1`,
    [runId, firstPhase],
  )
  if (refused === undefined) return 'The first request was refused.'
  const { method, path, step, ...answer } = refused
  return refusalOf(`${method} ${new URL(path, baseUrl).href} (step ${step})`, answer)
}
