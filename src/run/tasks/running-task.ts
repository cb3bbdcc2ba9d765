import type { Message } from '../../client/call/request.ts'
import type { Attempt } from '../../client/row/attempt.ts'
import type { Task, Turn } from '../../scenario/tasks.ts'
import { contentOf, type ToolCall } from '../expect/answer.ts'
import type { ActivePhase } from '../send/active-phase.ts'
import type { Flight, User } from '../send/flight.ts'
import type { TaskProgress } from './task-progress.ts'
import { callMessages } from './tool-messages.ts'

/** What the requests after one of a task need of it. */
interface TurnResult {
  /** The conversation with its answer. */
  readonly messages: readonly Message[]
  readonly answer: string
  /** Calls of tools that the next request answers. */
  readonly calls: readonly ToolCall[]
  /** Whether a tool was called so far. */
  readonly hasCalled: boolean
  /** Tokens of the conversation: as the service reports them, else an estimate. */
  readonly tokens: number
}

const noResult: TurnResult = { messages: [], answer: '', calls: [], hasCalled: false, tokens: 0 }

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
  /** By the number of the request in the plan. */
  private readonly results: (TurnResult | undefined)[] = []
  /** The value of the affinity header that the service sent. */
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

  /** The turn of the scenario's task that a request of the plan is. */
  turnOf(number: number): Turn {
    return this.task.turns[this.progress.plan[number]!.turn]!
  }

  /** The conversation before a request, and the answers that it is given. */
  before(number: number): Omit<TurnResult, 'answer'> & { readonly given: readonly string[] } {
    const { continues, takes } = this.progress.plan[number]!
    const { messages, calls, hasCalled, tokens } =
      (continues === null ? undefined : this.results[continues]) ?? noResult
    const given = takes.map((from) => this.results[from]?.answer ?? '')
    return { messages, calls, hasCalled, tokens, given }
  }

  /** The affinity header of the next request; null if the task has none, or if the service has not sent its value yet. */
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
    this.results[number] = { messages, answer, calls: [], hasCalled: false, tokens }
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
    this.results[flight.turn] = { messages, answer, calls, hasCalled, tokens }
    const { affinity } = this.task
    if (affinity?.repeats === true) {
      this.repeated = headerOf(attempt.captured?.headers ?? '', affinity.header) ?? this.repeated
    }
  }
}

/** Of usual English text, with its JSON. */
const charactersPerToken = 4

/** An estimate. */
const tokensIn = (messages: readonly Message[]) =>
  JSON.stringify(messages).length / charactersPerToken

function headerOf(headers: string, name: string): string | null {
  const start = `${name.toLowerCase()}:`
  const line = headers.split('\n').find((each) => each.toLowerCase().startsWith(start))
  return line === undefined ? null : line.slice(start.length).trim()
}
