import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { FullContract } from '../../src/contract/contract.ts'
import { defaultContract } from '../../src/contract/default.ts'
import type { DeploymentProfile, GapId } from '../../src/contract/profile.ts'
import type { ExtraHeader } from '../../src/probe/extra-headers.ts'
import { probe } from '../../src/probe/probe.ts'
import { openStore, type Store } from '../../src/store/session/open.ts'

/** A request to the fake; `nth` counts those to the same endpoint, from 1. */
export interface Heard {
  readonly endpoint: 'models' | 'credits' | 'chat' | 'messages'
  readonly body: Readonly<Record<string, unknown>>
  readonly headers: IncomingHttpHeaders
  readonly nth: number
}

/**
 * The counts of the fake, and its clock: seconds that pass in a generation or while the probe
 * waits.
 */
export interface FakeState {
  balance: number
  requests: number
  /** Served requests. */
  readonly reads: { models: number; credits: number }
  seconds: number
  /** Whether the current request asks for a stream. */
  stream: boolean
}

/** How the fake differs from a small honest service with 900 credits. */
export interface Fake {
  readonly contract?: FullContract
  /** The message of an error. */
  errorText?(heard: Heard): string
  /** A status other than 200, which costs nothing. */
  status?(heard: Heard): number
  /** Credits of a read. */
  readonly readPrice?: number
  /** Whether a read is charged before its body is made. */
  readonly readChargedFirst?: boolean
  /** Seconds after its answer that a generation is charged, by the fake's clock. */
  readonly chargedLateS?: number
  /** Balance in the header of a generation; by default after its own charge. */
  header?(state: FakeState, price: number): number
  /** Text of an answer that a stop sequence ended; by default it contains none of them. */
  readonly stoppedText?: string
  readonly ignoresStops?: boolean
  creditsBody?(state: FakeState): object
}

/** Asks some gaps of a minimal service without delay. */
export async function probeFake(
  fake: Fake,
  only: readonly GapId[],
  headers: readonly ExtraHeader[] = [],
): Promise<{
  store: Store
  profile: DeploymentProfile
  answers: DeploymentProfile['answers']
  state: FakeState
}> {
  const state: FakeState = {
    balance: 900,
    requests: 0,
    seconds: 1_000_000,
    stream: false,
    reads: { models: 0, credits: 0 },
  }
  const contract = fake.contract ?? defaultContract
  const server = serverOf(fake, contract, state)
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  onTestFinished(() => void server.close())
  const store = await openStore(':memory:')
  onTestFinished(() => store.close())
  const { profile } = await probe({
    ...{
      store,
      contract,
      only,
      runId: 'a',
      apiKey: 'key-of-the-fake',
      secondKey: null,
      headers,
      operator: null,
    },
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ maxCredits: 500, timeScale: 1, startedAt: new Date(0) },
    now: () => state.seconds * 1e6,
    sleep: async (us) => {
      state.seconds += us / 1e6
    },
    ...{ signal: new AbortController().signal },
  })
  return { store, profile, answers: profile.answers, state }
}

function serverOf(fake: Fake, contract: FullContract, state: FakeState) {
  const heardOf = new Map<string, number>()
  const late: { readonly dueS: number; readonly credits: number }[] = []
  return createServer((request, response) => {
    while (late[0] !== undefined && late[0].dueS <= state.seconds) {
      state.balance -= late.shift()!.credits
    }
    let text = ''
    request.on('data', (bytes) => {
      text += bytes
    })
    request.on('end', () => {
      const path = request.url!.split('?')[0]!
      const endpoint =
        (['models', 'credits', 'chat', 'messages'] as const).find((each) =>
          path.endsWith(contract.paths[each]),
        ) ?? 'models'
      const nth = (heardOf.get(endpoint) ?? 0) + 1
      heardOf.set(endpoint, nth)
      const heard: Heard = {
        endpoint,
        nth,
        body: JSON.parse(text || '{}'),
        headers: request.headers,
      }
      const status = fake.status?.(heard) ?? 200
      const headers: Record<string, string> = { 'content-type': 'application/json' }
      if (status !== 200) {
        response.writeHead(status, headers)
        response.end(
          JSON.stringify({
            error: { message: fake.errorText?.(heard) ?? 'no', type: 'x', code: 'no' },
          }),
        )
        return
      }
      const isRead = endpoint === 'models' || endpoint === 'credits'
      if (isRead) state.reads[endpoint]++
      const price = isRead
        ? (fake.readPrice ?? 0)
        : contract.models.find(({ id }) => id === heard.body.model)!.costCredits
      const isLate = !isRead && fake.chargedLateS !== undefined
      const early = isLate || (isRead && fake.readChargedFirst === false) ? 0 : price
      state.balance -= early
      if (!isRead) {
        state.requests++
        state.stream = heard.body.stream === true
        state.seconds++
        headers['x-credits-remaining'] = `${fake.header?.(state, price) ?? state.balance}`
      }
      const answer = bodyOf(fake, heard, state)
      if (isLate) late.push({ dueS: state.seconds + fake.chargedLateS!, credits: price })
      else state.balance -= price - early
      if (typeof answer === 'string') headers['content-type'] = 'text/event-stream'
      response.writeHead(200, headers)
      response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
    })
  })
}

/** A messages stream is sent as a plain answer. */
function bodyOf(fake: Fake, { endpoint, body }: Heard, state: FakeState): object | string {
  if (endpoint === 'models') return { object: 'list', data: [] }
  if (endpoint === 'credits') {
    return fake.creditsBody?.(state) ?? { remaining: state.balance }
  }
  const asksToStop = body.stop !== undefined || body.stop_sequences !== undefined
  const stopped = asksToStop && fake.ignoresStops !== true
  const stoppedText = fake.stoppedText ?? 'H'
  const short = body.max_tokens === 1
  const model = body.model
  if (endpoint === 'chat') {
    const base = { id: `c${state.requests}`, created: 1, model }
    const content = stopped ? stoppedText : 'Hello there'
    const finish_reason = short ? 'length' : 'stop'
    if (body.stream === true) {
      const object = 'chat.completion.chunk'
      const chunk = { index: 0, delta: { role: 'assistant', content }, finish_reason }
      return `data: ${JSON.stringify({ ...base, object, choices: [chunk] })}\n\ndata: [DONE]\n\n`
    }
    return {
      ...{ ...base, object: 'chat.completion', usage: usageOf(content) },
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason }],
    }
  }
  const stop_reason = stopped ? 'stop_sequence' : short ? 'max_tokens' : 'end_turn'
  return {
    ...{ id: `m${state.requests}`, type: 'message', role: 'assistant', model, stop_reason },
    content: [{ type: 'text', text: stopped ? stoppedText : 'Hello there' }],
    usage: { input_tokens: 1, output_tokens: 2 },
  }
}

function usageOf(content: string): object {
  const completion = content === '' ? 0 : 1
  return { prompt_tokens: 1, completion_tokens: completion, total_tokens: 1 + completion }
}
