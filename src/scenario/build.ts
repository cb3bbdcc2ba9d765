import { resolve } from 'node:path'
import type { Contract } from '../contract/contract.ts'
import { type AbortPoint, takesPrompt } from '../contract/request.ts'
import { usualOf } from '../contract/usual.ts'
import { plainText } from '../user/hostile.ts'
import type {
  Expectation,
  JsonSchema,
  KeySource,
  Load,
  Phase,
  Prompt,
  PromptPrefix,
  RateSegment,
  Scenario,
  Search,
  Spacing,
  Step,
  Task,
  ThinkTime,
  Threshold,
  TokenLengths,
  Turn,
} from './scenario.ts'
import type { ScenarioOutput } from './schema.ts'
import { parseThreshold } from './threshold.ts'

type PhaseOutput = ScenarioOutput['phases'][number]
type StepOutput = ScenarioOutput['steps'][string]

/** Keys of a scenario that has none. */
const defaultKeys: readonly KeySource[] = [
  { name: 'default', source: { env: 'ASSAY_API_KEY' }, weight: 1, account: 'default' },
]

export interface Origin {
  /** Folder of relative paths. */
  readonly folder: string
  readonly modulePath: string | null
  /** Source of the deadlines that a scenario omits. */
  readonly contract: Contract
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
  return freeze({
    name: sentence(file.name),
    question: sentence(file.question),
    seed: file.seed,
    baseUrl: file.base_url ?? null,
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
    steps: Object.entries(file.steps).map(([name, step]) => stepOf(name, step, file, origin)),
    tasks: Object.entries(file.tasks).map(([name, task]) => taskOf(name, task)),
    phases: file.phases.map((phase) => phaseOf(phase, origin, file)),
    thresholds: file.thresholds.map(thresholdOf),
    objectives: {
      ttftUs: file.objectives.ttft ?? null,
      tpotUs: file.objectives.tpot ?? null,
      serviceUs: file.objectives.service ?? null,
      responseUs: file.objectives.response ?? null,
    },
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
    modulePath: origin.modulePath,
  })
}

const pathOf = (path: string | undefined, { folder }: Origin) =>
  path === undefined ? null : resolve(folder, path)

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

function stepOf(name: string, step: StepOutput, file: ScenarioOutput, origin: Origin): Step {
  const model = step.model === undefined ? (file.model ?? null) : step.model
  return {
    name,
    weight: step.weight,
    endpoint: step.endpoint,
    path: step.path ?? null,
    method: step.method ?? null,
    stream: step.stream,
    includeUsage: step.include_usage,
    model: takesPrompt(step.endpoint) ? model : null,
    prompt: promptOf(step.prompt, origin),
    system: step.system ?? null,
    maxTokens: step.max_tokens ?? null,
    wrong: step.wrong ?? null,
    abort: abortOf(step.abort),
    session:
      step.session === undefined
        ? null
        : { turns: step.session.turns, think: thinkOf(step.session.think) },
    expect: expectationsOf(step.expect, origin),
    headers: step.headers,
    body: step.body,
    keys: step.keys,
  }
}

type ExpectOutput = NonNullable<StepOutput['expect']>

/** In the order in which they are checked: the cheapest first. */
function expectationsOf(expect: StepOutput['expect'], origin: Origin): readonly Expectation[] {
  if (expect === undefined) return []
  const { contains, matches, exact, least_tokens: least, json, tool, check } = expect
  const found: Expectation[] = []
  if (exact !== undefined) found.push({ kind: 'exact', text: exact })
  if (contains !== undefined) {
    found.push({ kind: 'contains', texts: typeof contains === 'string' ? [contains] : contains })
  }
  if (least !== undefined) found.push({ kind: 'tokens', least })
  if (matches !== undefined) found.push({ kind: 'matches', pattern: matches })
  if (json !== undefined) found.push({ kind: 'json', json: schemaOf(json, origin) })
  if (tool !== undefined) {
    const { name, arguments: schema } =
      typeof tool === 'string' ? { name: tool, arguments: undefined } : tool
    const held = schema === undefined ? null : schemaOf(schema, origin)
    found.push({ kind: 'tool', name, arguments: held })
  }
  if (check !== undefined) {
    const path = typeof check === 'string' ? resolve(origin.folder, check) : null
    found.push({ kind: 'check', path })
  }
  return found
}

function schemaOf(schema: NonNullable<ExpectOutput['json']>, { folder }: Origin): JsonSchema {
  return typeof schema === 'string' ? { path: resolve(folder, schema) } : { schema }
}

function promptOf(prompt: StepOutput['prompt'], origin: Origin): Prompt {
  if (prompt === undefined) return { kind: 'sentence' }
  if (typeof prompt === 'string') return { kind: 'text', text: prompt }
  if (typeof prompt === 'function') return { kind: 'function' }
  if ('file' in prompt) return { kind: 'file', path: resolve(origin.folder, prompt.file) }
  const { pool = null, prefix } = prompt
  return {
    kind: 'synthetic',
    tokens: lengthsOf(prompt.synthetic),
    pool,
    prefix: prefixOf(prefix),
  }
}

type PrefixOutput = NonNullable<Extract<StepOutput['prompt'], { synthetic: unknown }>['prefix']>

function prefixOf(prefix: PrefixOutput | undefined): PromptPrefix | null {
  return prefix === undefined ? null : { tokens: prefix.tokens, texts: textsOf(prefix) }
}

function textsOf({ shared, groups }: PrefixOutput): number | null {
  switch (shared) {
    case 'all':
      return 1
    case 'group':
      return groups ?? 1
    case 'none':
      return null
  }
}

type LengthsOutput = Extract<StepOutput['prompt'], { synthetic: unknown }>['synthetic']

function lengthsOf(lengths: LengthsOutput): TokenLengths {
  if (typeof lengths === 'number') return { kind: 'fixed', tokens: lengths }
  if ('uniform' in lengths) return { kind: 'uniform', ...lengths.uniform }
  if ('normal' in lengths) return { kind: 'normal', ...lengths.normal }
  if ('lognormal' in lengths) return { kind: 'lognormal', ...lengths.lognormal }
  return { kind: 'empirical', samples: lengths.empirical }
}

function abortOf(abort: StepOutput['abort']): AbortPoint | null {
  if (abort === undefined) return null
  if (typeof abort === 'string') return { at: abort }
  return 'events' in abort
    ? { at: 'after-events', events: abort.events }
    : { at: 'after-us', us: abort.after }
}

type ThinkOutput = NonNullable<StepOutput['session']>['think']

function thinkOf(think: ThinkOutput | TurnOutput['delay']): ThinkTime {
  if (think === undefined) return { kind: 'fixed', us: 0 }
  if (typeof think === 'number') return { kind: 'fixed', us: think }
  if ('mean' in think) return { kind: 'exponential', meanUs: think.mean }
  if ('lognormal' in think) {
    const { median, sigma } = think.lognormal
    return { kind: 'lognormal', medianUs: median, sigma }
  }
  return { kind: 'uniform', minUs: think.min, maxUs: think.max }
}

type TaskOutput = ScenarioOutput['tasks'][string]
type TurnOutput = TaskOutput['turns'][number]

function taskOf(name: string, task: TaskOutput): Task {
  const { affinity, context } = task
  return {
    name,
    weight: task.weight,
    turns: task.turns.map(turnOf),
    deadlineUs: task.deadline ?? null,
    affinity:
      affinity === undefined
        ? null
        : 'header' in affinity
          ? { header: affinity.header, repeats: false }
          : { header: affinity.repeat, repeats: true },
    context:
      context === undefined
        ? null
        : { limitTokens: context.limit, compactTokens: context.at_limit.compact },
    prefix: prefixOf(task.prefix),
  }
}

function turnOf(turn: TurnOutput): Turn {
  const names = (given: string | readonly string[] = []) =>
    typeof given === 'string' ? [given] : given
  const { repeat } = turn
  return {
    name: turn.name,
    step: turn.step,
    after: names(turn.after),
    join: turn.join,
    delay: thinkOf(turn.delay),
    repeat: typeof repeat === 'number' ? { min: repeat, max: repeat } : repeat,
    children: turn.children,
    context: turn.context,
    takes: names(turn.takes),
    tools: turn.tools,
  }
}

/** Of a phase of tasks, the steps of their turns. */
function stepsOfPhase({ steps, tasks }: PhaseOutput, file: ScenarioOutput): readonly string[] {
  if (tasks.length === 0) return steps
  const used = tasks.flatMap((name) => file.tasks[name]!.turns.map(({ step }) => step))
  return [...new Set(used)]
}

function phaseOf(phase: PhaseOutput, origin: Origin, file: ScenarioOutput): Phase {
  const { objectives } = file
  return {
    name: phase.name,
    part: phase.part,
    load: loadOf(phase, origin, objectives),
    durationUs: durationOf(phase),
    maxRequests: 'max_requests' in phase ? (phase.max_requests ?? null) : null,
    steps: stepsOfPhase(phase, file),
    ...(phase.tasks.length === 0 ? {} : { tasks: phase.tasks }),
    ...middleOf(phase),
  }
}

function middleOf(phase: PhaseOutput): Pick<Phase, 'middle'> {
  if (phase.load === 'sweep' || !('start' in phase) || phase.start === undefined) return {}
  return { middle: phase.start === 'middle' ? 'by load' : phase.start.middle }
}

function durationOf(phase: PhaseOutput): number | null {
  if (phase.load === 'stages') return phase.stages.reduce((sum, stage) => sum + stage.duration, 0)
  return 'duration' in phase ? (phase.duration ?? null) : null
}

function loadOf(
  phase: PhaseOutput,
  origin: Origin,
  objectives: ScenarioOutput['objectives'],
): Load {
  switch (phase.load) {
    case 'constant':
    case 'poisson':
      return {
        kind: 'arrivals',
        spacing: { kind: phase.load },
        rate: [segmentOf(phase.rate, phase.duration ?? 0)],
      }
    case 'gamma':
      return {
        kind: 'arrivals',
        spacing: { kind: 'gamma', shape: phase.burstiness },
        rate: [segmentOf(phase.rate, phase.duration ?? 0)],
      }
    case 'stages':
      return {
        kind: 'arrivals',
        spacing: spacingOf(phase),
        rate: phase.stages.map((stage) => segmentOf(stage.rate, stage.duration)),
      }
    case 'day':
      return { kind: 'arrivals', spacing: spacingOf(phase), rate: daySegments(phase) }
    case 'concurrency': {
      const { users } = phase
      const ramp = typeof users === 'number' ? { from: users, to: users, over: 0 } : users
      return {
        kind: 'concurrency',
        fromUsers: ramp.from,
        toUsers: ramp.to,
        rampUs: ramp.over,
        think: thinkOf(phase.think),
      }
    }
    case 'saturate':
      return { kind: 'saturate', connections: phase.connections }
    case 'sweep':
      return {
        kind: 'sweep',
        spacing: spacingOf(phase),
        search: searchOf(phase, objectives),
      }
    case 'replay':
      return {
        kind: 'replay',
        path: resolve(origin.folder, phase.file),
        format: phase.format ?? (phase.columns === undefined ? null : 'columns'),
        unit: phase.unit ?? null,
        columns: phase.columns ?? null,
        speed: phase.speed,
        gaps: gapsOf(phase.gaps ?? (phase.users === undefined ? undefined : 'recorded')),
        users: phase.users ?? null,
      }
  }
}

function gapsOf(
  gaps: Extract<PhaseOutput, { load: 'replay' }>['gaps'],
): Extract<Load, { kind: 'replay' }>['gaps'] {
  if (gaps === undefined) return null
  return { capUs: gaps === 'recorded' ? null : gaps === 'none' ? 0 : gaps.cap }
}

/** A backlog is judged by this if no objective is a time. */
const defaultBoundUs = 1e6

function searchOf(
  phase: Extract<PhaseOutput, { load: 'sweep' }>,
  { ttft = 0, service = 0, response = 0, task }: ScenarioOutput['objectives'],
): Search {
  const mostUs = phase.for ?? null
  const isOfTasks = phase.tasks.length > 0
  return {
    startPerS: phase.start === 'auto' ? null : phase.start,
    maxPerS: phase.max,
    goodput: phase.goodput ?? 0.99,
    ...(isOfTasks ? { ofTasks: { withinUs: task ?? null } } : {}),
    boundUs: Math.max(ttft, service, response, (isOfTasks && task) || 0) || defaultBoundUs,
    budget: phase.budget ?? (mostUs === null ? 'standard' : null),
    mostUs,
    precision: phase.precision ?? null,
    hold: phase.hold ?? null,
    headroom: phase.headroom,
    trialUs: phase.trial ?? null,
    coolDownUs: phase.cool_down ?? null,
  }
}

function segmentOf(
  rate: number | { readonly from: number; readonly to: number },
  durationUs: number,
): RateSegment {
  return typeof rate === 'number'
    ? { durationUs, fromPerS: rate, toPerS: rate }
    : { durationUs, fromPerS: rate.from, toPerS: rate.to }
}

function spacingOf(phase: {
  readonly arrivals: 'constant' | 'poisson' | 'gamma'
  readonly burstiness?: number | undefined
}): Spacing {
  return phase.arrivals === 'gamma'
    ? { kind: 'gamma', shape: phase.burstiness ?? 1 }
    : { kind: phase.arrivals }
}

/** Hours of equal length; their rates follow the weights and have the given mean over a day. */
function daySegments(phase: Extract<PhaseOutput, { load: 'day' }>): readonly RateSegment[] {
  const hourUs = phase.duration / (phase.days * 24)
  const sum = phase.weights.reduce((total, weight) => total + weight, 0)
  const hours = Math.ceil(phase.days * 24)
  return Array.from({ length: hours }, (_, hour) => {
    const perS = sum === 0 ? 0 : (phase.rate * 24 * phase.weights[hour % 24]!) / sum
    return { durationUs: hourUs, fromPerS: perS, toPerS: perS }
  })
}

function thresholdOf(threshold: ScenarioOutput['thresholds'][number]): Threshold {
  const { check, abort } =
    typeof threshold === 'string' ? { check: threshold, abort: false } : threshold
  const read = parseThreshold(check, abort)
  if (typeof read === 'string') throw new Error(`unchecked threshold: ${read}`)
  return read
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const item of Object.values(value)) freeze(item)
    Object.freeze(value)
  }
  return value
}
