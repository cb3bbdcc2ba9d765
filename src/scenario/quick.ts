import type { Prompted } from '../contract/request.ts'
import { largest } from '../user/extremes.ts'
import type { BudgetName } from './loads.ts'
import { durationUsOf } from './quantity.ts'
import { parseThreshold, type Threshold, taskMetrics } from './threshold.ts'

/** Command-line options that replace a scenario. */
export interface QuickLoad {
  readonly model: string
  readonly endpoint: Prompted
  readonly stream: boolean
  readonly promptTokens: number
  /** Tokens of a prefix that all prompts share; 0 for none. */
  readonly prefixTokens: number
  readonly outputTokens: number
  /** Whether a chat server is made to give as many, where it can. */
  readonly output: 'at most' | 'enforced'
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** A rate such as `20/s`, a number of users, or a search up to a rate. */
  readonly load:
    | { readonly kind: 'rate'; readonly rate: string }
    | { readonly kind: 'users'; readonly users: number }
    | {
        readonly kind: 'search'
        readonly maxRate: string
        readonly budget: BudgetName | null
        /** Most time, as `285s`; null for no bound. */
        readonly mostTime: string | null
      }
  /** Length of the phase; a search has none. */
  readonly duration: string
  /** Thresholds such as `ttft.p95 < 800ms`. */
  readonly objectives: readonly string[]
  readonly maxCredits: number | null
  /** Addresses of the service's metrics, none to look for them; null for no metrics. */
  readonly metrics: readonly string[] | null
  /** PEM file of further authorities to trust. */
  readonly caFile: string | null
}

/** Metrics that can be objectives of a search. */
const objectives: readonly string[] = ['ttft', 'tpot', 'service', 'response']

/**
 * The text of a scenario file for a quick load, which can also be saved.
 *
 * @throws RangeError for an objective that a search cannot have
 */
export function quickScenario(quick: QuickLoad): string {
  const { load, duration, stream, endpoint } = quick
  const lines = [
    'name: bench',
    `question: ${questionOf(quick)}`,
    `model: ${JSON.stringify(quick.model)}`,
    ...(quick.metrics === null
      ? []
      : [
          `metrics: ${quick.metrics.length === 0 ? '{}' : `{ from: ${JSON.stringify(quick.metrics)} }`}`,
        ]),
    ...(quick.caFile === null ? [] : [`ca_file: ${JSON.stringify(quick.caFile)}`]),
    'keys: { default: { env: ASSAY_API_KEY, optional: true } }',
    'steps:',
    `  ${endpoint}${stream ? '-stream' : ''}:`,
    `    endpoint: ${endpoint}`,
    ...(stream ? ['    stream: true'] : []),
    ...(stream && endpoint === 'chat' ? ['    include_usage: true'] : []),
    `    prompt: { synthetic: ${quick.promptTokens}${quick.prefixTokens === 0 ? '' : `, prefix: { tokens: ${quick.prefixTokens} }`} }`,
    ...(endpoint === 'embeddings'
      ? []
      : [
          `    ${quick.output === 'enforced' && endpoint === 'chat' ? 'output_tokens' : 'max_tokens'}: ${quick.outputTokens}`,
        ]),
    ...(quick.headers.length === 0
      ? []
      : [
          '    headers:',
          ...quick.headers.map(
            ([name, value]) => `      ${JSON.stringify(name)}: ${JSON.stringify(value)}`,
          ),
        ]),
  ]
  if (load.kind === 'search') {
    const shares = quick.objectives.map((text) => shareOfObjective(text))
    const [twice] = [...Map.groupBy(shares, ({ objective }) => objective)].flatMap(
      ([objective, { length }]) => (length > 1 ? [objective] : []),
    )
    if (twice !== undefined)
      throw new RangeError(
        `--slo: a search has one bound of ${twice}; got ${quick.objectives.join(' and ')}. Leave out all but one.`,
      )
    for (const each of [
      'objectives:',
      ...shares.map(({ objective, bound }) => `  ${objective}: ${bound}`),
      'phases:',
      `  - { name: search, load: sweep, max: ${load.maxRate}${load.budget === null ? '' : `, budget: ${load.budget}`}${load.mostTime === null ? '' : `, for: ${load.mostTime}`}, goodput: ${largest(shares.map(({ percent }) => percent))}% }`,
    ])
      lines.push(each)
  } else {
    const warmUpS = Math.min(5, (durationUsOf(duration) ?? 30e6) / 6e6)
    const warmUp = `${Math.max(0.1, warmUpS).toFixed(1)}s`
    const phase =
      load.kind === 'rate'
        ? `load: poisson, rate: ${load.rate}`
        : `load: concurrency, users: ${load.users}`
    for (const each of [
      'phases:',
      `  - { name: warm-up, part: warmup, ${phase}, duration: ${warmUp} }`,
      `  - { name: steady, ${phase}, duration: ${duration} }`,
      'thresholds:',
      ...quick.objectives.map((text) => `  - ${JSON.stringify(text)}`),
      '  - errors < 1%',
    ])
      lines.push(each)
  }
  if (quick.maxCredits !== null) lines.push(`max_credits: ${quick.maxCredits}`)
  return `${lines.join('\n')}\n`
}

function questionOf({ load, objectives }: QuickLoad): string {
  const goal = objectives.join(' and ')
  switch (load.kind) {
    case 'rate':
      return JSON.stringify(`Does the service meet ${goal} at ${load.rate}?`)
    case 'users':
      return JSON.stringify(`Does the service meet ${goal} with ${load.users} users?`)
    case 'search':
      return JSON.stringify(`What is the highest rate at which the service meets ${goal}?`)
  }
}

/** Turns `ttft.p95 < 800ms` into an objective that 95 % of requests must meet. */
function shareOfObjective(text: string): {
  readonly objective: string
  readonly bound: string
  readonly percent: number
} {
  const threshold = parseThreshold(text)
  if (typeof threshold === 'string')
    throw new RangeError(`--slo: expected ${threshold}; got ${text}.`)
  const { metric, boundText, phase, step, filter } = threshold
  if (taskMetrics.includes(metric)) {
    throw new RangeError(
      `--slo: ${metric} is of tasks, and bench sends single requests; got ${text}. Write a scenario with tasks and a phase { load: sweep, tasks: […] }, such as scenarios/agents-at-once.yaml, and start it with assay run.`,
    )
  }
  if (phase !== null || step !== null || Object.keys(filter).length > 0)
    throw new RangeError(
      `--slo: a search judges all of its requests; got ${text}, which is of some. Leave out the phase, the step and the filter.`,
    )
  const percent = percentOf(threshold)
  if (!objectives.includes(metric) || percent === null) {
    throw new RangeError(
      `--slo: a search expects a percentile of ${objectives.join(', ')} below a time, such as ttft.p95 < 800ms; got ${text}. Give --rate for any other threshold.`,
    )
  }
  return { objective: metric, bound: boundText, percent }
}

/** Percent of the requests that must be below the bound of an objective; null if it is none. */
function percentOf({ statistic, operator, bound, ownLimit }: Threshold): number | null {
  if (ownLimit !== null) return bound < 1 ? Number((bound * 100).toFixed(6)) : null
  return statistic.kind === 'percentile' && operator.startsWith('<') ? statistic.p : null
}
