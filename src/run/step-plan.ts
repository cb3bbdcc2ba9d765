import type { TemplateRow } from '../attempt/evidence.ts'
import {
  buildTemplate,
  type Message,
  type PreparedRequest,
  plainRequest,
  prepareRequest,
  type RequestSpec,
  type RequestTemplate,
  templateRow,
} from '../client/request.ts'
import { mayBeCharged } from '../client/wrong.ts'
import { type Contract, costOf } from '../contract/contract.ts'
import type { PromptContext, PromptFunction } from '../scenario/define.ts'
import type { Step } from '../scenario/scenario.ts'
import { ScenarioFault } from './errors.ts'
import { KeyChoice } from './key-choice.ts'
import type { PromptPool, ResolvedKey } from './messages.ts'

/** A request ready to be sent, and the number under which the store shows it. */
export interface Ready {
  readonly request: PreparedRequest
  readonly template: number
  /** Credits that a success costs at most; 0 where none is meant to succeed. */
  readonly credits: number
}

/** Bodies of requests that are made one by one are kept up to so many bytes for each thread. */
const keptBodyBytes = 64 << 20

/** Numbers of templates made while running begin here, beyond all that are known up front. */
export const firstMadeTemplate = 1 << 24

/**
 * A step of the mix with its requests made ahead: one for each prompt and key, so that sending
 * allocates nothing. What hangs on answers or on a function is made when it is sent.
 */
export class StepPlan {
  readonly step: Step
  readonly index: number
  /** Credits that a success costs at most, as the step is written. */
  readonly credits: number
  readonly keys: KeyChoice
  readonly turns: number
  /** How many prompts there are to draw from. */
  readonly prompts: number
  /** Whether the real key goes out with it. */
  readonly sendsKey: boolean
  private readonly ready = new Map<number, Ready>()
  private readonly templates = new Map<number, RequestTemplate>()
  private readonly options: StepPlanOptions

  constructor(step: Step, index: number, options: StepPlanOptions) {
    this.step = step
    this.index = index
    this.options = options
    this.turns = step.session?.turns ?? 1
    this.prompts = options.pool?.length ?? 1
    this.sendsKey = step.wrong === null || !step.wrong.endsWith('-key')
    this.keys = new KeyChoice(step, options.keys)
    this.credits = creditsOf(step, options.contract)
  }

  /** The request of a draw from the pool of prompts. */
  fromPool(uniform: number, key: number): Ready {
    const { pool, templateBase } = this.options
    const prompt = Math.floor(uniform * (pool?.length ?? 1))
    const place = prompt * (this.options.keys.length + 1) + key + 1
    const known = this.ready.get(place)
    if (known !== undefined) return known
    let template = this.templates.get(prompt)
    if (template === undefined) {
      const said = pool?.[prompt] ?? ''
      template =
        typeof said === 'string'
          ? this.template([{ role: 'user', content: said }])
          : this.template(said.messages, { body: { ...said.fields, ...this.step.body } })
      this.templates.set(prompt, template)
      this.tell(template, templateBase + prompt)
    }
    const ready = {
      request: this.prepare(template, key),
      template: templateBase + prompt,
      credits: this.credits,
    }
    this.ready.set(place, ready)
    return ready
  }

  /** A request of its own: a turn of a conversation, a prompt function, a line of a trace. */
  made(messages: readonly Message[], key: number, change: Partial<RequestSpec> = {}): Ready {
    const template = this.template(messages, change)
    const number = this.options.nextMade()
    this.tell(template, number)
    const credits = creditsOf(this.step, this.options.contract, change.model ?? undefined)
    return { request: this.prepare(template, key), template: number, credits }
  }

  /**
   * What the user says at this index; null when it is drawn from the pool.
   *
   * @throws ScenarioFault when the scenario's function throws
   */
  ownPrompt(context: PromptContext): string | null {
    const { prompt } = this.options
    if (prompt === null) return null
    try {
      return String(prompt(context))
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new ScenarioFault(
        `The prompt function of step ${this.step.name} failed at index ${context.index}, turn ${context.turn}: ${why}. Mend it in the scenario.`,
      )
    }
  }

  /** What the user says in turn `turn` of a conversation: prompts of the pool in a row. */
  pooledPrompt(uniform: number, turn: number): unknown {
    const { pool } = this.options
    if (pool === null || pool.length === 0) return ''
    const prompt = pool[(Math.floor(uniform * pool.length) + turn) % pool.length]!
    return typeof prompt === 'string' ? prompt : prompt.messages.at(-1)!.content
  }

  private template(
    messages: readonly Message[],
    change: Partial<RequestSpec> = {},
  ): RequestTemplate {
    const { step } = this
    return buildTemplate(this.options.contract, this.options.basePath, {
      ...plainRequest,
      endpoint: step.endpoint,
      stream: step.stream,
      includeUsage: step.includeUsage,
      model: step.model,
      messages,
      system: step.system,
      maxTokens: step.maxTokens,
      headers: step.headers,
      body: step.body,
      wrong: step.wrong,
      abort: step.abort,
      ...(step.path === null ? {} : { path: step.path }),
      ...(step.method === null ? {} : { method: step.method }),
      ...change,
    })
  }

  private prepare(template: RequestTemplate, key: number): PreparedRequest {
    return prepareRequest(template, key < 0 ? null : this.options.keys[key]!.key)
  }

  private tell(template: RequestTemplate, number: number): void {
    const row = templateRow(template, {
      runId: this.options.runId,
      template: number,
      step: this.step.name,
    })
    this.options.onTemplate(row)
  }
}

/**
 * What a success of a step costs at most; 0 where no service may charge it.
 *
 * @param model that is asked for, unless a field of the body says another
 */
export function creditsOf(step: Step, contract: Contract, model = step.model): number {
  const asked = typeof step.body.model === 'string' ? step.body.model : model
  if (!mayBeCharged(step.wrong) || asked === null) return 0
  const choices = Number(step.body.n ?? 1)
  return (costOf(contract, asked) ?? 1) * (choices > 1 ? choices : 1)
}

export interface StepPlanOptions {
  readonly runId: string
  readonly contract: Contract
  readonly basePath: string
  readonly keys: readonly ResolvedKey[]
  readonly pool: PromptPool
  readonly prompt: PromptFunction | null
  /** Number of the template of the first prompt of the pool. */
  readonly templateBase: number
  readonly nextMade: () => number
  readonly onTemplate: (row: TemplateRow) => void
}

/** Lets rows of templates through, without their bodies once those have become too much. */
export function boundedTemplates(
  onTemplate: (row: TemplateRow) => void,
): (row: TemplateRow) => void {
  let bytes = 0
  return (row) => {
    bytes += row.body?.length ?? 0
    onTemplate(bytes > keptBodyBytes ? { ...row, body: null } : row)
  }
}
