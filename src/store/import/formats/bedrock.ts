import type { KnownFormat } from './format.ts'
import { at, first, tokensOf } from './row.ts'

/** Bedrock's log of invocations. It has no cost. */
export const bedrock: KnownFormat = {
  name: 'Bedrock invocation log',
  source: 'bedrock',
  durations: 'ms',
  recognises: (has, text) => has('schemaType') && /"ModelInvocationLog"/.test(text),
  fields:
    'schemaType schemaVersion timestamp accountId identity region requestId operation modelId requestMetadata errorCode input output inferenceRegion',
  needed: ['timestamp', 'requestId', 'modelId'],
  note: 'some endpoints of Bedrock write no log',
  *rows(row) {
    const error = first(row.errorCode)
    yield {
      id: row.requestId as string,
      time: row.timestamp,
      model: row.modelId,
      endpoint: row.operation,
      account: row.accountId,
      keyFp: String(at(row.identity, 'arn') ?? '')
        .split('/')
        .at(-1),
      ...(error === undefined ? {} : { outcome: 'http_error', errorCode: error }),
      latencyMs: first(
        at(row.output, 'outputBodyJson', 'metrics', 'latencyMs'),
        at(row.output, 'outputBodyJson', 'amazon-bedrock-invocationMetrics', 'invocationLatency'),
      ),
      ...tokensOf(row, 'bedrock-log'),
    }
  },
}
