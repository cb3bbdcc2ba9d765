import type { Reader } from '../store/session/session.ts'
import { secrets } from '../user/secrets/secrets.ts'
import { userError } from '../user/user-error.ts'
import { names, schemaUrl } from './conventions.ts'

/** Words that are kept with what they become. */
const mostWords = 10_000

export interface DescribedRun {
  readonly runId: string
  /** Of the run's clock, in microseconds since 1970. */
  readonly zeroUs: number
  readonly endUs: number
  /** Of the resource: what sent the load, and the run. */
  readonly resource: Readonly<Record<string, string | number>>
  /** Of each span and data point: where the load went. */
  readonly target: Readonly<Record<string, string | number>>
  /** A text of the run without any key: a scenario may name a model or a step as it likes. */
  readonly wordOf: (text: string) => string
  readonly scope: { readonly name: string; readonly version: string; readonly schemaUrl: string }
}

export async function describedRun(store: Reader, runId: string): Promise<DescribedRun> {
  const [run] = await store.rows<{
    scenario: string
    contract: string
    version: string
    baseUrl: string
    zeroUs: number
    lastUs: number
    verdict: string | null
  }>(
    `SELECT scenario, contract, assay_version AS version, base_url AS "baseUrl", verdict,
       epoch_us(started_at)::DOUBLE AS "zeroUs", coalesce(ended_us, 0)::DOUBLE AS "lastUs"
     FROM runs WHERE run_id = $1`,
    [runId],
  )
  if (run === undefined) throw userError.report(`The store has no run ${runId}.`)
  const { hostname, port, protocol } = new URL(run.baseUrl)
  const wordOf = withoutKeys()
  return {
    runId,
    zeroUs: run.zeroUs,
    endUs: run.zeroUs + run.lastUs,
    resource: {
      'service.name': 'assay',
      'service.version': run.version,
      'assay.run.id': runId,
      'assay.scenario': wordOf(run.scenario),
      ...(run.verdict === null ? {} : { 'assay.verdict': run.verdict }),
    },
    target: {
      [names.provider]: run.contract,
      [names.address]: hostname,
      [names.port]: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
    },
    wordOf,
    scope: { name: 'assay', version: run.version, schemaUrl },
  }
}

/** Hides the keys that this process knows, and keeps the words that many rows share. */
function withoutKeys(): (text: string) => string {
  const known = new Map<string, string>()
  return (text) => {
    let word = known.get(text)
    if (word === undefined) {
      word = secrets.without(text)
      if (known.size < mostWords) known.set(text, word)
    }
    return word
  }
}

/** Seconds and nanoseconds. @param us since 1970 */
export const hrTime = (us: number): [number, number] => [
  Math.floor(us / 1e6),
  Math.round(us % 1e6) * 1000,
]
