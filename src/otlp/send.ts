import type { Reader } from '../store/session/session.ts'
import { visible } from '../user/hostile.ts'
import { installed } from '../user/installed.ts'
import { userError } from '../user/user-error.ts'
import { schemaUrl } from './conventions.ts'
import { describedRun } from './described.ts'
import { metricsOf } from './metrics.ts'
import { spansOf } from './spans.ts'

/** Spans of one request. */
const spansAtOnce = 1000

const packages = {
  'http/protobuf': ['exporter-metrics-otlp-proto', 'exporter-trace-otlp-proto'],
  'http/json': ['exporter-metrics-otlp-http', 'exporter-trace-otlp-http'],
} as const

/** What OpenTelemetry's own variables say besides the address: OTEL_EXPORTER_OTLP_HEADERS, _TIMEOUT, _CERTIFICATE. */
export interface OtlpSender {
  /** Sends the metrics of a run, and its spans if they are wanted. @returns how many of each */
  send(store: Reader, runId: string): Promise<{ readonly metrics: number; readonly spans: number }>
}

/**
 * @param address of a collector, as http://127.0.0.1:4318
 * @throws UserError for an address that is none, and without the library
 */
export async function otlpSender(
  address: string,
  { spans: wantsSpans }: { readonly spans: boolean },
  environment: Readonly<Record<string, string | undefined>>,
): Promise<OtlpSender> {
  const base = collectorOf(address)
  const library = await libraryFor(environment.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/protobuf')
  return {
    async send(store, runId) {
      const run = await describedRun(store, runId)
      const resource = library.resourceFromAttributes(run.resource, { schemaUrl })
      const toMetrics = new library.OTLPMetricExporter({ url: `${base}/v1/metrics` })
      const toSpans = new library.OTLPTraceExporter({ url: `${base}/v1/traces` })
      try {
        const scopeMetrics = await metricsOf(store, run)
        await taken(base, 'metrics', (done) => toMetrics.export({ resource, scopeMetrics }, done))
        const metrics = scopeMetrics.reduce((sum, { metrics: of }) => sum + of.length, 0)
        let spans = 0
        if (!wantsSpans) return { metrics, spans }
        for await (const page of spansOf(store, run)) {
          for (let from = 0; from < page.length; from += spansAtOnce) {
            const some = page.slice(from, from + spansAtOnce).map((span) => ({ ...span, resource }))
            await taken(base, 'spans', (done) => toSpans.export(some, done))
            spans += some.length
          }
        }
        return { metrics, spans }
      } finally {
        await Promise.all([toMetrics.shutdown(), toSpans.shutdown()])
      }
    },
  }
}

function collectorOf(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw userError.usage(
      `--otlp: expected the address of a collector, such as http://127.0.0.1:4318; got ${visible(address)}.`,
    )
  }
  if (url.username !== '' || url.password !== '') {
    throw userError.usage(
      '--otlp: an address with a password would stand in logs; give OTEL_EXPORTER_OTLP_HEADERS instead.',
    )
  }
  return `${url.origin}${url.pathname.replace(/\/(v1\/(metrics|traces)\/?)?$/, '')}`
}

async function libraryFor(protocol: string) {
  if (protocol !== 'http/protobuf' && protocol !== 'http/json') {
    throw userError.usage(
      `OTEL_EXPORTER_OTLP_PROTOCOL: expected http/protobuf or http/json; got ${visible(protocol)}.`,
    )
  }
  const isJson = protocol === 'http/json'
  const names = ['api', 'resources', ...packages[protocol]].map((name) => `@opentelemetry/${name}`)
  const load = () =>
    Promise.all([
      import('@opentelemetry/resources'),
      isJson
        ? import('@opentelemetry/exporter-metrics-otlp-http')
        : import('@opentelemetry/exporter-metrics-otlp-proto'),
      isJson
        ? import('@opentelemetry/exporter-trace-otlp-http')
        : import('@opentelemetry/exporter-trace-otlp-proto'),
    ])
  const [{ resourceFromAttributes }, { OTLPMetricExporter }, { OTLPTraceExporter }] =
    await installed(load, "--otlp: OpenTelemetry's exporter", names)
  return { resourceFromAttributes, OTLPMetricExporter, OTLPTraceExporter }
}

interface Result {
  readonly code: number
  readonly error?: Error | undefined
}

async function taken(base: string, what: string, send: (done: (result: Result) => void) => void) {
  const { code, error } = await new Promise<Result>((resolve) => send(resolve))
  if (code === 0) return
  // Only a code: a collector may repeat the headers that it was sent.
  const reason =
    (error as { readonly code?: unknown } | undefined)?.code ?? error?.name ?? 'unknown'
  throw userError.unreachable(
    `--otlp: ${base} did not take the ${what} (${visible(String(reason))}). The run is whole in the store.`,
  )
}
