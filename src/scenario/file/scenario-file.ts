import { z } from 'zod'
import { baseUrlSays, isBaseUrl } from '../../contract/base-url.ts'
import { mostTags, tagNameProblem } from '../../contract/tag-name.ts'
import {
  duration,
  flag,
  limit,
  list,
  map,
  money,
  oneOf,
  shape,
  share,
  someTime,
  someWeight,
  text,
  whole,
} from '../fields.ts'
import { captures, pacings, retryRules, shardings, transports, warmUps } from '../scenario.ts'
import { moduleCheck, modulePath } from './expect.ts'
import { phase } from './loads.ts'
import { filePrompt, modulePrompt } from './prompt.ts'
import { step } from './step.ts'
import { task } from './task.ts'
import { thresholds } from './threshold.ts'

/**
 * The fields of a scenario file and of the argument of `defineScenario`: their form, their range, their default and
 * their sentence. Units are read here: the output has microseconds, numbers per second, and shares of 0 to 1.
 * `references.ts` checks relations between parts.
 */

const metrics = shape('metrics: from, every, keep', {
  from: [
    list(
      z.union([z.literal('auto'), z.url({ protocol: /^https?$/ })], {
        error: 'auto, or an http or https URL of metrics',
      }),
      'metrics.from: a list of auto and URLs',
    ).default(['auto']),
    'Addresses, or auto: /metrics of the service, else /prometheus/metrics, else ports 8002, 8081 and 9090 on its host.',
  ],
  every: [duration().optional(), 'Time between two scrapes, from 100ms. Default 1s.'],
  keep: [
    oneOf(['known', 'all']).default('known'),
    'known: the families that answer a question of a client. all: every family.',
  ],
})

const key = shape('where a key comes from: { env: NAME } or { file: path }', {
  env: [text('the name of a variable').optional(), 'Name of the variable that holds the key.'],
  file: [text('a path').optional(), 'File that holds the key.'],
  weight: [someWeight().default(1), 'Share of the requests, relative to the other keys.'],
  account: [
    text('a name').optional(),
    'Name of the account; keys of one account share its balance.',
  ],
  optional: [
    flag().default(false),
    'Whether the variable may be missing, for a service without keys.',
  ],
})

const objectives = shape('objectives: ttft, tpot, service, response, task', {
  ttft: [
    limit().optional(),
    'Time to the first token of a stream, at most; as each other limit of a request, it may grow with its tokens: 300ms + 0.2ms/input_token.',
  ],
  tpot: [limit().optional(), 'Time per output token after the first, at most.'],
  service: [limit().optional(), 'Time from the send to the end of the response, at most.'],
  response: [
    limit().optional(),
    'Time from the intended send to the end of the response, at most.',
  ],
  task: [
    duration().optional(),
    'Time from the planned start of a task to its end, at most; for a search by tasks.',
  ],
})

const tokenDeadlines = shape('token_deadlines: first, next', {
  first: [someTime('a deadline'), 'Of the first token of a stream, from the send.'],
  next: [someTime('a deadline'), 'Of each next token, from the one before.'],
})

const timeout = someTime('a timeout').optional()
const timeouts = shape('timeouts: connect, first_byte, idle, total', {
  connect: [timeout, 'To connect, TLS included.'],
  first_byte: [timeout, 'From the send to the first byte of the response.'],
  idle: [timeout, 'Between two pieces of the response.'],
  total: [timeout, 'From the send to the end of the response.'],
})

const stop = shape('stop conditions: error_share, consecutive_failures, refused_for', {
  error_share: [
    share().optional(),
    'Share of failures among all requests, from the hundredth request on.',
  ],
  consecutive_failures: [whole(1).optional(), 'Failures in a row.'],
  refused_for: [
    someTime('a duration').optional(),
    'How long every request may get no connection or a 401. Default: 30s.',
  ],
})

const baseUrl = z.url({ error: baseUrlSays }).refine(isBaseUrl, { error: baseUrlSays })

const target = shape('a target: base_url, key_env, contract', {
  base_url: [baseUrl, 'Address of the service, with or without /v1.'],
  key_env: [
    text('the name of a variable that holds a key').optional(),
    'Name of the variable that holds its API key. Default: the keys of the scenario.',
  ],
  contract: [
    text('a path of a contract').optional(),
    'The contract that this service is judged by. Default: that of the run.',
  ],
})
const targets = shape('targets: a and b', {
  a: [target, 'The service to compare with.'],
  b: [target, 'The other service.'],
})

const tags = map(
  text('the name of a header'),
  'tags: a mapping of names to headers, such as team: X-Team',
).superRefine((given, context) => {
  const names = Object.keys(given)
  const wrong = names.find((name) => tagNameProblem(name) !== null)
  if (wrong !== undefined)
    context.addIssue({ code: 'custom', message: `${wrong}: ${tagNameProblem(wrong)}` })
  if (names.length > mostTags)
    context.addIssue({ code: 'custom', message: `expected at most ${mostTags} tags` })
})

const pemFile = text('a path of a PEM file').optional()

const fileShape = <Prompt extends z.ZodType, Check extends z.ZodType>(
  prompt: Prompt,
  check: Check,
) =>
  shape('a scenario: name, question, steps, phases', {
    $schema: [z.string().optional(), 'Address of the JSON Schema, for editors.'],
    name: [text('a name'), 'Name of the scenario; runs carry it.'],
    question: [
      text('the question that the scenario answers, in a sentence'),
      'The question that the scenario answers, in a sentence.',
    ],
    seed: [whole(0).default(1), 'Seed of every draw: the same seed is the same plan.'],
    base_url: [
      baseUrl.optional(),
      'Address of the service, with or without /v1; --base-url overrides it.',
    ],
    targets: [
      targets.optional(),
      'Two services to compare in one run: each request goes to both, in random order. In place of base_url.',
    ],
    threads: [
      whole(1).optional(),
      'Sending threads. They share one plan. Default: as many as the plan needs and the machine has.',
    ],
    pacing: [
      oneOf(pacings).default('timer'),
      'timer: sleeps until a request is due. precise: spins, and takes a core for each thread.',
    ],
    tags: [
      tags.optional(),
      'Own dimensions of usage: a name, and the header of the requests that has its value, such as team: X-Team.',
    ],
    shards: [
      oneOf(shardings).default('by index'),
      'by index: shards share out the requests. by account: each account has one shard.',
    ],
    transport: [
      oneOf(transports).default('own'),
      'own: HTTP/1.1 of Assay. undici: HTTP/1.1 of undici. http2: HTTP/2.',
    ],
    proxy_env: [
      text('the name of a variable that holds the URL of a proxy').optional(),
      'Name of the variable that holds the URL of an HTTP proxy.',
    ],
    metrics: [
      metrics.optional(),
      "The service's own metrics (Prometheus): where they are, and how often to read them.",
    ],
    ca_file: [
      pemFile,
      'PEM file of further authorities to trust; certificates are always verified.',
    ],
    cert_file: [
      pemFile,
      "PEM file of the client's own certificate, for a service that asks for one.",
    ],
    key_file: [pemFile, 'PEM file of the key of cert_file, without a passphrase.'],
    model: [text('a model').optional(), 'Model of every step that names none.'],
    keys: [
      map(key, 'keys: a mapping of name to { env: NAME } or { file: path }').optional(),
      'API keys by name, each from a variable or a file. Default: ASSAY_API_KEY.',
    ],
    steps: [
      map(step(prompt, check), 'steps: a mapping of name to step'),
      'What to send: requests by name.',
    ],
    tasks: [
      map(task, 'tasks: a mapping of name to task').default({}),
      'What agents do: requests that wait for each other, by name of the task.',
    ],
    phases: [
      list(phase, 'a list of phases').min(1, { error: 'at least one phase' }),
      'When to send: phases that follow each other without a gap.',
    ],
    thresholds: [
      thresholds.default([]),
      'What must hold, such as chat.ttft.p95 < 800ms. One that misses gives exit code 3.',
    ],
    objectives: [objectives.default({}), 'What each request must meet to count as good (goodput).'],
    token_deadlines: [
      tokenDeadlines.optional(),
      'When a reader expects each token of a stream: { first: 1s, next: 50ms }. The measure fluidity says how many deadlines were kept.',
    ],
    retries: [
      oneOf(retryRules).default('none'),
      'specification: retry as the service advises, each attempt a row.',
    ],
    max_in_flight: [
      whole(1).default(10_000),
      'Requests in flight at most; beyond it a request is not sent.',
    ],
    max_connections: [
      whole(1).optional(),
      'Connections at most; beyond it requests wait. Default: no bound.',
    ],
    max_memory_mb: [
      whole(1).default(512),
      'Memory for answers in flight, of the whole run, in MB.',
    ],
    max_credits: [
      whole(1).optional(),
      'Stop before the run spends more credits. Default: no bound.',
    ],
    max_cost: [
      money().optional(),
      'Stop before the run spends more money by the prices of the contract, in its currency: 0.50. Default: no bound.',
    ],
    timeouts: [timeouts.default({}), 'Deadlines of an attempt. Default: those of the contract.'],
    stop: [
      stop.default({}),
      'When the run gives up by itself. Default: after 30 s of nothing but refusals.',
    ],
    warmup: [
      oneOf(warmUps).optional(),
      'auto: cut the warm-up off the first phase, where its times become steady. Default: report a cold start, and cut nothing.',
    ],
    capture: [
      oneOf(captures).default('sample'),
      'Bodies to keep: all; a sample of successes and failures; none.',
    ],
  })

export const scenarioFile = fileShape(filePrompt, modulePath)
export const scenarioModule = fileShape(modulePrompt, moduleCheck)

/** A scenario as written. */
export type ScenarioInput = z.input<typeof scenarioModule>
/** A scenario with its units read and its defaults filled in. */
export type ScenarioOutput = z.output<typeof scenarioModule>
