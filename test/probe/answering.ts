import type { RequestSpec } from '../../src/client/call/request.ts'
import { defaultContract } from '../../src/contract/default.ts'
import type { GapAnswer, GapId } from '../../src/contract/profile.ts'
import type { ProbeResponse } from '../../src/probe/probe-response.ts'
import type { Prober } from '../../src/probe/prober.ts'
import type { Question } from '../../src/probe/question.ts'

/** The answer of a fake service: a status, or a status with columns and a body. */
export type Answer =
  | number
  | null
  | {
      readonly status: number | null
      readonly columns?: Readonly<Record<string, unknown>>
      readonly json?: unknown
    }

export type Sent = Partial<RequestSpec> & Pick<RequestSpec, 'endpoint'>

/** A prober for a question, with a function that answers each request. */
export function answeredBy(
  answer: (sent: Sent, nth: number) => Answer,
  change: Partial<Prober> = {},
): Prober {
  const responses: ProbeResponse[] = []
  const send = async (sent: Sent) => {
    const told = answer(sent, responses.length)
    const {
      status,
      columns = {},
      json,
    } = typeof told === 'object' && told ? told : { status: told }
    const outcome = status === null ? 'timeout' : status < 400 ? 'ok' : 'http_error'
    const response = {
      spec: { stream: false, ...sent },
      status,
      json,
      columns: { outcome, status, errorCode: null, ...columns },
    }
    responses.push(response as unknown as ProbeResponse)
    return response
  }
  const to = (endpoint: Sent['endpoint']) => (spec: Partial<RequestSpec>) =>
    send({ ...spec, endpoint })
  return {
    ...{ contract: defaultContract, options: { runId: 'a', timeScale: 1 }, responses, limited: [] },
    ...{ chat: to('chat'), messages: to('messages'), send, now: () => 0, rest: async () => {} },
    read: (endpoint: 'models' | 'credits', spec: Partial<RequestSpec>) =>
      send({ ...spec, endpoint }),
    ...change,
  } as unknown as Prober
}

/** The answer to one gap. */
export async function told(question: Question, gap: GapId, prober: Prober): Promise<GapAnswer> {
  return (await question.ask(prober))[gap]!
}
