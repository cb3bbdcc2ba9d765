/** Descriptions of the fields of a scenario, which editors show. */

export const fileFields = {
  $schema: 'Address of the JSON Schema, for editors.',
  name: 'Name of the scenario; runs carry it.',
  question: 'The question that the scenario answers, in a sentence.',
  seed: 'Seed of every draw: the same seed is the same plan. Default 1.',
  base_url: 'Address of the service, with or without /v1; --base-url overrides it.',
  threads:
    'Sending threads. They share one plan. Default: as many as the plan needs and the machine has.',
  pacing:
    'timer: sleeps until a request is due. precise: spins, and takes a core for each thread. Default timer.',
  shards:
    'by index: shards share out the requests. by account: each account has one shard. Default by index.',
  transport: 'own: HTTP/1.1 of Assay. undici: HTTP/1.1 of undici. http2: HTTP/2. Default own.',
  proxy_env: 'Name of the variable that holds the URL of an HTTP proxy.',
  metrics: "The service's own metrics (Prometheus): where they are, and how often to read them.",
  ca_file: 'PEM file of further authorities to trust; certificates are always verified.',
  cert_file: "PEM file of the client's own certificate, for a service that asks for one.",
  key_file: 'PEM file of the key of cert_file, without a passphrase.',
  model: 'Model of every step that names none.',
  keys: 'API keys by name, each from a variable or a file. Default: ASSAY_API_KEY.',
  steps: 'What to send: requests by name.',
  tasks: 'What agents do: requests that wait for each other, by name of the task.',
  phases: 'When to send: phases that follow each other without a gap.',
  thresholds: 'What must hold, such as chat.ttft.p95 < 800ms. One that misses gives exit code 3.',
  objectives: 'What each request must meet to count as good (goodput).',
  retries: 'specification: retry as the service advises, each attempt a row. Default none.',
  max_in_flight: 'Requests in flight at most; beyond it a request is not sent. Default 10,000.',
  max_connections: 'Connections at most; beyond it requests wait. Default: no bound.',
  max_memory_mb: 'Memory for answers in flight, of the whole run, in MB. Default 512.',
  max_credits: 'Stop before the run spends more credits. Default: no bound.',
  max_cost:
    'Stop before the run spends more money by the prices of the contract, in its currency: 0.50. Default: no bound.',
  timeouts: 'Deadlines of an attempt. Default: those of the contract.',
  stop: 'When the run gives up by itself. Default: after 30 s of nothing but refusals.',
  capture: 'Bodies to keep: all; a sample of successes and failures; none. Default sample.',
} as const

export const stepFields = {
  weight: 'Share of the requests, relative to the other steps. Default 1.',
  endpoint: 'chat, messages, responses, embeddings, models, credits, or other with a path.',
  path: "Path of the endpoint other, or instead of the endpoint's own.",
  method: 'HTTP method. Default: that of the endpoint.',
  stream: 'Ask for a stream of events. Default false.',
  include_usage: 'Ask a chat stream for its token counts. Default false.',
  model: 'The model; null sends none.',
  prompt: 'What the user says: a text, { file: path }, or { synthetic: tokens }.',
  system: 'The system prompt.',
  max_tokens: 'The most tokens of an answer.',
  wrong: 'Make the request wrong on purpose; its error is then no failure.',
  abort: 'Abort on purpose at this point of the response.',
  session: 'A conversation: each turn carries all turns before it, on one key.',
  expect: 'What a successful answer must hold to be correct.',
  headers: 'Further headers. They are kept as evidence, so none may carry a key.',
  body: 'Further fields of the body; they replace those of Assay.',
  keys: 'Names of the keys that the step may use. Default: all.',
} as const

export const sessionFields = {
  turns: 'Number of turns, at least 2.',
  think: 'Time between an answer and the next turn. Default none.',
} as const

export const expectFields = {
  contains: 'A text, or several, that the answer contains.',
  matches: 'A regular expression of JavaScript that the answer matches somewhere.',
  exact: 'The whole answer, for temperature 0.',
  least_tokens: 'The least completion tokens, as the service reports them.',
  json: 'The answer is JSON: a JSON Schema, the path of one, or true for any JSON.',
  tool: 'A tool that the answer calls: its name, or { name, arguments }.',
  check: 'A module whose default export judges the answer: true, false, or why it is wrong.',
} as const

export const taskFields = {
  weight: 'Share of the tasks, relative to the others. Default 1.',
  turns: 'The requests of the task.',
  deadline: 'The task is aborted so long after its planned start. Default: never.',
  affinity: 'A header that ties the requests of a task together.',
  context: 'The longest conversation, and what becomes of a longer one.',
  prefix: 'Text at the start of each conversation: { tokens, shared }.',
} as const

export const turnFields = {
  name: 'Name of the turn.',
  step: 'The request that it sends.',
  after: 'The turn, or the turns, that must end before it. Default: the start of the task.',
  join: 'all: waits for all of after. first: the first one decides, and the rest is aborted. Default all.',
  delay: 'Time of a tool: from the end of the last of after to the send. Default none.',
  repeat: 'How often, one after the other: a number, or { min, max }. Default 1.',
  children: 'How many such series at the same time. Default 1.',
  context:
    'same: continues the conversation of the first of after. new: begins its own. Default same.',
  takes: 'Turns whose answers are part of its prompt.',
  tools:
    'Offer a tool; the next request of the conversation answers its calls with its own prompt. Default false.',
} as const

export const startFields = {
  middle: 'Number of tasks that have begun already, each at a drawn turn.',
} as const

export const affinityFields = {
  header: 'Name of a header with a value of its own for each task.',
  repeat: 'Name of a header that repeats what the service sent last in it.',
} as const

export const contextFields = {
  limit: 'Tokens of a conversation, at most.',
  at_limit: 'What becomes of a longer one: { compact: tokens }.',
  compact: 'It is replaced by a text of so many tokens.',
} as const

export const toolFields = {
  name: 'Name of the tool.',
  arguments: 'What its arguments must hold: a JSON Schema, or the path of one. Default: any.',
} as const

export const keyFields = {
  env: 'Name of the variable that holds the key.',
  file: 'File that holds the key.',
  weight: 'Share of the requests, relative to the other keys. Default 1.',
  optional: 'Whether the variable may be missing, for a service without keys. Default false.',
  account: 'Name of the account; keys of one account share its balance.',
} as const

export const metricsFields = {
  from: 'Addresses, or auto: /metrics of the service, else of ports 8002, 8081 and 9090 on its host. Default [auto].',
  every: 'Time between two looks, from 100ms. Default 1s.',
  keep: 'known: the families that answer a question of a client. all: every family. Default known.',
}

export const phaseFields = {
  load: 'How requests arrive.',
  name: 'Name of the phase.',
  part: 'warmup, steady or drain; figures are of steady phases. Default steady.',
  steps: 'Names of the steps to draw from. Default: all that have a weight.',
  tasks: 'Names of the tasks to draw from, instead of single requests.',
  rate: 'Requests a second: 20/s, or a ramp { from: 1/s, to: 50/s }; of a day, its mean.',
  duration: 'How long the phase lasts.',
  max_requests: 'Requests at most.',
  burstiness: 'Shape of the gamma distribution of gaps: 1 is Poisson, less is burstier.',
  stages: 'Rates or ramps, one after the other.',
  arrivals: 'Gaps between requests: constant, poisson or gamma. Default poisson.',
  weights: 'One weight for each hour of a day.',
  days: 'Days that pass within the duration. Default 1.',
  users:
    'Users, each with one request in flight: 50, or { from: 1, to: 50, over: 30s }. Of a replay, so many do one recorded session after the other.',
  think: 'Time between an answer and the next request of a user. Default none.',
  connections: 'Connections, each sending without a pause.',
  start:
    'Of a search, its first rate; default auto: the rate that has one request in flight. Of tasks, middle: the first have begun already.',
  max: 'Highest rate of the search.',
  budget:
    'What the search may spend: quick, standard or thorough. Default standard, or what fits into for.',
  for: 'Most time of the search.',
  trial: 'Least length of each trial.',
  cool_down: 'Pause after a failed trial. Default a tenth of it, at most 5s.',
  precision: 'Ratio of neighbouring rates at the end, instead of that of the budget.',
  hold: 'Requests of the hold that confirms the rate, instead of those of the budget and its least time of 60s.',
  headroom: 'Steps between the rate that held and the rate that is called safe. Default 1.',
  goodput: 'Share of requests that must meet the objectives in a trial. Default 99%.',
  file: 'The trace.',
  format:
    'Format of the trace. Default: recognised by its fields. columns is any other CSV or JSON Lines.',
  unit: 'Unit of the times in the trace. Default: read from its format and its rows.',
  columns: 'Names of the columns of a trace in no known format.',
  speed: 'Speed of the replay: 10 is ten times as fast. Default 1.',
  gaps: 'Wait for the answer before, and then for the recorded gap: recorded, none, or { cap: 10s }. Default: send at the recorded times.',
} as const

export const gapFields = {
  cap: 'The longest gap.',
} as const

export const columnFields = {
  time: 'Column of the time of a request: a number, or an instant such as 2024-05-12T00:00:02Z.',
  input: 'Column of the tokens of the prompt.',
  output: 'Column of the tokens of the answer.',
  session: 'Column of the conversation, if there is one.',
} as const

export const objectiveFields = {
  ttft: 'Time to the first token of a stream, at most.',
  tpot: 'Time per output token after the first, at most.',
  service: 'Time from the send to the end of the response, at most.',
  response: 'Time from the intended send to the end of the response, at most.',
  task: 'Time from the planned start of a task to its end, at most; for a search by tasks.',
} as const

export const timeoutFields = {
  connect: 'To connect, TLS included.',
  first_byte: 'From the send to the first byte of the response.',
  idle: 'Between two pieces of the response.',
  total: 'From the send to the end of the response.',
} as const

export const stopFields = {
  error_share: 'Share of failures among all requests, from the hundredth request on.',
  consecutive_failures: 'Failures in a row.',
  refused_for: 'How long every request may get no connection or a 401. Default: 30s.',
} as const

export const lengthFields = {
  uniform: 'Any number from min to max, each as likely.',
  normal: 'A normal distribution.',
  lognormal: 'A lognormal distribution.',
  empirical: 'One of these numbers, each as likely.',
  min: 'The least.',
  max: 'The most.',
  mean: 'The mean.',
  sd: 'The standard deviation.',
  median: 'The median.',
  sigma: 'The standard deviation of the logarithm.',
} as const

export const promptFields = {
  file: 'A file with a prompt on each line.',
  synthetic: 'Tokens of made-up text: a number, or a distribution.',
  pool: 'Number of different prompts, the same in every run. Default: each request has its own.',
  prefix: 'Text before the prompt, for the prefix cache of the service.',
} as const

export const prefixFields = {
  tokens: 'Tokens of the prefix, before those of synthetic.',
  shared: 'all: one prefix. group: one for each group. none: another in each request. Default all.',
  groups: 'Number of groups, each as likely.',
} as const

export const abortFields = {
  events: 'Abort after so many events of the stream.',
  after: 'Abort so long after the send.',
} as const

export const rampFields = {
  from: 'Where the ramp begins.',
  to: 'Where the ramp ends.',
  over: 'How long the ramp takes.',
} as const

export const stageFields = {
  rate: 'Requests a second in the stage: 20/s, or a ramp.',
  duration: 'How long the stage lasts.',
} as const

export const thresholdFields = {
  check: 'The threshold, such as errors < 1%.',
  abort: 'End the run as soon as the threshold is clearly missed. Default false.',
} as const
