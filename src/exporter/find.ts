import { fetchExposition } from './fetch-exposition.ts'
import { kindOf } from './kinds.ts'

/** An address that answers with metrics. */
export interface Source {
  readonly url: string
  /** `vLLM`; null for a service that is not known. */
  readonly kind: string | null
  /** Whether `auto` found it, or the user gave it. */
  readonly foundBy: 'auto' | 'given'
  readonly families: number
  readonly bytes: number
  /** Whether it asked for the key. It is sent to the host of the base URL alone. */
  readonly needsKey: boolean
}

/** An address without metrics, and the reason. */
export interface NoSource {
  readonly url: string
  readonly reason: string
}

export interface Found {
  readonly sources: readonly Source[]
  /** Of those that the user gave; none of `auto`. */
  readonly missing: readonly NoSource[]
}

const patienceMs = 1_000

/** Where services expose metrics beside their own port: Triton, Dynamo's workers, Prometheus' habit. */
const otherPorts = [8002, 8081, 9090]

/**
 * @param from addresses; `auto` for `/metrics` of the base URL, else of ports 8002, 8081 and 9090 on its host
 * @param key of the service; null for none
 */
export async function findSources(
  from: readonly string[],
  baseUrl: string,
  key: string | null,
): Promise<Found> {
  const sources: Source[] = []
  const missing: NoSource[] = []
  for (const given of from) {
    const isAuto = given === 'auto'
    for (const url of isAuto ? likely(baseUrl) : [given]) {
      if (sources.some((known) => known.url === url)) continue
      const found = await sourceAt(url, isAuto ? 'auto' : 'given', baseUrl, key)
      if ('kind' in found) sources.push(found)
      else if (!isAuto) missing.push(found)
      if (isAuto && 'kind' in found) break
    }
  }
  return { sources, missing }
}

function likely(baseUrl: string): readonly string[] {
  const { origin, pathname, protocol, hostname } = new URL(baseUrl)
  const path = pathname.replace(/\/(v1\/?)?$/, '')
  return [
    ...(path === '' ? [] : [`${origin}${path}/metrics`]),
    `${origin}/metrics`,
    `${origin}/prometheus/metrics`,
    ...otherPorts.map((port) => `${protocol}//${hostname}:${port}/metrics`),
  ]
}

async function sourceAt(
  url: string,
  foundBy: Source['foundBy'],
  baseUrl: string,
  key: string | null,
): Promise<Source | NoSource> {
  const mayHaveKey = key !== null && new URL(url).origin === new URL(baseUrl).origin
  for (const needsKey of mayHaveKey ? [false, true] : [false]) {
    try {
      const { samples, bytes } = await fetchExposition(url, needsKey ? key : null, patienceMs)
      const families = new Set(samples.map(({ family }) => family))
      return {
        url,
        kind: kindOf(families)?.name ?? null,
        foundBy,
        families: families.size,
        bytes,
        needsKey,
      }
    } catch (error) {
      const { message } = error as Error
      if (needsKey || !mayHaveKey || !/status 40[13]/.test(message)) return { url, reason: message }
    }
  }
  return { url, reason: 'no answer' }
}

/** One line for a reader: `vLLM at http://127.0.0.1:8000/metrics: 84 families, 12 KB`. */
export const sourceWords = ({ url, kind, families, bytes }: Source): string =>
  `${kind ?? 'a service that is not known'} at ${url}: ${families} families, ${Math.ceil(bytes / 1000)} KB`
