import { z } from 'zod'
import { baseUrlSays, isBaseUrl } from '../contract/base-url.ts'
import { endpoints, wrongRequests } from '../contract/request.ts'
import {
  abortFields,
  affinityFields,
  columnFields,
  contextFields,
  expectFields,
  fileFields,
  gapFields,
  keyFields,
  lengthFields,
  metricsFields,
  objectiveFields,
  phaseFields,
  prefixFields,
  promptFields,
  rampFields,
  sessionFields,
  stageFields,
  startFields,
  stepFields,
  stopFields,
  taskFields,
  thresholdFields,
  timeoutFields,
  toolFields,
  turnFields,
} from './descriptions.ts'
import {
  amount,
  counted,
  duration,
  either,
  flag,
  list,
  map,
  money,
  oneOf,
  rate,
  shape,
  share,
  text,
  whole,
} from './fields.ts'
import { budgetNames, traceFormats, traceUnits } from './scenario.ts'
import { parseThreshold } from './threshold.ts'

/**
 * The shape of a scenario file and of the argument of `defineScenario`. Units are parsed here: the output
 * has numbers in microseconds, per second and 0 to 1. `references.ts` checks relations between parts.
 */

/** Tokens of a made-up prompt, and prompts of a pool, at most. */
const mostTokens = 10_000_000
const mostPrompts = 1_000_000

const tokenLengths = either(
  [
    counted(mostTokens),
    shape(lengthFields, 'uniform', {
      uniform: shape(lengthFields, 'min and max', {
        min: counted(mostTokens),
        max: counted(mostTokens),
      }),
    }),
    shape(lengthFields, '', {
      normal: shape(lengthFields, 'mean and sd', { mean: amount('tokens'), sd: amount('tokens') }),
    }),
    shape(lengthFields, '', {
      lognormal: shape(lengthFields, 'median, sigma', {
        median: amount('tokens'),
        sigma: amount('sigma'),
      }),
    }),
    shape(lengthFields, '', { empirical: list(whole(1), 'token counts').min(1) }),
  ],
  'a number of tokens, or one of { uniform: { min, max } }, { normal: { mean, sd } }, { lognormal: { median, sigma } }, { empirical: [counts] }',
)

const promptPrefix = shape(prefixFields, 'a prefix: { tokens, shared }', {
  tokens: counted(mostTokens),
  shared: oneOf(['all', 'group', 'none']).default('all'),
  groups: whole(1).optional(),
})

const promptOptions = [
  text('a prompt'),
  shape(promptFields, '', { file: text('a path') }),
  shape(promptFields, '', {
    synthetic: tokenLengths,
    pool: counted(mostPrompts).optional(),
    prefix: promptPrefix.optional(),
  }),
] as const
const promptSays =
  'a prompt: a text, { file: path }, or { synthetic: tokens } with tokens a number or a distribution'

/** An answer, as the function of an expectation sees it. */
export interface AnswerToCheck {
  /** All its text; empty for none. */
  readonly text: string
  /** The tools that it calls, with arguments as JSON text. */
  readonly tools: readonly { readonly name: string; readonly arguments: string }[]
  /** Completion tokens that the service reports; null for none. */
  readonly completionTokens: number | null
}

/** Judges an answer: true if it is correct; false, or why it is wrong. It must not wait for anything. */
export type AnswerCheck = (answer: AnswerToCheck) => boolean | string

/** The argument of a prompt function. */
export interface PromptContext {
  /** Index of the request in its phase. */
  readonly index: number
  /** Turn of the conversation, from 0. */
  readonly turn: number
  /** Uniform in [0, 1), the same for the same seed and index. */
  random(): number
}

export type PromptFunction = (context: PromptContext) => string

const jsonSchema = either(
  [text('a path'), z.literal(true), map(z.unknown(), 'a JSON Schema')],
  'a JSON Schema, the path of one, or true',
)

const expectation = <Check extends z.ZodType>(check: Check) =>
  shape(expectFields, `what the answer must hold: ${Object.keys(expectFields).join(', ')}`, {
    contains: either(
      [text('a text'), list(text('a text'), 'a list of texts').min(1)],
      'a text, or a list of texts',
    ).optional(),
    matches: text('a regular expression').optional(),
    exact: z.string({ error: 'a text' }).optional(),
    least_tokens: whole(1).optional(),
    json: jsonSchema.optional(),
    tool: either(
      [
        text('the name of a tool'),
        shape(toolFields, '', {
          name: text('the name of a tool'),
          arguments: jsonSchema.optional(),
        }),
      ],
      'the name of a tool, or { name, arguments }',
    ).optional(),
    check: check.optional(),
  }).optional()

const modulePath = text('the path of a module')
const moduleCheck = either(
  [modulePath, z.custom<AnswerCheck>((value) => typeof value === 'function')],
  'the path of a module, or a function',
)

const filePrompt = either(promptOptions, promptSays)
const modulePrompt = either(
  [...promptOptions, z.custom<PromptFunction>((value) => typeof value === 'function')],
  `${promptSays}; or a function`,
)

const think = either(
  [
    duration(),
    shape(lengthFields, '', { min: duration(), max: duration() }),
    shape(lengthFields, '', { mean: duration() }),
  ],
  'a think time: a duration, { min, max } for uniform, or { mean } for exponential',
)

const abortPoint = either(
  [
    oneOf(['before-headers', 'after-headers', 'first-event', 'before-done']),
    shape(abortFields, '', { events: whole(1) }),
    shape(abortFields, '', { after: duration() }),
  ],
  'before-headers, after-headers, first-event, before-done, { events: 5 } or { after: 800ms }',
)

/** Sums of weights stay exact. */
const mostWeight = 1e9
const tooHeavy = 'a weight of at most 1,000,000,000'

const weight = () =>
  z
    .number({ error: 'a weight of 0 or more' })
    .nonnegative({ error: 'a weight of 0 or more' })
    .max(mostWeight, { error: tooHeavy })

const scalar = either([z.string(), z.number(), z.boolean()], 'a text')

const step = <Prompt extends z.ZodType, Check extends z.ZodType>(prompt: Prompt, check: Check) =>
  shape(stepFields, 'a step: endpoint, and what it sends', {
    weight: weight().default(1),
    endpoint: oneOf(endpoints),
    path: z
      .string({ error: 'a path that begins with /' })
      .regex(/^\/[!-~]*$/, {
        error: 'a path that begins with /, of printable ASCII without spaces',
      })
      .optional(),
    method: oneOf(['GET', 'POST', 'OPTIONS', 'DELETE', 'PUT']).optional(),
    stream: flag().default(false),
    include_usage: flag().default(false),
    model: text('a model').nullish(),
    prompt: prompt.optional(),
    system: text('a text').nullish(),
    max_tokens: whole(1).nullish(),
    wrong: oneOf(wrongRequests).optional(),
    abort: abortPoint.optional(),
    session: shape(sessionFields, 'a session: { turns, think }', {
      turns: whole(2),
      think: think.optional(),
    }).optional(),
    expect: expectation(check),
    headers: map(scalar.transform(String), 'headers: a mapping of name to text').default({}),
    body: map(z.unknown(), 'fields of the body: a mapping').default({}),
    keys: list(text('the name of a key'), 'a list of names of keys').default([]),
  })

/** Requests of one task at most. */
const mostRepeats = 1000
const mostChildren = 100

const toolTime = either(
  [
    duration(),
    shape(lengthFields, '', { min: duration(), max: duration() }),
    shape(lengthFields, '', { mean: duration() }),
    shape(lengthFields, '', {
      lognormal: shape(lengthFields, 'median, sigma', {
        median: duration(),
        sigma: amount('sigma'),
      }),
    }),
  ],
  'a delay: a duration, { min, max }, { mean }, or { lognormal: { median, sigma } }',
)

const turnNames = either(
  [text('the name of a turn'), list(text('the name of a turn'), 'a list of names of turns')],
  'the name of a turn, or a list of them',
)

const turn = shape(turnFields, 'a turn: name, step, after', {
  name: text('a name'),
  step: text('the name of a step'),
  after: turnNames.optional(),
  join: oneOf(['all', 'first']).default('all'),
  delay: toolTime.optional(),
  repeat: either(
    [
      counted(mostRepeats),
      shape(lengthFields, '', { min: counted(mostRepeats), max: counted(mostRepeats) }),
    ],
    'how often: a whole number from 1, or { min, max }',
  ).default(1),
  children: counted(mostChildren).default(1),
  context: oneOf(['same', 'new']).default('same'),
  takes: turnNames.optional(),
  tools: flag().default(false),
})

const task = shape(taskFields, 'a task: turns', {
  weight: weight().default(1),
  turns: list(turn, 'a list of turns').min(1, { error: 'at least one turn' }),
  deadline: duration().optional(),
  affinity: either(
    [
      shape(affinityFields, '', { header: text('the name of a header') }),
      shape(affinityFields, '', { repeat: text('the name of a header') }),
    ],
    '{ header: name } or { repeat: name }',
  ).optional(),
  context: shape(contextFields, 'a limit: { limit, at_limit: { compact } }', {
    limit: whole(1),
    at_limit: shape(contextFields, '{ compact: tokens }', { compact: counted(mostTokens) }),
  }).optional(),
  prefix: promptPrefix.optional(),
})

const rateOrRamp = either(
  [rate(), shape(rampFields, '', { from: rate(), to: rate() })],
  'a rate such as 20/s or 1200/min, or a ramp { from: 1/s, to: 50/s }',
)

const common = {
  name: text('a name'),
  part: oneOf(['warmup', 'steady', 'drain']).default('steady'),
  steps: list(text('the name of a step'), 'a list of names of steps').default([]),
  tasks: list(text('the name of a task'), 'a list of names of tasks').default([]),
}
const begun = {
  start: either(
    [z.literal('middle'), shape(startFields, '', { middle: whole(1) })],
    'middle, or { middle: number of tasks }',
  ).optional(),
}
const bounded = {
  ...common,
  ...begun,
  duration: duration().optional(),
  max_requests: whole(1).optional(),
}
const spacing = {
  arrivals: oneOf(['constant', 'poisson', 'gamma']).default('poisson'),
  burstiness: amount('a shape from 0.001: 1 is Poisson, less is burstier')
    .min(0.001, {
      error: 'a shape from 0.001: 1 is Poisson, less is burstier',
    })
    .optional(),
}

const loads = [
  shape(phaseFields, 'a phase', { load: z.literal('constant'), rate: rateOrRamp, ...bounded }),
  shape(phaseFields, 'a phase', { load: z.literal('poisson'), rate: rateOrRamp, ...bounded }),
  shape(phaseFields, 'a phase', {
    load: z.literal('gamma'),
    rate: rateOrRamp,
    burstiness: amount('a shape from 0.001: 1 is Poisson, less is burstier').min(0.001, {
      error: 'a shape from 0.001: 1 is Poisson, less is burstier',
    }),
    ...bounded,
  }),
  shape(phaseFields, 'a phase', {
    load: z.literal('stages'),
    stages: list(
      shape(stageFields, 'a stage: { rate, duration }', { rate: rateOrRamp, duration: duration() }),
      'a list of stages: { rate, duration }',
    ).min(1, { error: 'at least one stage' }),
    ...spacing,
    ...common,
    ...begun,
    max_requests: whole(1).optional(),
  }),
  shape(phaseFields, 'a phase', {
    load: z.literal('day'),
    /** Mean over a day. */
    rate: rate(),
    weights: list(weight(), '24 weights, one for each hour').length(24, {
      error: '24 weights, one for each hour',
    }),
    days: amount('a number of days').default(1),
    duration: duration(),
    ...spacing,
    ...common,
    ...begun,
    max_requests: whole(1).optional(),
  }),
  shape(phaseFields, 'a phase', {
    load: z.literal('concurrency'),
    users: either(
      [whole(1), shape(rampFields, '', { from: whole(0), to: whole(1), over: duration() })],
      'a number of users, or a ramp { from: 1, to: 50, over: 30s }',
    ),
    think: think.optional(),
    ...bounded,
  }),
  shape(phaseFields, 'a phase', {
    load: z.literal('saturate'),
    connections: whole(1),
    ...common,
    duration: duration(),
  }),
  shape(phaseFields, 'a phase', {
    load: z.literal('sweep'),
    start: either([z.literal('auto'), rate()], 'auto, or a rate such as 20/s').default('auto'),
    max: rate(),
    budget: oneOf(budgetNames).optional(),
    for: duration().optional(),
    trial: duration().optional(),
    cool_down: duration().optional(),
    precision: share().optional(),
    hold: whole(100).optional(),
    headroom: whole(0).default(1),
    goodput: share().optional(),
    ...spacing,
    ...common,
  }),
  shape(phaseFields, 'a phase', {
    load: z.literal('replay'),
    file: text('a path'),
    format: oneOf(traceFormats).optional(),
    unit: oneOf(traceUnits).optional(),
    columns: shape(columnFields, '', {
      time: text('a column name'),
      input: text('a column name'),
      output: text('a column name'),
      session: text('a column name').optional(),
    }).optional(),
    speed: amount('a speed: 1 is as recorded, 10 ten times as fast').default(1),
    gaps: either(
      [oneOf(['recorded', 'none']), shape(gapFields, '', { cap: duration() })],
      'recorded, none, or { cap: 10s }',
    ).optional(),
    users: whole(1).optional(),
    ...bounded,
  }),
] as const

const loadNames = loads.map((load) => load.shape.load.value)

const phase = z.discriminatedUnion('load', loads, {
  error: `a phase whose load is one of ${loadNames.join(', ')}`,
})

const threshold = z
  .string({ error: 'a threshold such as chat.ttft.p95 < 800ms' })
  .superRefine((written, context) => {
    const read = parseThreshold(written)
    if (typeof read === 'string') context.addIssue({ code: 'custom', message: read })
  })

const thresholds = list(
  either(
    [threshold, shape(thresholdFields, '', { check: threshold, abort: flag().default(false) })],
    'a threshold such as chat.ttft.p95 < 800ms, or { check: threshold, abort: true }',
  ),
  'a list of thresholds such as chat.ttft.p95 < 800ms',
)

const fileShape = <Prompt extends z.ZodType, Check extends z.ZodType>(
  prompt: Prompt,
  check: Check,
) =>
  shape(fileFields, 'a scenario: name, question, steps, phases', {
    $schema: z.string().optional(),
    name: text('a name'),
    question: text('the question that the scenario answers, in a sentence'),
    seed: whole(0).default(1),
    base_url: z.url({ error: baseUrlSays }).refine(isBaseUrl, { error: baseUrlSays }).optional(),
    threads: whole(1).optional(),
    pacing: oneOf(['timer', 'precise']).default('timer'),
    shards: oneOf(['by index', 'by account']).default('by index'),
    transport: oneOf(['own', 'undici', 'http2']).default('own'),
    proxy_env: text('the name of a variable that holds the URL of a proxy').optional(),
    metrics: shape(metricsFields, 'metrics: from, every, keep', {
      from: list(
        z.union([z.literal('auto'), z.url({ protocol: /^https?$/ })], {
          error: 'auto, or an http or https URL of metrics',
        }),
        'metrics.from: a list of auto and URLs',
      ).default(['auto']),
      every: duration().optional(),
      keep: oneOf(['known', 'all']).default('known'),
    }).optional(),
    ca_file: text('a path of a PEM file').optional(),
    cert_file: text('a path of a PEM file').optional(),
    key_file: text('a path of a PEM file').optional(),
    model: text('a model').optional(),
    keys: map(
      shape(keyFields, 'where a key comes from: { env: NAME } or { file: path }', {
        env: text('the name of a variable').optional(),
        file: text('a path').optional(),
        weight: amount('a weight above 0').max(mostWeight, { error: tooHeavy }).default(1),
        account: text('a name').optional(),
        optional: flag().default(false),
      }),
      'keys: a mapping of name to { env: NAME } or { file: path }',
    ).optional(),
    steps: map(step(prompt, check), 'steps: a mapping of name to step'),
    tasks: map(task, 'tasks: a mapping of name to task').default({}),
    phases: list(phase, 'a list of phases').min(1, { error: 'at least one phase' }),
    thresholds: thresholds.default([]),
    objectives: shape(objectiveFields, 'objectives: ttft, tpot, service, response, task', {
      ttft: duration().optional(),
      tpot: duration().optional(),
      service: duration().optional(),
      response: duration().optional(),
      task: duration().optional(),
    }).default({}),
    retries: oneOf(['none', 'specification']).default('none'),
    max_in_flight: whole(1).default(10_000),
    max_connections: whole(1).optional(),
    max_memory_mb: whole(1).default(512),
    max_credits: whole(1).optional(),
    max_cost: money().optional(),
    timeouts: shape(timeoutFields, 'timeouts: connect, first_byte, idle, total', {
      connect: duration().optional(),
      first_byte: duration().optional(),
      idle: duration().optional(),
      total: duration().optional(),
    }).default({}),
    stop: shape(stopFields, 'stop conditions: error_share, consecutive_failures, refused_for', {
      error_share: share().optional(),
      consecutive_failures: whole(1).optional(),
      refused_for: duration().optional(),
    }).default({}),
    capture: oneOf(['all', 'sample', 'none']).default('sample'),
  })

export const scenarioFile = fileShape(filePrompt, modulePath)
export const scenarioModule = fileShape(modulePrompt, moduleCheck)

/** A scenario as written. */
export type ScenarioInput = z.input<typeof scenarioModule>
/** A scenario with its units read and its defaults filled in. */
export type ScenarioOutput = z.output<typeof scenarioModule>
