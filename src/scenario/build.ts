import { resolve } from 'node:path'
import { usualOf } from '../contract/usual.ts'
import { plainText } from '../user/hostile.ts'
import { type Origin, pathOf } from './file/origin.ts'
import { phaseOf } from './file/phase.ts'
import type { ScenarioOutput } from './file/scenario-file.ts'
import { stepOf } from './file/step.ts'
import { taskOf } from './file/task.ts'
import { thresholdOf } from './file/threshold.ts'
import type { KeySource, Scenario } from './scenario.ts'

/** Keys of a scenario that has none. */
const defaultKeys: readonly KeySource[] = [
  { name: 'default', source: { env: 'ASSAY_API_KEY' }, weight: 1, account: 'default' },
]

type TargetsOutput = NonNullable<ScenarioOutput['targets']>

function targetsOf({ a, b }: TargetsOutput, origin: Origin): NonNullable<Scenario['targets']> {
  const one = ({ base_url, key_env, contract }: TargetsOutput['a']) => ({
    baseUrl: base_url,
    keyEnv: key_env ?? null,
    contract: pathOf(contract, origin),
  })
  return { a: one(a), b: one(b) }
}

/** A look takes longer than this on a large service. */
const leastEveryUs = 100_000

function metricsOf({ metrics }: ScenarioOutput): Scenario['metrics'] {
  if (metrics === undefined) return null
  const { from, every = 1_000_000, keep } = metrics
  return { from, everyUs: Math.max(leastEveryUs, every), keepsAll: keep === 'all' }
}

/** Builds the frozen scenario from a checked file; it cannot fail. */
export function buildScenario(file: ScenarioOutput, origin: Origin): Scenario {
  const { timeouts } = usualOf(origin.contract)
  const ms = 1000
  const stepsOfTask = (name: string) => file.tasks[name]!.turns.map(({ step }) => step)
  return freeze({
    name: sentence(file.name),
    question: sentence(file.question),
    seed: file.seed,
    baseUrl: file.base_url ?? null,
    ...(file.targets === undefined ? {} : { targets: targetsOf(file.targets, origin) }),
    threads: file.threads ?? null,
    pacing: file.pacing,
    shards: file.shards,
    transport: file.transport,
    proxyEnv: file.proxy_env ?? null,
    metrics: metricsOf(file),
    caFile: pathOf(file.ca_file, origin),
    certFile: pathOf(file.cert_file, origin),
    keyFile: pathOf(file.key_file, origin),
    keys: keysOf(file, origin),
    ...(file.tags === undefined ? {} : { tags: file.tags }),
    steps: Object.entries(file.steps).map(([name, step]) => stepOf(name, step, file.model, origin)),
    tasks: Object.entries(file.tasks).map(([name, task]) => taskOf(name, task)),
    phases: file.phases.map((phase) =>
      phaseOf(phase, { origin, objectives: file.objectives, stepsOfTask }),
    ),
    thresholds: file.thresholds.map(thresholdOf),
    objectives: {
      ttftUs: file.objectives.ttft ?? null,
      tpotUs: file.objectives.tpot ?? null,
      serviceUs: file.objectives.service ?? null,
      responseUs: file.objectives.response ?? null,
    },
    ...(file.token_deadlines === undefined
      ? {}
      : {
          tokenDeadlines: {
            firstUs: file.token_deadlines.first,
            nextUs: file.token_deadlines.next,
          },
        }),
    policy: {
      retries: file.retries,
      maxInFlight: file.max_in_flight,
      maxConnections: file.max_connections ?? null,
      maxMemoryBytes: file.max_memory_mb * 2 ** 20,
      maxCredits: file.max_credits ?? null,
      maxCost: file.max_cost ?? null,
      connectTimeoutUs: file.timeouts.connect ?? timeouts.connectMs * ms,
      firstByteTimeoutUs: file.timeouts.first_byte ?? timeouts.readMs * ms,
      idleTimeoutUs: file.timeouts.idle ?? timeouts.streamMs * ms,
      totalTimeoutUs: file.timeouts.total ?? timeouts.streamMs * ms,
      stop: {
        errorShare: file.stop.error_share ?? null,
        consecutiveFailures: file.stop.consecutive_failures ?? null,
        refusedForUs: file.stop.refused_for ?? 30_000 * ms,
      },
    },
    capture: file.capture,
    ...(file.warmup === undefined ? {} : { warmUp: file.warmup }),
    modulePath: origin.modulePath,
  })
}

function keysOf(file: ScenarioOutput, origin: Origin): readonly KeySource[] {
  if (file.keys === undefined) return defaultKeys
  return Object.entries(file.keys).map(([name, key]) => ({
    name,
    source:
      key.env === undefined
        ? { file: resolve(origin.folder, key.file ?? '') }
        : { env: key.env, ...(key.optional ? { optional: true as const } : {}) },
    weight: key.weight,
    account: key.account ?? name,
  }))
}

/** What a scenario says of itself reaches terminals and pages. */
const sentence = (text: string) => plainText(text, '\n').trim()

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const item of Object.values(value)) freeze(item)
    Object.freeze(value)
  }
  return value
}
