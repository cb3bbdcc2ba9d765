import { lacks } from '../../attempt/outcome.ts'
import { limitIn, limitSql } from '../../measure/limit.ts'
import { columnOf, cutOf, type MeasureName, measureNames } from '../../measure/measures.ts'
import { goodSql, maybeGoodSql, objectiveNames } from '../../measure/objectives.ts'
import { completedIn, steadySql } from '../../measure/rates.ts'
import { cachedShareSql } from '../../measure/shares.ts'
import { countedOfRun } from '../../measure/standings.ts'
import { type ItlFigures, readItl } from '../../store/read/itl.ts'
import type { Cell, Session } from '../../store/session/session.ts'
import { jsonOf, objectOf } from '../../user/json.ts'
import { distributionOf, type Figures, itlDistribution, noFigures } from './distribution.ts'
import { type Distribution, percentiles } from './distribution-shape.ts'
import { countsShape, type SummaryGroup } from './group-shape.ts'

const countNames = Object.keys(countsShape.shape)

const partsSql = {
  inputUncached: 'input_uncached_tokens',
  cacheRead: 'cached_tokens',
  cacheWritten: `CASE WHEN coalesce(cache_write_tokens, cache_write_1h_tokens) IS NOT NULL
    THEN coalesce(cache_write_tokens, 0) + coalesce(cache_write_1h_tokens, 0) END`,
  outputVisible: 'output_visible_tokens',
  reasoning: 'reasoning_tokens',
} as const satisfies Record<keyof SummaryGroup['tokenParts'], string>
const partNames = Object.keys(partsSql) as (keyof typeof partsSql)[]

type GroupRow = Readonly<Record<string, Cell>> & { readonly step: string | null }

/** The rows that count in the figures. */
export interface Counted {
  /** A relation with the columns of `attempt_values`. */
  readonly from: string
  /** SQL condition on `histograms` for the same attempts. */
  readonly histograms: string
  /** For both. */
  readonly parameters: readonly string[]
  /** SQL: microseconds from the start of the first run to that of the row's run. */
  readonly offsetUs: string
  /** SQL: whether a row is good, and whether one that is not may be; null without objectives and expectations. */
  readonly good: string | null
  readonly maybeGood: string | null
}

export function countedOf(runId: string, scenarioJson: string): Counted {
  const where = `run_id = $1 AND ${countedOfRun}`
  return {
    from: `(FROM attempt_values WHERE ${where})`,
    histograms: where,
    parameters: [runId],
    offsetUs: '0',
    ...goodOf(scenarioJson),
  }
}

/** What makes a request of a stored scenario good, as SQL, read leniently. */
function goodOf(scenarioJson: string): Pick<Counted, 'good' | 'maybeGood'> {
  const { objectives, steps } = objectOf(jsonOf(scenarioJson))
  const bounds = objectOf(objectives)
  const expects =
    Array.isArray(steps) && steps.some(({ expect }: StoredStep) => (expect?.length ?? 0) > 0)
  const boundOf = (name: string) => {
    const limit = limitIn(bounds[name])
    return limit === null ? null : limitSql(limit)
  }
  const isFree = !expects && objectiveNames.every((name) => boundOf(name) === null)
  return isFree
    ? { good: null, maybeGood: null }
    : { good: goodSql(boundOf), maybeGood: maybeGoodSql(boundOf) }
}

interface StoredStep {
  readonly expect?: readonly unknown[]
}

/**
 * The figures of all steps together (step null), then of each step.
 *
 * @param names measures to read, each at the cost of a pass over its values; the others have no samples
 * @param valuesAtOnce of percentiles that one query may keep
 */
export async function readGroups(
  session: Session,
  counted: Counted,
  names: readonly MeasureName[] = measureNames,
  valuesAtOnce = usualAtOnce,
): Promise<readonly SummaryGroup[]> {
  const itl = await readItl(session, counted.histograms, counted.parameters)
  const steps = await readRows(session, counted, names, valuesAtOnce, 'GROUP BY step ORDER BY step')
  // One step is the whole: its values are not sorted twice.
  const whole =
    steps.length === 1 ? steps : await readRows(session, counted, names, valuesAtOnce, '')
  const byStep = await readRates(session, counted, true)
  const rates = [
    ...(steps.length === 1
      ? byStep.map((each) => ({ ...each, step: null }))
      : await readRates(session, counted, false)),
    ...byStep,
  ]
  return [{ ...whole[0]!, step: null }, ...steps].map((row) =>
    groupFrom(
      row,
      itl.get(row.step),
      rates.find(({ step }) => step === row.step),
    ),
  )
}

interface Rates {
  readonly step: string | null
  /** Time of arrivals, and the length of the steady part. */
  readonly seconds: number | null
  readonly ok: number
  readonly tokens: number | null
}

/** What was completed in the steady part, by step. */
async function readRates(
  session: Session,
  { from, parameters, offsetUs }: Counted,
  bySteps: boolean,
): Promise<readonly Rates[]> {
  const inTime = completedIn('steady', offsetUs)
  return session.rows<Rates>(
    `SELECT steady.step, any_value(steady.seconds)::DOUBLE AS seconds,
       count(*) FILTER (outcome = 'ok' AND ${inTime}) AS ok,
       (sum(output_tokens) FILTER (${inTime}))::DOUBLE AS tokens
     FROM ${from} AS each JOIN ${steadySql({ from, offsetUs, bySteps })} AS steady
       ON ${bySteps ? 'each.step = steady.step' : 'true'}
     GROUP BY steady.step`,
    [...parameters],
  )
}

/**
 * A query keeps all values of its percentiles, and DuckDB does not count them against its limit of memory. A value takes
 * eight bytes, and as much again while their list grows.
 */
const usualAtOnce = 50_000_000

async function readRows(
  session: Session,
  counted: Counted,
  names: readonly MeasureName[],
  valuesAtOnce: number,
  grouped: string,
): Promise<readonly GroupRow[]> {
  const { from, parameters } = counted
  const select = (columns: readonly string[]) =>
    session.rows<GroupRow>(
      `SELECT ${grouped === '' ? 'NULL AS ' : ''}step, ${columns.join(',\n')} FROM ${from} ${grouped}`,
      [...parameters],
    )
  const [stored] = await session.rows<{ n: number }>('SELECT count(*) AS n FROM attempts')
  const atOnce = Math.max(1, Math.floor(valuesAtOnce / Math.max(1, Number(stored!.n))))
  let rows = await select([countsSql(counted), ...names.slice(0, atOnce).map(figuresSql)])
  for (let at = atOnce; at < names.length; at += atOnce) {
    const more = await select(names.slice(at, at + atOnce).map(figuresSql))
    rows = rows.map((row, nth) => ({ ...row, ...more[nth]! }))
  }
  const cut = names.filter((name) => rows.some((row) => figuresOf(row, name).censored > 0))
  if (cut.length === 0) return rows
  const below = await countBelow(session, counted, cut, grouped !== '')
  return rows.map((row) => ({
    ...row,
    ...Object.fromEntries(
      cut.map((name) => [
        name,
        { ...figuresOf(row, name), below: below.get(row.step)![name] } as unknown as Cell,
      ]),
    ),
  }))
}

function countsSql({ offsetUs, good, maybeGood }: Counted): string {
  const parts = Object.entries(partsSql).map(
    ([name, sql]) => `sum(${sql}) FILTER (succeeded)::DOUBLE AS "${name}"`,
  )
  const ended = (outcome: string) => `count(*) FILTER (outcome = '${outcome}')`
  return `
    count(*) AS attempts, ${ended('not_sent')} AS "notSent", count(*) FILTER (was_sent) AS sent,
    ${ended('ok')} AS ok, ${ended('http_error')} AS "httpError", ${ended('broken')} AS broken,
    ${ended('timeout')} AS timeout, ${ended('aborted')} AS aborted,
    count(*) FILTER (retry > 0) AS retries, count(*) FILTER (failed) AS failed,
    count(*) FILTER (on_purpose) AS "onPurpose", count(*) FILTER (judged) AS judged,
    ${good === null ? 'NULL' : `count(*) FILTER (${good})`} AS good,
    ${maybeGood === null ? 'NULL' : `count(*) FILTER (${maybeGood})`} AS "maybeGood",
    count(*) FILTER (untimed AND completion_tokens IS NOT NULL) AS "inPart", sum(hidden_tokens)::DOUBLE AS "hiddenTokens", count(hidden_tokens) AS "hiddenIn",
    count(*) FILTER (outcome = 'ok' AND reason = 'not-closed') AS "notClosed",
    count(*) FILTER (examined) AS examined, count(*) FILTER (correct) AS correct,
    count(*) FILTER (answer = 'unchecked') AS unchecked,
    ${lacks.map((lack) => `count(*) FILTER (answer = '${lack}') AS "lacks ${lack}"`).join(', ')},
    (max(${offsetUs} + coalesce(closed_us, intended_us)) - min(${offsetUs} + intended_us)) / 1e6 AS "spanS",
    sum(prompt_tokens) FILTER (succeeded)::DOUBLE AS "promptTokens",
    (${cachedShareSql})::DOUBLE AS "cachedShare",
    sum(output_tokens)::DOUBLE AS "completionTokens",
    ${parts.join(', ')},
    count(*) FILTER (generated) AS answers, count(*) FILTER (empty) AS empty, count(*) FILTER (unreported) AS unreported,
    sum(estimated_tokens)::DOUBLE AS estimated`
}

function figuresSql(name: MeasureName): string {
  const us = columnOf(name)
  const cut = cutOf(name)
  const [censored, lowest] =
    cut === null
      ? ['0', 'NULL']
      : [`count(${us}) FILTER (${cut})`, `(min(${us}) FILTER (${cut}))::DOUBLE`]
  return `{
    n: count(${us}), censored: ${censored}, lowest_censored: ${lowest}, below: NULL,
    mean: avg(${us}),
    q: quantile_cont(${us}, [0, ${percentiles.map(([, p]) => p).join(', ')}, 1])
  } AS "${name}"`
}

/** By step, how many values of each measure are below the lowest that was cut off. */
async function countBelow(
  session: Session,
  { from, parameters }: Counted,
  names: readonly MeasureName[],
  bySteps: boolean,
) {
  const each = (sql: (us: string, cut: string, name: MeasureName) => string) =>
    names.map((name) => sql(columnOf(name), cutOf(name)!, name)).join(', ')
  const rows = await session.rows<
    { readonly step: string | null } & Readonly<Record<MeasureName, number>>
  >(
    `SELECT lowest.step, ${each((us, _, name) => `count(*) FILTER (each.${us} < lowest.${us}) AS "${name}"`)}
     FROM ${from} AS each JOIN (
       SELECT ${bySteps ? 'step' : 'NULL AS step'}, ${each((us, cut) => `min(${us}) FILTER (${cut}) AS ${us}`)}
       FROM ${from} GROUP BY ALL) AS lowest ON ${bySteps ? 'each.step = lowest.step' : 'true'}
     GROUP BY lowest.step`,
    [...parameters],
  )
  return new Map(rows.map((row) => [row.step, row]))
}

const figuresOf = (row: GroupRow, name: MeasureName) =>
  (row[name] ?? noFigures) as unknown as Figures

function groupFrom(
  row: GroupRow,
  itl: ItlFigures | undefined,
  rates: Rates | undefined,
): SummaryGroup {
  const number = (name: string) => (row[name] === null ? null : Number(row[name]))
  const count = (name: string) => Number(row[name])
  const seconds = rates?.seconds ?? null
  const perS = (value: number | null | undefined) =>
    seconds === null || typeof value !== 'number' ? null : value / seconds
  const metrics = Object.fromEntries(
    measureNames.map((name) => [name, distributionOf(figuresOf(row, name))]),
  ) as Record<MeasureName, Distribution>
  const completionTokens = number('completionTokens')
  const good = number('good')
  return {
    step: row.step,
    counts: Object.fromEntries(
      countNames.map((name) => [name, number(name)]),
    ) as SummaryGroup['counts'],
    goodput: good === null || count('judged') === 0 ? null : good / count('judged'),
    correctness: correctnessOf(row),
    spanS: number('spanS'),
    arrivalS: seconds,
    okPerS: perS(rates?.ok),
    sentPerS: perS(count('sent')),
    promptTokens: number('promptTokens'),
    cachedShare: number('cachedShare'),
    completionTokens,
    completionTokensPerS: perS(rates?.tokens),
    tokenReports: {
      answers: count('answers'),
      reported: count('answers') - count('unreported'),
      estimated: number('estimated'),
      inPart: count('inPart'),
      hidden: number('hiddenTokens'),
      hiddenIn: count('hiddenIn'),
    },
    tokenParts: Object.fromEntries(
      partNames.map((name) => [name, number(name)]),
    ) as SummaryGroup['tokenParts'],
    metrics: { ...metrics, itl: itlDistribution(itl) },
  }
}

function correctnessOf(row: GroupRow): SummaryGroup['correctness'] {
  const [examined, correct, unchecked] = ['examined', 'correct', 'unchecked'].map((name) =>
    Number(row[name]),
  )
  if (examined === 0) return null
  const missing = lacks.map((lack) => [lack, Number(row[`lacks ${lack}`])] as const)
  return {
    examined: examined!,
    correct: correct!,
    unchecked: unchecked!,
    lacks: Object.fromEntries(missing.filter(([, count]) => count > 0)),
  }
}
