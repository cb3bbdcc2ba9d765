import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import type { ContractKind } from '../../src/price/first/first-contract.ts'
import { firstContract } from '../../src/price/first/first-contract.ts'
import { main } from '../e2e/command.ts'

/** One answered request, as the gateway books it. */
interface Booked {
  readonly id: string
  readonly at: Date
  readonly prompt: number
  readonly output: number
}

/**
 * The public shapes of three gateways' logs: LiteLLM's `/spend/logs`, new-api's `/api/log/self` and OpenRouter's
 * `/api/v1/generation`. Each charges 20 % too much in its log.
 */
const shapes: Readonly<
  Record<
    string,
    {
      readonly kind: ContractKind
      readonly page: (booked: readonly Booked[], url: URL) => unknown
      readonly row: (booked: Booked) => object
    }
  >
> = {
  LiteLLM: {
    kind: 'litellm',
    row: ({ id, at, prompt, output }) => ({
      ...{ request_id: id, call_type: 'acompletion', api_key: 'hash', model: 'openai/gpt-5.6' },
      ...{ model_group: 'gpt-5.6', spend: ((4 * prompt + 20 * output) * 1.2) / 1e6 },
      ...{ prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output },
      ...{ startTime: at.toISOString(), endTime: at.toISOString(), cache_hit: 'False' },
    }),
    page: (booked, url) =>
      booked.filter(({ id }) => id === url.searchParams.get('request_id')).map(shapeOf('LiteLLM')),
  },
  'new-api': {
    kind: 'new-api',
    row: ({ id, at, prompt, output }) => ({
      ...{ id: Number(id.slice(-3)), created_at: Math.floor(at.getTime() / 1000), type: 2 },
      ...{ token_name: 'main', model_name: 'gpt-5.6', is_stream: false, group: 'default' },
      ...{ quota: Math.round((2 * prompt + 10 * output) * 1.2), request_id: `asked-${id}` },
      ...{ prompt_tokens: prompt, completion_tokens: output, other: '{"cache_tokens":0}' },
    }),
    page: (booked, url) => {
      const [page, size] = ['p', 'page_size'].map((name) => Number(url.searchParams.get(name)))
      const items = booked.slice((page! - 1) * size!, page! * size!).map(shapeOf('new-api'))
      return {
        success: true,
        message: '',
        data: { page, page_size: size, total: booked.length, items },
      }
    },
  },
  OpenRouter: {
    kind: 'openrouter',
    row: ({ id, at, prompt, output }) => ({
      ...{ id, model: 'gpt-5.6', total_cost: ((4 * prompt + 20 * output) * 1.2) / 1e6 },
      ...{ created_at: at.toISOString(), cancelled: false, streamed: false },
      ...{ tokens_prompt: 1, tokens_completion: 2 },
      ...{ native_tokens_prompt: prompt, native_tokens_completion: output },
    }),
    page: (booked, url) => {
      const found = booked.find(({ id }) => id === url.searchParams.get('id'))
      return found === undefined ? null : { data: shapeOf('OpenRouter')(found) }
    },
  },
}
const shapeOf = (name: string) => shapes[name]!.row

/** A gateway that answers chats, and shows its log at any other path. */
async function gatewayOf(name: string) {
  const booked: Booked[] = []
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url!, 'http://gateway')
    response.setHeader('content-type', 'application/json')
    if (request.method === 'POST') {
      const nth = booked.length + 101
      booked.push({ id: `gen-${nth}`, at: new Date(), prompt: nth, output: nth - 90 })
      response.setHeader('x-oneapi-request-id', `asked-gen-${nth}`)
      const usage = { prompt_tokens: nth, completion_tokens: nth - 90, total_tokens: 2 * nth - 90 }
      response.end(
        JSON.stringify({
          ...{ id: `gen-${nth}`, object: 'chat.completion', created: 1, model: 'gpt-5.6', usage },
          choices: [
            { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hi.' } },
          ],
        }),
      )
      return
    }
    const page = shapes[name]!.page(booked, url)
    response.statusCode = page === null ? 404 : 200
    response.end(JSON.stringify(page))
  }
  const server = createServer((request, response) => {
    request.resume().on('end', () => answer(request, response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
  })
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    log: () => booked.map(shapes[name]!.row),
  }
}

const scenario = `
name: three
question: Is each charge right?
keys: { main: { env: ASSAY_API_KEY } }
model: gpt-5.6
capture: all
steps:
  chat: { endpoint: chat, prompt: Hello, max_tokens: 50 }
phases:
  - { name: one, load: concurrency, users: 1, max_requests: 4, steps: [chat] }
`

function inFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'assay-log-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const assay = (...args: readonly string[]) =>
    promisify(execFile)(process.execPath, [main, ...args], {
      cwd: folder,
      env: { ...process.env, ASSAY_API_KEY: 'sk-test', NO_COLOR: '1' },
    }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (ended: { code: number; stdout: string; stderr: string }) => ended,
    )
  return { folder, assay }
}

test.each(Object.keys(shapes))(
  "%s's log gives the same findings by address, with no run named, as by file",
  { tags: 'whole' },
  async (name) => {
    const { folder, assay } = inFolder()
    const gateway = await gatewayOf(name)
    const { kind } = shapes[name]!
    writeFileSync(
      join(folder, 'gateway.yaml'),
      firstContract(kind, null).replace('id: openai/gpt-5.6', 'id: gpt-5.6'),
    )
    writeFileSync(join(folder, 'three.yaml'), scenario)
    const to = ['--base-url', gateway.baseUrl, '--contract', 'gateway.yaml', '--no-first-requests']
    await assay('run', 'three.yaml', ...to)
    writeFileSync(
      join(folder, 'log.jsonl'),
      gateway
        .log()
        .map((row) => JSON.stringify(row))
        .join('\n'),
    )
    const audited = async (log: string) => {
      const args = ['--contract', 'gateway.yaml', '--rule', 'PRICE', '--json']
      const { code, stdout, stderr } = await assay('audit', ...args, '--log', log)
      expect(stderr).toBe('')
      const { findings } = JSON.parse(stdout) as { findings: readonly { rule: string }[] }
      return { code, findings }
    }
    const byFile = await audited('log.jsonl')
    expect(await audited(gateway.baseUrl)).toEqual(byFile)
    expect(byFile.code).toBe(3)
    expect(byFile.findings.find(({ rule }) => rule === 'PRICE-04')).toMatchObject({
      verdict: { verdict: 'fail', observed: expect.stringContaining('4 of 4 costs are wrong') },
    })
  },
)

test('a log at an address where nobody listens is an error, and no finding', {
  tags: 'whole',
}, async () => {
  const { folder, assay } = inFolder()
  const gateway = await gatewayOf('LiteLLM')
  writeFileSync(join(folder, 'gateway.yaml'), firstContract('litellm', null))
  writeFileSync(join(folder, 'three.yaml'), scenario)
  const to = ['--base-url', gateway.baseUrl, '--contract', 'gateway.yaml', '--no-first-requests']
  await assay('run', 'three.yaml', ...to)
  const args = ['--contract', 'gateway.yaml', '--rule', 'PRICE', '--log', 'http://127.0.0.1:9']
  expect(await assay('audit', ...args)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--log: http://127.0.0.1:9 cannot be read'),
  })
})
