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
 * Looks at several addresses at once: at one that drops packets, the time of patience passes.
 *
 * @param from addresses; `auto` for `/metrics` of the base URL, else `/prometheus/metrics`, else ports 8002, 8081 and 9090 on its host
 * @param key of the service; null for none
 */
export async function findSources(
  from: readonly string[],
  baseUrl: string,
  key: string | null,
): Promise<Found> {
  const looks = (urls: readonly string[], foundBy: Source['foundBy']) =>
    Promise.all(urls.map((url) => sourceAt(url, foundBy, baseUrl, key)))
  const answers = await Promise.all(
    from.map(async (given) => {
      if (given !== 'auto') return looks([given], 'given')
      // Most services have their metrics at the first, and are then asked for nothing else.
      const [first, ...others] = likely(baseUrl)
      const found = (await looks([first!], 'auto')).filter(isSource)
      return found.length > 0 ? found : (await looks(others, 'auto')).filter(isSource).slice(0, 1)
    }),
  )
  const all = answers.flat()
  return {
    sources: [...Map.groupBy(all.filter(isSource), ({ url }) => url).values()].map(
      ([first]) => first!,
    ),
    missing: all.filter((each): each is NoSource => !isSource(each)),
  }
}

const isSource = (each: Source | NoSource): each is Source => 'kind' in each

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
