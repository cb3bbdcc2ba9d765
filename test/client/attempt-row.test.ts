import { describe, expect, test } from 'vitest'
import { Batch, Dictionary } from '../../src/attempt/batch.ts'
import { AttemptClient } from '../../src/client/call/client.ts'
import { responseColumns } from '../../src/client/row/columns.ts'
import { Http1Transport } from '../../src/client/wire/http1/transport.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { answer, completion, json } from './answers.ts'
import { ask, key, noDeadlines, now, send } from './asking.ts'
import { response, scriptedServer } from './scripted-server.ts'

describe('the key', () => {
  test('that a service echoes reaches no column and no captured body', async () => {
    const { origin } = await scriptedServer((socket) =>
      socket.write(
        response(
          401,
          { ...json, 'X-Echo': key },
          JSON.stringify({
            id: key,
            model: `m ${key}`,
            error: { message: `bad ${key}`, type: `t-${key}`, code: key },
          }),
        ),
      ),
    )
    const { columns, captured } = await send(origin)
    expect(JSON.stringify([columns, captured])).not.toContain(key)
    expect(columns.errorCode).toBe('[key]')
    expect(captured!.body).toContain('bad [key]')
    expect(captured!.headers).toContain('X-Echo: [key]')
  })

  test('that is cut by the bound of a capture does not show its beginning', async () => {
    const { origin } = await answer(400, `${'x'.repeat(90)}${key}${'y'.repeat(100)}`)
    const { captured } = await send(origin, {}, { captureBytes: 98 })
    expect(captured).toMatchObject({ body: `${'x'.repeat(90)}[key]yyy`, truncated: true })
  })
})

test('the columnar row and the object of an attempt are equal', async () => {
  const { origin } = await answer(200, completion, { ...json, 'X-Credits-Remaining': '41' })
  const transport = new Http1Transport({ origin, maxConnections: 1, connectTimeoutMs: 5000 })
  const client = new AttemptClient({
    transport,
    contract: defaultContract,
    now,
    deadlines: noDeadlines,
  })
  const [batch, words] = [new Batch(), new Dictionary()]
  batch.rows = 1
  const object = await new Promise<ReturnType<(typeof batch)['push']> | object>((resolve) => {
    client.start(
      ask(),
      {
        onItl: () => {},
        onEnd: (ended) => {
          ended.writeTo(batch, words)
          resolve(ended.toColumns())
        },
      },
      'never',
    )
  })
  await transport.close()
  const twin = new Batch()
  const twinWords = new Dictionary()
  // The words of the writer first, so both assign them the same codes.
  for (const word of words.takeNew()) twinWords.codeOf(word)
  twin.rows = 1
  twin.push({ ...filler, ...(object as object) } as never, twinWords)
  for (const name of responseColumns) {
    const width = name === 'responseId' ? 2 : 1
    expect([name, ...batch.columns[name].slice(width, 2 * width)]).toEqual([
      name,
      ...twin.columns[name].slice(width, 2 * width),
    ])
  }
})

/** The fields of the request, which the client does not write. */
const filler = {
  runId: 'r',
  slot: 0,
  retry: 0,
  shard: 0,
  phase: 'p',
  part: 'steady',
  step: 's',
  session: null,
  turn: null,
  template: null,
  keyFp: null,
  account: null,
  endpoint: 'chat',
  streamed: 0,
  model: null,
  expects: 'ok',
  intendedUs: 0,
}
