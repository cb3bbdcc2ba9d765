import { readServiceFigures, type ServiceFigures } from '../../exporter/figures.ts'
import { hasRows } from '../../store/has-rows.ts'
import type { Session } from '../../store/session/session.ts'
import { lookup } from '../../user/lookup.ts'
import { answerTimesWords, readAnswerTimes } from './answer-times.ts'
import type { RunSummary } from './shape.ts'

type ServiceMetrics = NonNullable<RunSummary['service']>
export type Reconciled = ServiceMetrics['reconciliation'][number]

/** What the client counted: sums over the whole run, and means of the steady part. */
interface ClientFigures {
  readonly ok: number
  readonly aborted: number
  readonly prompt_tokens: number | null
  readonly cached_tokens: number | null
  readonly output_tokens: number | null
  readonly ttft_us: number | null
  readonly from_us: number | null
  readonly to_us: number | null
}

/** What the service said of itself, and its gauges over the whole run, for a chart. */
export interface ToldByService {
  readonly metrics: ServiceMetrics
  readonly lines: ServiceFigures['lines']
}

/**
 * What the service said of itself, beside what the client counted. Null for a run that read no metrics and whose answers
 * state no times.
 *
 * Counts are compared over the whole run, because no request is in flight at its ends. Times and gauges are of the steady
 * part.
 */
export async function readToldByService(
  session: Session,
  runId: string,
): Promise<ToldByService | null> {
  const answers = await readAnswerTimes(session, runId)
  const stated = answers === null ? null : answerTimesWords(answers)
  if (!(await hasRows(session, 'metric_sources WHERE run_id = $1', [runId]))) {
    if (answers === null) return null
    return { metrics: { ...nothingScraped, answers, ttft: stated }, lines: {} }
  }
  const [client] = await session.rows<ClientFigures>(
    `SELECT count(*) FILTER (outcome = 'ok')::INTEGER AS ok,
       count(*) FILTER (outcome IN ('aborted', 'timeout') AND sent_us IS NOT NULL)::INTEGER AS aborted,
       ${sumOfAll('prompt_tokens')}, ${sumOfAll('cached_tokens')}, ${sumOfAll('completion_tokens', 'output_tokens')},
       avg(first_content_us - sent_us) FILTER (outcome = 'ok' AND streamed = 1 AND part = 'steady') AS ttft_us,
       min(sent_us) FILTER (part = 'steady')::DOUBLE AS from_us,
       max(done_us) FILTER (part = 'steady')::DOUBLE AS to_us
     FROM attempts WHERE run_id = $1`,
    [runId],
  )
  const { from_us: fromUs, to_us: toUs } = client!
  const stretch = fromUs === null || toUs === null ? null : { fromUs, toUs }
  const service = await readServiceFigures(session, runId, stretch)
  if (service === null) return null
  const metrics = {
    sources: service.sources.map((source) => ({ ...source, restartsUs: [...source.restartsUs] })),
    reconciliation: reconcile(client!, service),
    times: service.times,
    ...energyOf(service.counts.gpuEnergy ?? null, client!.output_tokens),
    gauges: service.gauges,
    answers,
    // Times of single answers are of the same requests as the client's; those of counters may not be.
    ttft: stated ?? ttftWords(client!.ttft_us, service),
    limit: limitWords(service),
  }
  return { metrics, lines: service.lines }
}

const nothingScraped = {
  sources: [],
  reconciliation: [],
  times: {},
  gauges: {},
  limit: null,
  gpuEnergyJ: null,
  gpuEnergyPerTokenJ: null,
}

/** Null if a success does not report it: a part is no sum. */
const sumOfAll = (column: string, name = column) =>
  `if(count(*) FILTER (outcome = 'ok' AND ${column} IS NULL) = 0,
      (sum(${column}) FILTER (outcome = 'ok'))::DOUBLE, NULL) AS ${name}`

function reconcile(client: ClientFigures, service: ServiceFigures): Reconciled[] {
  const { ended, aborted, failed, promptTokens, cachedTokens, outputTokens } = service.counts
  const succeeded = ended === undefined ? undefined : ended - (aborted ?? 0) - (failed ?? 0)
  const rows: readonly (readonly [string, number | null, number | undefined])[] = [
    ['requests that succeeded', client.ok, succeeded],
    ['requests that were aborted', client.aborted, aborted],
    ['prompt tokens', client.prompt_tokens, promptTokens],
    ['prompt tokens from the cache', client.cached_tokens, cachedTokens],
    ['output tokens', client.output_tokens, outputTokens],
  ]
  const more = succeeded === undefined ? 0 : succeeded - client.ok
  return rows
    .filter(([, , there]) => there !== undefined)
    .map(([what, here, there]) => {
      const isKnown = here !== null && service.sources.every(({ sawEnd }) => sawEnd)
      const verdict = !isKnown ? 'unknown' : here === there ? 'equal' : 'differs'
      const cause =
        verdict === 'differs' ? causeOf(what, there! - here!, { client, service, more }) : null
      return { what, client: here, service: there!, verdict, cause }
    })
}

/** @param more successes that the service counted and the client did not */
function causeOf(
  what: string,
  by: number,
  { client, service, more }: { client: ClientFigures; service: ServiceFigures; more: number },
): string | null {
  if (service.sources.some(({ restartsUs }) => restartsUs.length > 0)) {
    return 'the service restarted, and what it counted before its last look is lost'
  }
  if (more > 0)
    return 'other clients, or a gateway that sends again: the service counted more requests'
  if (more < 0) return 'another replica, or a cache in front: the service counted fewer requests'
  if (what === 'requests that were aborted') {
    return by < 0 ? 'aborts that never arrived' : 'the service gave requests up by itself'
  }
  if (what === 'prompt tokens' && client.ok > 0 && by > 0 && by % client.ok === 0) {
    return `${by / client.ok} for each request: a chat template, probably`
  }
  if (what === 'output tokens' && by > 0) {
    return client.aborted > 0
      ? 'tokens of aborted answers, which did not arrive whole; they may be billed'
      : 'the service made tokens that it does not report; they may be billed'
  }
  return null
}

const ms = (us: number) => `${Math.round(us / 1000)} ms`

/** One sentence on the mean TTFT, only where its parts are known. */
function ttftWords(clientUs: number | null, { times }: ServiceFigures): string | null {
  const { ttft, queueTime, prefillTime } = times
  if (clientUs === null || ttft === undefined || queueTime === undefined) return null
  // Means over other requests do not add up.
  if (Math.abs(queueTime.count - ttft.count) > 0.01 * ttft.count) return null
  const prefillUs = prefillTime?.meanUs ?? ttft.meanUs - queueTime.meanUs
  const outsideUs = clientUs - ttft.meanUs
  const insideUs = ttft.meanUs - queueTime.meanUs - prefillUs
  if (prefillUs < 0 || outsideUs < 0) return null
  const parts = [
    `${ms(queueTime.meanUs)} in the queue`,
    `${ms(prefillUs)} prefill`,
    ...(insideUs >= 500 ? [`${ms(insideUs)} elsewhere in the service`] : []),
    `${ms(outsideUs)} outside the service`,
  ]
  return `TTFT mean ${ms(clientUs)}: ${parts.join(', ')}.`
}

/** What held requests back; null if nothing did, or if the gauges do not say. */
function limitWords({ gauges, counts }: ServiceFigures): string | null {
  const { waiting, cacheUse } = gauges
  if ((counts.preempted ?? 0) > 0) {
    return `The service preempted ${counts.preempted} requests: its memory is the limit, and work is done twice.`
  }
  if (waiting === undefined || waiting.most === 0) return null
  const queue = `Up to ${waiting.most} requests waited in the service`
  if (cacheUse === undefined) return `${queue}.`
  const share = `${Math.round(cacheUse.most * 100)} %`
  if (cacheUse.most > 0.9)
    return `${queue}, and its KV cache was ${share} full: the cache is the limit.`
  return cacheUse.most < 0.7
    ? `${queue}, and its KV cache was at most ${share} full: the size of its batch is the limit.`
    : `${queue}, and its KV cache was up to ${share} full.`
}

const gaugeTitles: Readonly<Record<string, string>> = lookup({
  running: 'running',
  waiting: 'waiting',
  cacheUse: 'KV cache',
  gpuUse: 'GPU',
  gpuPower: 'power',
})

function levelText(gauge: string, value: number): string {
  if (gauge === 'cacheUse' || gauge === 'gpuUse') return `${Math.round(value * 100)} %`
  return gauge === 'gpuPower' ? `${Math.round(value)} W` : `${value}`
}

function energyOf(gpuEnergyJ: number | null, tokens: number | null) {
  const isKnown = gpuEnergyJ !== null && tokens !== null && tokens > 0
  return { gpuEnergyJ, gpuEnergyPerTokenJ: isKnown ? gpuEnergyJ / tokens : null }
}

function energyText({ gpuEnergyJ, gpuEnergyPerTokenJ }: ServiceMetrics): readonly string[] {
  if (gpuEnergyJ === null) return []
  const each =
    gpuEnergyPerTokenJ === null ? '' : `, ${figure(gpuEnergyPerTokenJ)} J for each output token`
  return [`energy of the GPUs over the whole run ${figure(gpuEnergyJ / 1000)} kJ${each}`]
}

const figure = (value: number) => String(Number(value.toPrecision(3)))

/** What the service said of itself, in lines for a reader. Nothing without metrics. */
export function serviceLines(service: RunSummary['service']): readonly string[] {
  if (service === null) return []
  const { sources, reconciliation, gauges, ttft, limit } = service
  const levels = Object.entries(gauges).map(([name, { least, most }]) => {
    return `${gaugeTitles[name] ?? name} ${levelText(name, least)} to ${levelText(name, most)}`
  })
  return [
    ...sources.map(
      ({ kind, url, looks, gaps }) =>
        `metrics of ${kind ?? 'a service that is not known'} at ${url}, ${looks} looks${gaps > 0 ? `, ${gaps} without an answer` : ''}`,
    ),
    ...sources.flatMap(({ url, answersInTurns, restartsUs }) => [
      ...(answersInTurns
        ? [`${url} answers from several replicas in turns: give each with metrics: from.`]
        : []),
      ...(restartsUs.length > 0
        ? [
            `The service restarted ${restartsUs.length === 1 ? 'once' : `${restartsUs.length} times`} during the run.`,
          ]
        : []),
    ]),
    ...reconciliation.map(
      ({ what, client, service: there, verdict, cause }) =>
        `${what}: client ${client ?? 'not reported'}, service ${there}${verdict === 'equal' ? '' : `${verdict === 'differs' ? ', which differs' : ''}${cause === null ? '' : ` (${cause})`}`}`,
    ),
    ...(levels.length === 0 ? [] : [levels.join(', ')]),
    ...energyText(service),
    ...[ttft, limit].filter((line) => line !== null),
  ]
}
