import type { Message } from '../../client/call/request.ts'
import type { Attempt } from '../../client/row/attempt.ts'
import type { Task, Turn } from '../../scenario/tasks.ts'
import { contentOf, type ToolCall } from '../expect/answer.ts'
import type { ActivePhase } from '../send/active-phase.ts'
import type { Flight, User } from '../send/flight.ts'
import type { TaskProgress } from './task-progress.ts'
import { callMessages } from './tool-messages.ts'

/** What a request of a task leaves for those after it. */
interface Left {
  /** The conversation with its answer. */
  readonly messages: readonly Message[]
  readonly answer: string
  /** Calls of tools that the next request answers. */
  readonly calls: readonly ToolCall[]
  /** Whether a tool was called so far. */
  readonly hasCalled: boolean
  /** Tokens of the conversation: as the service reports them, else a quarter of its letters. */
  readonly tokens: number
}

const nothing: Left = { messages: [], answer: '', calls: [], hasCalled: false, tokens: 0 }

/** A task in one sending thread. */
export class RunningTask {
  readonly id: number
  readonly task: Task
  readonly phase: ActivePhase
  readonly index: number
  readonly key: number
  /** Of a closed load; null in an open one. */
  readonly user: User | null
  readonly progress: TaskProgress
  /** Its requests that are due or in flight, by their number. */
  readonly flights = new Map<number, Flight>()
  private readonly left: (Left | undefined)[] = []
  private repeated: string | null = null
  /** Whether a request of it could not be sent. */
  isRefused = false

  constructor(
    of: Pick<RunningTask, 'id' | 'task' | 'phase' | 'index' | 'key' | 'user' | 'progress'>,
  ) {
    this.id = of.id
    this.task = of.task
    this.phase = of.phase
    this.index = of.index
    this.key = of.key
    this.user = of.user
    this.progress = of.progress
  }

  turnOf(number: number): Turn {
    return this.task.turns[this.progress.plan[number]!.turn]!
  }

  /** The conversation before a request, and the answers that it is given. */
  before(number: number): Omit<Left, 'answer'> & { readonly given: readonly string[] } {
    const { continues, takes } = this.progress.plan[number]!
    const { messages, calls, hasCalled, tokens } =
      (continues === null ? undefined : this.left[continues]) ?? nothing
    const given = takes.map((from) => this.left[from]?.answer ?? '')
    return { messages, calls, hasCalled, tokens, given }
  }

  /** The header that ties it together; null for none, or if the service has not sent any yet. */
  affinity(runId: string): Readonly<Record<string, string>> | null {
    const { affinity } = this.task
    if (affinity === null) return null
    const value = affinity.repeats ? this.repeated : `${runId}-${this.phase.slotOf(this.index, 0)}`
    return value === null ? null : { [affinity.header]: value }
  }

  /** A request that ended before the task started, with an invented answer. */
  invent(number: number, asked: readonly Message[], answer: string): void {
    const messages = [...asked, { role: 'assistant', content: answer }]
    const tokens = tokensIn(messages)
    this.left[number] = { messages, answer, calls: [], hasCalled: false, tokens }
  }

  /** Keeps what an answer says for the requests after it. */
  keep(flight: Flight, attempt: Attempt): void {
    const { text, tools: calls } = contentOf(attempt.captured?.body ?? '')
    const asked = flight.conversation!.messages
    const answer = text ?? ''
    const messages =
      calls.length === 0
        ? [...asked, { role: 'assistant', content: answer }]
        : [...asked, ...callMessages(flight.plan.step.endpoint, text, calls)]
    const { promptTokens, completionTokens } = attempt
    const reported = promptTokens + completionTokens
    const tokens = Number.isNaN(reported) ? tokensIn(messages) : reported
    const hasCalled = calls.length > 0 || this.before(flight.turn).hasCalled
    this.left[flight.turn] = { messages, answer, calls, hasCalled, tokens }
    const { affinity } = this.task
    if (affinity?.repeats === true) {
      this.repeated = headerOf(attempt.captured?.headers ?? '', affinity.header) ?? this.repeated
    }
  }
}

/** About so many. */
const tokensIn = (messages: readonly Message[]) => JSON.stringify(messages).length / 4

function headerOf(headers: string, name: string): string | null {
  const start = `${name.toLowerCase()}:`
  const line = headers.split('\n').find((each) => each.toLowerCase().startsWith(start))
  return line === undefined ? null : line.slice(start.length).trim()
}
