import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as conventions from '@opentelemetry/semantic-conventions/incubating'
import { expect, onTestFinished, test, vi } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { conventionsVersion, histograms, names, schemaUrl } from '../../src/otlp/conventions.ts'
import { otlpSender } from '../../src/otlp/send.ts'
import { importFile } from '../../src/public/import.ts'
import { openStore } from '../../src/store/session/open.ts'
import { assay } from '../e2e/command.ts'
import { seededStore } from '../report/seeded.ts'
import { answerChat, key, startTarget } from '../run/target.ts'

interface Taken {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A collector that keeps what it is sent. */
async function collector(status = 200) {
  const taken: Taken[] = []
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      taken.push({ path: request.url!, headers: request.headers, body: Buffer.concat(pieces) })
      const said = status === 200 ? '{}' : JSON.stringify(request.headers)
      response.writeHead(status, { 'content-type': 'application/json' }).end(said)
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { taken, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const json = { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }

interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, string>>
}
const attributesOf = (list: readonly Attribute[]) =>
  Object.fromEntries(list.map(({ key: name, value }) => [name, Object.values(value)[0]]))

test('names are those of the conventions in the stated version', () => {
  expect(packageJson.devDependencies['@opentelemetry/semantic-conventions']).toBe(
    conventionsVersion,
  )
  const known = Object.values(conventions).filter((value) => typeof value === 'string')
  expect(known).toEqual(expect.arrayContaining(Object.values(names)))
  expect(known).toEqual(expect.arrayContaining(histograms.map(({ name }) => name)))
})

test('a collector is sent the metrics and spans of a run, which add up to its rows', {
  tags: 'whole',
}, async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'x-tenant=blue')
  onTestFinished(() => void vi.unstubAllEnvs())
  const store = await seededStore({ attempts: 400 })
  const { taken, url } = await collector()
  const sender = await otlpSender(`${url}/`, { spans: true }, json)
  const counted = await sender.send(store, 'run-1')
  expect(
    taken.map(({ path, headers }) => [path, headers['x-tenant'], headers['content-type']]),
  ).toEqual([
    ['/v1/metrics', 'blue', 'application/json'],
    ['/v1/traces', 'blue', 'application/json'],
  ])
  const [{ resource, scopeMetrics }] = JSON.parse(taken[0]!.body.toString()).resourceMetrics
  expect(attributesOf(resource.attributes)).toMatchObject({
    ...{ 'service.name': 'assay', 'assay.run.id': 'run-1', 'assay.scenario': 'demo' },
  })
  const [{ metrics, schemaUrl: stated }] = scopeMetrics
  expect(stated).toBe(schemaUrl)
  expect(metrics).toHaveLength(counted.metrics)

  const generated = `endpoint <> 'models' AND outcome <> 'not_sent'`
  const [rows] = await store.rows<Record<string, number>>(
    `SELECT count(*)::DOUBLE AS calls, sum((coalesce(done_us, closed_us) - sent_us) / 1e6) AS seconds,
       count(*) FILTER (outcome <> 'ok')::DOUBLE AS failed,
       count(*) FILTER ((coalesce(done_us, closed_us) - sent_us) <= 80000)::DOUBLE AS fast,
       sum(prompt_tokens)::DOUBLE AS input, sum(completion_tokens)::DOUBLE AS output,
       count(*) FILTER (streamed = 1 AND first_content_us IS NOT NULL)::DOUBLE AS streams
     FROM attempts WHERE run_id = 'run-1' AND expects = 'ok' AND ${generated}`,
  )
  const pointsOf = (name: string, only: Readonly<Record<string, string>> = {}) =>
    metrics
      .find((metric: { name: string }) => metric.name === name)
      .histogram.dataPoints.map((point: { attributes: Attribute[] }) => ({
        ...point,
        attributes: attributesOf(point.attributes),
      }))
      .filter(({ attributes }: { attributes: Record<string, string> }) =>
        Object.entries(only).every(([label, value]) => attributes[label] === value),
      )
  const total = (points: readonly Record<string, number>[], field: string) =>
    points.reduce((sum, point) => sum + Number(point[field]), 0)
  const durations = pointsOf('gen_ai.client.operation.duration')
  expect(total(durations, 'count')).toBe(rows!.calls)
  expect(total(durations, 'sum')).toBeCloseTo(rows!.seconds!, 6)
  const failed = durations.filter(
    ({ attributes }: { attributes: Record<string, string> }) => 'error.type' in attributes,
  )
  expect(total(failed, 'count')).toBe(rows!.failed)
  // The first four buckets end at 80 ms.
  const fast = durations.reduce(
    (sum: number, { bucketCounts }: { bucketCounts: number[] }) =>
      sum + bucketCounts.slice(0, 4).reduce((all, n) => all + Number(n), 0),
    0,
  )
  expect(fast).toBe(rows!.fast)
  for (const { count, bucketCounts, explicitBounds } of durations) {
    expect(bucketCounts).toHaveLength(explicitBounds.length + 1)
    expect(bucketCounts.reduce((all: number, n: number) => all + Number(n), 0)).toBe(Number(count))
  }
  const tokens = (type: string) =>
    total(pointsOf('gen_ai.client.token.usage', { 'gen_ai.token.type': type }), 'sum')
  expect([tokens('input'), tokens('output')]).toEqual([rows!.input, rows!.output])
  const firsts = pointsOf('gen_ai.client.operation.time_to_first_chunk')
  expect(total(firsts, 'count')).toBe(rows!.streams)

  const traces = JSON.parse(taken[1]!.body.toString())
  const { spans } = traces.resourceSpans[0].scopeSpans[0]
  const [all] = await store.rows<{ n: number; slow: number; input: number; output: number }>(
    `SELECT count(*)::DOUBLE AS n, max(coalesce(done_us, closed_us) - sent_us)::DOUBLE AS slow,
       sum(prompt_tokens)::DOUBLE AS input, sum(completion_tokens)::DOUBLE AS output
     FROM attempts WHERE run_id = 'run-1' AND ${generated}`,
  )
  expect([spans.length, counted.spans]).toEqual([all!.n, all!.n])
  expect(new Set(spans.map(({ spanId }: { spanId: string }) => spanId)).size).toBe(all!.n)
  const lasted = spans.map(
    (span: Record<'startTimeUnixNano' | 'endTimeUnixNano', string>) =>
      Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1000,
  )
  expect(Math.max(...lasted)).toBe(all!.slow)

  // A second export sends the same spans.
  await sender.send(store, 'run-1')
  expect(taken[3]!.body.equals(taken[1]!.body)).toBe(true)
  store.close()

  // Another reader: the import of OTLP spans finds the tokens of the rows.
  const folder = mkdtempSync(join(tmpdir(), 'assay-otlp-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'spans.json')
  writeFileSync(file, taken[1]!.body)
  const copy = await openStore(':memory:')
  const { rejected } = await importFile(copy, { file })
  const [read] = await copy.rows<Record<string, number>>(
    `SELECT count(*)::DOUBLE AS calls, sum(prompt_tokens)::DOUBLE AS input,
       sum(completion_tokens)::DOUBLE AS output FROM usage_events`,
  )
  copy.close()
  expect(rejected).toBe(0)
  expect(read).toEqual({ calls: all!.n, input: all!.input, output: all!.output })
})

test('protobuf is what is sent without a wish, and a refusal says only its status', {
  tags: 'whole',
}, async () => {
  const store = await seededStore({ attempts: 50 })
  onTestFinished(() => store.close())
  const { taken, url } = await collector()
  await (await otlpSender(url, { spans: false }, {})).send(store, 'run-1')
  expect(taken.map(({ headers }) => headers['content-type'])).toEqual(['application/x-protobuf'])
  for (const { name } of histograms) expect(taken[0]!.body.includes(name)).toBe(true)

  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'authorization=Bearer%20of-a-tenant')
  onTestFinished(() => void vi.unstubAllEnvs())
  const refusing = await collector(401)
  const sender = await otlpSender(refusing.url, { spans: false }, json)
  await expect(sender.send(store, 'run-1')).rejects.toThrow(
    `--otlp: ${refusing.url} did not take the metrics (401). The run is whole in the store.`,
  )
  expect(refusing.taken[0]!.headers.authorization).toBe('Bearer of-a-tenant')
})

test('an address that is none, one with a password, and another protocol are refused', async () => {
  const of = (address: string, environment = {}) =>
    otlpSender(address, { spans: false }, environment)
  await expect(of('localhost:4318')).rejects.toThrow('expected the address of a collector')
  await expect(of('http://me:secret@127.0.0.1:4318')).rejects.toThrow(
    '--otlp: an address with a password would stand in logs',
  )
  await expect(of('http://127.0.0.1', { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).rejects.toThrow(
    'OTEL_EXPORTER_OTLP_PROTOCOL: expected http/protobuf or http/json; got grpc.',
  )
})

test('a run sends its figures when it is over, without the key', { tags: 'whole' }, async () => {
  const { taken, url } = await collector()
  const target = await startTarget((_, response) => answerChat(response, `You sent ${key}.`))
  onTestFinished(() => target.close())
  const folder = mkdtempSync(join(tmpdir(), 'assay-otlp-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(
    join(folder, 'a.yaml'),
    `name: a
question: Is it told?
model: ${JSON.stringify(`m-${key}`)}
capture: all
steps: { chat: { endpoint: chat } }
phases: [{ name: steady, load: constant, rate: 50/s, max_requests: 5 }]
`,
  )
  const { stderr } = await assay(
    ['run', 'a.yaml', '--base-url', target.baseUrl, '--otlp', url, '--otlp-spans'],
    { cwd: folder, env: { ...json, ASSAY_API_KEY: key } },
  ).ended
  expect(stderr).toContain(`sent 2 metrics and 6 spans to ${url}`)
  expect(taken).toHaveLength(2)
  for (const { body } of taken) expect(body.includes(key)).toBe(false)
  const { code, stderr: alone } = await assay(
    ['run', 'a.yaml', '--base-url', target.baseUrl, '--otlp-spans'],
    { cwd: folder },
  ).ended
  expect({ code, alone }).toEqual({
    ...{
      code: 2,
      alone: '--otlp-spans: expected --otlp with the address of a collector.\n',
    },
  })
})
