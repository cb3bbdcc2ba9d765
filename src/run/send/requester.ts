import type { TemplateRow } from '../../attempt/evidence.ts'
import type { Message } from '../../client/call/request.ts'
import type { PromptFunction } from '../../scenario/define.ts'
import type { PhaseRun, SenderData } from '../crew/messages.ts'
import { boundedTemplates, firstMadeTemplate, type Ready, StepPlan } from '../plan/step-plan.ts'
import type { TokenText } from '../plan/token-text.ts'
import { type UniquePrompts, uniquePromptsOf } from '../plan/unique-prompts.ts'
import type { RunningTask } from '../tasks/running-task.ts'
import { TaskPrefixes } from '../tasks/task-prefixes.ts'
import { offeredTool, resultMessages } from '../tasks/tool-messages.ts'
import type { ActivePhase } from './active-phase.ts'
import type { Conversation, Flight } from './flight.ts'

export interface RequesterParts {
  readonly data: SenderData
  readonly prompts: readonly (PromptFunction | undefined)[]
  /** For traces; null if there are none. */
  readonly tokenText: TokenText | null
}

/** Tokens of an invented answer of a step without a maximum. */
const inventedTokens = 100

/** Where a request of a task is sent. */
type TurnPlace = Pick<Flight, 'phase' | 'plan' | 'slot'>

/** Decides the content of a flight: from a pool, a trace, a function, or a conversation so far. */
export class Requester {
  readonly plans: readonly StepPlan[]
  private readonly parts: RequesterParts
  /** By step; null for a pool or a function. */
  private readonly unique: readonly (UniquePrompts | null)[]
  private readonly prefixes: TaskPrefixes
  private templates: TemplateRow[] = []
  private conversations = 0

  constructor(parts: RequesterParts) {
    this.parts = parts
    const { data } = parts
    const { scenario, shard, shards } = data
    this.unique = scenario.steps.map((step) => uniquePromptsOf(step, data.seed, data.runId))
    this.prefixes = new TaskPrefixes(data.seed, data.runId)
    let made = firstMadeTemplate + shard
    let templateBase = 0
    const onTemplate = boundedTemplates((row) => this.templates.push(row))
    this.plans = scenario.steps.map((step, index) => {
      const pool = data.prompts[index] ?? null
      const plan = new StepPlan(step, index, {
        runId: data.runId,
        contract: data.contract,
        basePath: new URL(data.baseUrl).pathname.replace(/\/$/, ''),
        keys: data.keys,
        pool,
        prompt: parts.prompts[index] ?? null,
        templateBase,
        nextMade: () => {
          made += shards
          return made
        },
        onTemplate,
      })
      templateBase += pool?.length ?? 1
      return plan
    })
  }

  /** Templates that were first used since the last call. */
  takeTemplates(): readonly TemplateRow[] {
    const taken = this.templates
    this.templates = []
    return taken
  }

  /** Gives a flight the request of its index. */
  ask(flight: Flight, index: number): void {
    const { phase, plan } = flight
    const { load } = phase.run
    const uniform = plan.prompts > 1 ? phase.promptDraw(index) : 0
    const unique = this.unique[plan.index] ?? null
    if (plan.step.session !== null) {
      const id = this.newConversation()
      const told = plan.wholeConversation(uniform)
      // A system message stands in front, in the format that has such a message.
      const messages = plan.step.endpoint === 'chat' ? (told?.messages.slice(0, -1) ?? []) : []
      flight.conversation = {
        id,
        messages: [...messages],
        uniform,
        index,
        ...(told === null ? {} : { userTurns: told.turns }),
      }
      this.say(flight)
    } else if (load.kind === 'replay') {
      this.use(flight, this.traced(plan, load, index, flight.key))
    } else if (this.parts.prompts[plan.index] !== undefined) {
      const content = this.ownPrompt(plan, phase, index, 0)
      this.use(flight, plan.made([{ role: 'user', content }], flight.key))
    } else if (unique !== null) {
      const own = unique.of(flight.slot)
      this.use(
        flight,
        own.isKept || this.parts.data.scenario.capture === 'all'
          ? plan.made([{ role: 'user', content: own.text }], flight.key)
          : plan.unique(own, flight.key),
      )
    } else {
      this.use(flight, plan.fromPool(uniform, flight.key))
    }
  }

  /** The number of a conversation, or of a task, that no other of the run has. */
  newConversation(): number {
    const { shard, shards } = this.parts.data
    return this.conversations++ * shards + shard
  }

  private use(flight: Flight, ready: Ready): void {
    flight.request = ready.request
    flight.template = ready.template
    flight.price = ready.credits
  }

  /** Adds the user's next message to a conversation, and makes the request. */
  say(flight: Flight): void {
    const { phase, plan, turn } = flight
    const conversation = flight.conversation as Conversation
    const unique = this.unique[plan.index] ?? null
    const content =
      this.parts.prompts[plan.index] !== undefined
        ? this.ownPrompt(plan, phase, conversation.index, turn)
        : unique !== null
          ? unique.of(flight.slot).text
          : (conversation.userTurns?.[turn] ?? plan.pooledPrompt(conversation.uniform, turn))
    conversation.messages.push({ role: 'user', content })
    this.use(flight, plan.made(conversation.messages, flight.key))
  }

  /** Makes the request of a turn of a task: the conversation that it continues, and what it is given. */
  askTurn(flight: Flight, task: RunningTask): void {
    const { phase, plan, turn, slot } = flight
    const { load } = phase.run
    if (load.kind === 'replay') {
      flight.conversation = { id: task.id, messages: [], uniform: 0, index: task.index }
      this.use(flight, this.traced(plan, load, slot - phase.run.slotBase, flight.key))
      return
    }
    const { step } = plan
    const { messages, hasCalled } = this.turnMessages(task, turn, { phase, plan, slot })
    flight.conversation = { id: task.id, messages, uniform: 0, index: task.index }
    const affinity = task.affinity(this.parts.data.runId)
    const offers = hasCalled || task.turnOf(turn).tools
    this.use(
      flight,
      plan.made(messages, flight.key, {
        ...(affinity === null ? {} : { headers: { ...step.headers, ...affinity } }),
        ...(offers ? { body: { ...offeredTool(step.endpoint), ...step.body } } : {}),
      }),
    )
  }

  /** Invents the conversation of a turn that ended before its task started. */
  inventTurn(task: RunningTask, number: number, to: TurnPlace): void {
    const { messages } = this.turnMessages(task, number, to)
    const { maxTokens } = to.plan.step
    const answer = this.parts.tokenText?.text(maxTokens ?? inventedTokens, to.slot) ?? ''
    task.invent(number, messages, answer)
  }

  private turnMessages(
    task: RunningTask,
    number: number,
    { phase, plan, slot }: TurnPlace,
  ): { readonly messages: Message[]; readonly hasCalled: boolean } {
    const before = task.before(number)
    const { context } = task.task
    const { tokenText } = this.parts
    const behindPrefix = (content: unknown) =>
      after(this.prefixes.of(task.task, task.index, phase.slotOf(task.index, 0)), content)
    const uniform = plan.prompts > 1 ? phase.promptDraw(slot) : 0
    const said = this.turnContent({ phase, plan, slot, turn: number }, uniform)
    const isText = typeof said === 'string'
    const content = isText ? [...before.given, said].join('\n\n') : said
    if (context !== null && before.tokens > context.limitTokens && tokenText !== null) {
      const compact = tokenText.text(context.compactTokens, slot)
      const messages = [
        { role: 'user', content: behindPrefix(compact) },
        { role: 'assistant', content: 'Yes.' },
        { role: 'user', content },
      ]
      return { messages, hasCalled: false }
    }
    const { messages: history, calls, hasCalled } = before
    // Formats refuse two messages of one role in a row.
    const next =
      calls.length > 0
        ? resultMessages(
            plan.step.endpoint,
            calls,
            isText ? String(content) : JSON.stringify(content),
          )
        : [{ role: 'user', content: history.length === 0 ? behindPrefix(content) : content }]
    return { messages: [...history, ...next], hasCalled }
  }

  private turnContent(
    { phase, plan, turn, slot }: TurnPlace & { readonly turn: number },
    uniform: number,
  ): unknown {
    if (this.parts.prompts[plan.index] !== undefined) return this.ownPrompt(plan, phase, slot, turn)
    const unique = this.unique[plan.index] ?? null
    return unique === null ? plan.pooledPrompt(uniform, turn) : unique.of(slot).text
  }

  private ownPrompt(plan: StepPlan, phase: ActivePhase, index: number, turn: number): string {
    return plan.ownPrompt({ index, turn, random: phase.drawsOfPrompt(index, turn) }) ?? ''
  }

  private traced(
    plan: StepPlan,
    { requests, tokensPerBlock }: Extract<PhaseRun['load'], { kind: 'replay' }>,
    index: number,
    key: number,
  ): Ready {
    const traced = requests[index]!
    const content = this.parts.tokenText?.prompt(traced, tokensPerBlock, index) ?? ''
    return plan.made([{ role: 'user', content }], key, {
      maxTokens: Math.max(1, traced.outputTokens),
      ...(traced.stream === null ? {} : { stream: traced.stream }),
      ...(traced.model === null ? {} : { model: traced.model }),
      ...(traced.endpoint === null ? {} : { endpoint: traced.endpoint }),
    })
  }
}

/** A content behind a text, or as it is. */
function after(prefix: string | null, content: unknown): unknown {
  if (prefix === null) return content
  if (typeof content === 'string') return `${prefix} ${content}`
  return Array.isArray(content) ? [{ type: 'text', text: prefix }, ...content] : content
}
