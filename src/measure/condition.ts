/**
 * A condition on a figure, as thresholds, gates and objectives write it:
 *
 *     condition = [phase "/"] [step "."] metric ["{" filter "}"] ["." statistic] comparison bound
 *
 * Each reader has metrics of its own, and says which statistics, filters, comparisons and bounds they take.
 */
export interface Condition<Metric extends string> extends Figure<Metric> {
  readonly text: string
  readonly operator: (typeof comparisons)[number]
  readonly bound: string
}

/** The left side of a condition: a figure by its name. */
export interface Figure<Metric extends string> {
  readonly phase: string | null
  readonly step: string | null
  readonly metric: Metric
  /** What stands between the braces; null without them. */
  readonly filter: string | null
  readonly statistic: string | null
}

export const notACondition = 'a metric, a comparison, a bound'
const comparisons = ['<', '<=', '>', '>=', '=='] as const

/** The expressions below take time by the square of the length. */
const longest = 1000

/**
 * @param metrics the names that the reader knows
 * @param standard the metric of a statistic without a metric; none is allowed without it
 * @returns the condition, or a noun phrase for what was expected
 */
export function parseCondition<Metric extends string>(
  text: string,
  metrics: readonly Metric[],
  standard?: Metric,
): Condition<Metric> | string {
  if (text.length > longest) return `a condition of at most ${longest} characters`
  const sides = /^\s*(\S.*?)\s*(<=|>=|==|<|>)\s*(\S.*?)\s*$/.exec(text)
  if (sides === null) return notACondition
  const [, left, written, bound] = sides as unknown as [string, string, string, string]
  const operator = comparisons.find((known) => known === written)!
  const figure = parseFigure(left, metrics, standard)
  if (figure === null) return `a metric before ${operator}, one of ${metrics.join(', ')}`
  return { ...figure, text: text.trim(), operator, bound }
}

/** @returns null if it names no metric */
export function parseFigure<Metric extends string>(
  text: string,
  metrics: readonly Metric[],
  standard?: Metric,
): Figure<Metric> | null {
  if (text.length > longest) return null
  const [, phase = null, name = ''] = /^\s*(?:([^/{}]+)\/)?(.*?)\s*$/.exec(text) ?? []
  // The last metric is the one that is meant, so a step may have the name of a metric.
  const named = new RegExp(
    String.raw`^(?:([^{}]+)\.)?(${metrics.join('|')})(?:\{([^{}]*)\})?(?:\.(${statistic}))?$`,
  ).exec(name)
  const metric = metrics.find((known) => known === named?.[2])
  if (named !== null && metric !== undefined) {
    const [, step = null, , filter = null, statistic = null] = named
    return { phase, step, metric, filter, statistic }
  }
  const alone = new RegExp(String.raw`^(?:([^{}]+)\.)?(${statistic})$`).exec(name)
  if (standard === undefined || alone === null) return null
  return { phase, step: alone[1] ?? null, metric: standard, filter: null, statistic: alone[2]! }
}

const statistic = String.raw`p\d+(?:\.\d+)?|[a-z]+`
