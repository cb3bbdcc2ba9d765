import type { TemplateRow } from '../../attempt/evidence.ts'
import { firstUniqueTemplate } from '../../attempt/evidence.ts'
import {
  buildTemplate,
  type Message,
  type PreparedRequest,
  plainRequest,
  prepareRequest,
  type RequestSpec,
  type RequestTemplate,
  templateRow,
} from '../../client/call/request.ts'
import { mayBeCharged } from '../../client/call/wrong.ts'
import { type Contract, costOf } from '../../contract/contract.ts'
import { askedModel } from '../../scenario/asked-model.ts'
import type { PromptContext, PromptFunction } from '../../scenario/define.ts'
import type { Step } from '../../scenario/steps.ts'
import { kindOf, ScenarioCodeError } from '../errors.ts'
import type { ResolvedKey } from '../send/keys.ts'
import { KeyChoice } from './key-choice.ts'
import type { PromptPool } from './prompts.ts'
import type { UniquePrompt } from './unique-prompts.ts'

/** A request ready to be sent, and the number of its template in the store. */
export interface Ready {
  readonly request: PreparedRequest
  readonly template: number
  /** Most credits that a success costs; 0 if no service may charge it. */
  readonly credits: number
}

/** Lengths of prompts that have a number of template each; longer ones share the last. */
const mostLengths = 1 << 20

/** Stands for a prompt while its place in the body is found: a prompt of one word may be in the body twice. */
const standIn = '\u{10fffd}prompt\u{10fffd}'

/** The template of requests that differ only in the words of their prompt. */
interface SharedTemplate {
  /** Without a hash of the prompt, because their prompts differ. */
  readonly template: RequestTemplate
  readonly number: number
  /** The body before and after the prompt. */
  readonly head: string
  readonly tail: string
}

/** Bytes of template bodies, in UTF-8, that each thread stores at most. */
const keptBodyBytes = 64 << 20

/**
 * First number of templates made during a run. Templates have numbers in three ranges, so that no thread needs to ask another:
 *
 *     from 0                        prompts of the pool, one after the other (`templateBase`)
 *     from 2^24                     those made during a run, for one use
 *     from `firstUniqueTemplate`    prompts of their own: step * 2^20 + tokens
 */
export const firstMadeTemplate = 1 << 24

/**
 * A step of the mix with its requests. Requests from the pool are made once for each prompt and key, so
 * that sending allocates nothing. Those that depend on responses or on a function are made when sent.
 */
export class StepPlan {
  readonly step: Step
  readonly index: number
  /** Most credits that a success of the step costs. */
  readonly credits: number
  readonly keys: KeyChoice
  readonly turns: number
  readonly prompts: number
  readonly sendsKey: boolean
  /** Whether a success is judged by what it says. */
  readonly examines: boolean
  private readonly ready = new Map<number, Ready>()
  private readonly templates = new Map<number, RequestTemplate>()
  /** By number of tokens; `fixed` if fields of the body replace the prompt. */
  private readonly byLength = new Map<number, SharedTemplate | 'fixed'>()
  private readonly options: StepPlanOptions

  constructor(step: Step, index: number, options: StepPlanOptions) {
    this.step = step
    this.index = index
    this.options = options
    this.turns = step.session?.turns ?? 1
    this.prompts = options.pool?.length ?? 1
    this.examines = step.expect.length > 0
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
      // Fields of a prompt (`fieldNames`) are tools and formats, never the model or `n`: they do not change the credits.
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

  /**
   * A request with a prompt of its own. Prompts of equal length share a template, whose body is that of the first: a
   * million requests must not store a million bodies.
   */
  unique({ text, tokens }: UniquePrompt, key: number): Ready {
    const known = this.byLength.get(tokens) ?? this.sharedTemplate(text, tokens)
    if (known === 'fixed') return this.fromPool(0, key)
    const body = Buffer.from(`${known.head}${JSON.stringify(text)}${known.tail}`, 'utf8')
    return {
      request: this.prepare({ ...known.template, body }, key),
      template: known.number,
      credits: this.credits,
    }
  }

  private sharedTemplate(text: string, tokens: number): SharedTemplate | 'fixed' {
    const template = this.template([{ role: 'user', content: text }])
    const { body } = this.template([{ role: 'user', content: standIn }])
    const [head, tail] = Buffer.from(body).toString('utf8').split(JSON.stringify(standIn))
    if (head === undefined || tail === undefined) {
      this.byLength.set(tokens, 'fixed')
      return 'fixed'
    }
    // The same on every thread: rows do not depend on who sent them.
    const number =
      firstUniqueTemplate + this.index * mostLengths + Math.min(tokens, mostLengths - 1)
    const shared = { template: { ...template, promptHash: null }, number, head, tail }
    this.byLength.set(tokens, shared)
    this.tell(shared.template, number)
    return shared
  }

  /** A request for one use: a turn of a conversation, a prompt of a function, a line of a trace. */
  made(messages: readonly Message[], key: number, change: Partial<RequestSpec> = {}): Ready {
    const template = this.template(messages, change)
    const number = this.options.nextMade()
    this.tell(template, number)
    const credits = creditsOf(this.step, this.options.contract, change.model ?? undefined)
    return { request: this.prepare(template, key), template: number, credits }
  }

  /**
   * The prompt of the scenario's function; null without a function.
   *
   * @throws ScenarioCodeError if the function throws, or returns no text
   */
  ownPrompt(context: PromptContext): string | null {
    const { prompt } = this.options
    if (prompt === null) return null
    const failed = (why: string) =>
      new ScenarioCodeError(
        `The prompt function of step ${this.step.name} failed at index ${context.index}, turn ${context.turn}: ${why}. Fix it in the scenario.`,
      )
    let said: unknown
    try {
      said = prompt(context)
    } catch (error) {
      throw failed(error instanceof Error ? error.message : String(error))
    }
    if (typeof said !== 'string') throw failed(`it returned ${kindOf(said)}, not a text`)
    return said
  }

  /** A whole conversation of a file; null for prompts that are single. */
  wholeConversation(
    uniform: number,
  ): { readonly messages: readonly Message[]; readonly turns: readonly string[] } | null {
    const { pool } = this.options
    const prompt = pool?.[Math.floor(uniform * pool.length)]
    if (prompt === undefined || typeof prompt === 'string') return null
    const { messages, turns } = prompt
    return turns === undefined ? null : { messages, turns }
  }

  /** The user's message in turn `turn` of a conversation: turns take successive prompts of the pool. */
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
    const { endpoint, stream, includeUsage, model, system, maxTokens } = step
    const { headers, body, wrong, abort } = step
    const spec: RequestSpec = {
      ...plainRequest,
      ...{ endpoint, stream, includeUsage, model, messages, system, maxTokens },
      ...{ headers, body, wrong, abort },
      ...(step.path === null ? {} : { path: step.path }),
      ...(step.method === null ? {} : { method: step.method }),
      ...change,
    }
    return buildTemplate(this.options.contract, this.options.basePath, {
      ...spec,
      body: { ...enforcedLength(step, spec), ...spec.body },
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

/** Whether a step sends the fields that make a server end an answer neither before nor after its `max_tokens`. */
export const enforcesLength = ({ output, endpoint }: Step): boolean =>
  output?.isEnforced === true && endpoint === 'chat'

/** Those fields: vLLM and SGLang read both, llama.cpp the second. */
function enforcedLength(step: Step, { maxTokens }: RequestSpec) {
  if (!enforcesLength(step) || maxTokens === null) return {}
  return { min_tokens: maxTokens, ignore_eos: true }
}

/**
 * Most credits that a success of a step costs; 0 if no service may charge it. A model without a price
 * counts as 1.
 *
 * @param model the requested model, unless a field of the body overrides it
 */
export function creditsOf(step: Step, contract: Contract, model = step.model): number {
  const asked = askedModel(step, model)
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
  /** Number of the template of the pool's first prompt. */
  readonly templateBase: number
  readonly nextMade: () => number
  readonly onTemplate: (row: TemplateRow) => void
}

/** Passes templates on, without their bodies once these exceed the limit. */
export function boundedTemplates(
  onTemplate: (row: TemplateRow) => void,
): (row: TemplateRow) => void {
  let bytes = 0
  return (row) => {
    bytes += Buffer.byteLength(row.body ?? '')
    onTemplate(bytes > keptBodyBytes ? { ...row, body: null } : row)
  }
}
