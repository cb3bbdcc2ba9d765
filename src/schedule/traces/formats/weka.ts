import { z } from 'zod'
import { withoutMark } from '../../../user/byte-order-mark.ts'
import { userError } from '../../../user/user-error.ts'
import { plainRow, type TraceRow, type TraceRows } from '../trace.ts'

const request = z.looseObject({
  t: z.number(),
  type: z.string(),
  model: z.string().optional(),
  in: z.number().nonnegative(),
  out: z.number().nonnegative(),
  hash_ids: z.array(z.int().nonnegative()).default([]),
  stop: z.string().default(''),
  api_time: z.number().optional(),
  ttft: z.number().optional(),
})
const subagent = z.looseObject({
  t: z.number(),
  type: z.literal('subagent'),
  agent_id: z.string(),
  status: z.string().default('completed'),
  get requests() {
    return z.array(z.union([subagent, request]))
  },
})
type Subagent = z.infer<typeof subagent>
type Entry = Subagent | z.infer<typeof request>

const file = z.looseObject({
  block_size: z.int().positive(),
  requests: z.array(z.union([subagent, request])),
})

const isSubagent = (entry: Entry): entry is Subagent => entry.type === 'subagent'

/**
 * A session of an agent in Weka's form (also AgentX): times in seconds, nested subagents. A request waits for the one
 * before it of its agent, and for subagents that began between them, unless these were launched to run beside it.
 *
 * Some files count the times of a subagent from its marker, others from the start of the session. One inner time before
 * its marker shows that all of the file are relative.
 */
export function weka(text: string, path: string): TraceRows {
  const session = file.safeParse(jsonOf(text, path))
  if (!session.success) {
    const [issue] = session.error.issues
    throw userError.trace(
      `${path}, ${issue!.path.join('.') || 'top level'}: expected a session of Weka's form, with block_size and requests of t, type, in and out (${issue!.message}).`,
    )
  }
  const { requests, block_size: block } = session.data
  const rows: TraceRow[] = []
  const relative = isRelative(requests)

  /** @returns index of the agent's request that ended last; null if it has none */
  const readAgent = (
    entries: readonly Entry[],
    agent: string,
    offset: number,
    before: number | null,
  ) => {
    let waitsFor = before
    let last: number | null = null
    for (const entry of entries) {
      if (isSubagent(entry)) {
        const inner = relative ? offset + entry.t : offset
        const end = readAgent(entry.requests, entry.agent_id, inner, last ?? before)
        const joins = end !== null && entry.status !== 'async_launched'
        if (joins && (waitsFor === last || endOf(end) > endOf(waitsFor!))) waitsFor = end
        continue
      }
      rows.push({
        ...plainRow(offset + entry.t, entry.in, entry.out),
        hashIds: entry.hash_ids,
        session: agent,
        stream: entry.type === 's',
        after: waitsFor,
        recorded: {
          ...(entry.model === undefined ? {} : { model: entry.model }),
          toolCall: entry.stop === 'tool_use',
          serviceUs: micros(entry.api_time),
          ttftUs: micros(entry.ttft),
        },
      })
      last = rows.length - 1
      waitsFor = last
    }
    return last
  }
  const endOf = (index: number) => rows[index]!.time + (rows[index]!.recorded.serviceUs ?? 0) / 1e6
  readAgent(requests, 'main', 0, null)
  return { rows, leftOut: [], unit: 's', blocks: [block] }
}

const micros = (seconds: number | undefined) => (seconds === undefined ? null : seconds * 1e6)

const isRelative = (entries: readonly Entry[]): boolean =>
  entries
    .filter(isSubagent)
    .some(({ t, requests }) => requests.some((inner) => inner.t < t) || isRelative(requests))

function jsonOf(text: string, path: string): unknown {
  try {
    return JSON.parse(withoutMark(text))
  } catch {
    throw userError.trace(`${path}: expected one JSON object, a session of Weka's form.`)
  }
}
