import { flags } from '../../attempt/flags.ts'
import type { Attempt } from '../../client/row/attempt.ts'
import { type Billing, billingOf } from '../../contract/billing.ts'
import type { Contract } from '../../contract/contract.ts'
import { pricesOutput } from '../../contract/price-entry.ts'
import { takesPrompt } from '../../contract/request.ts'
import { maxTokensOf } from '../../contract/request-fields.ts'
import {
  AttemptCosts,
  type CostedAttempt,
  costDigits,
  mostUnits,
  type PromptMedia,
} from '../../price/attempts/attempt-costs.ts'
import { asksForCalls, pricesCalls } from '../../price/calls.ts'
import { askedModel } from '../../scenario/asked-model.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import type { Step } from '../../scenario/steps.ts'
import type { StepCounters } from '../count/attempt-counts.ts'
import type { Flight } from '../send/flight.ts'
import { boundDigits, type SharedMoney } from './shared-money.ts'

/** Units of 10^-18 in one unit of the bound. */
const unitsOfBound = 10n ** BigInt(costDigits - boundDigits)
const toBound = (units: bigint) => (units + unitsOfBound - 1n) / unitsOfBound

/** Answers of known cost from which the dearest request of a step is a better estimate than its bytes. */
const enoughKnown = 3

/** Texts of every language that was tried have at least so many bytes for each token, in every common tokenizer. */
const bytesOfToken = 3
/** Tokens that a format adds to a prompt. */
const tokensOfFormat = 32

/** An upper estimate of the tokens of a prompt. */
export const tokensOfBytes = (bytes: number) => Math.ceil(bytes / bytesOfToken) + tokensOfFormat

export const serviceTierOf = ({ body }: Step): string | null =>
  typeof body.service_tier === 'string' ? body.service_tier : null

/** What of a request is not as its step says, as that of a line of a trace. */
interface AsSent {
  readonly model?: string | null
  readonly maxTokens?: number | null
  readonly atMs?: number
  /** Null: that of the contract's usual price. */
  readonly serviceTier?: string | null
  /** What the prompt has beside text. */
  readonly media?: readonly PromptMedia[]
}

/** By the type of a part of a prompt, or of its bytes: the names alone may be of the answer or of a tool. */
const shownMedia: readonly (readonly [shows: RegExp, media: PromptMedia])[] = [
  [/"type"\s*:\s*"(?:input_audio|audio_url)"|"m\w+_?type"\s*:\s*"audio\//i, 'input_audio'],
  [
    /"type"\s*:\s*"(?:image|image_url|input_image|input_file|document)"|"m\w+_?type"\s*:\s*"image\//i,
    'input_image',
  ],
]

/** What a prompt has beside text, by the JSON of a request or of its messages. */
export const mediaOf = (json: string): readonly PromptMedia[] =>
  shownMedia.flatMap(([shows, media]) => (shows.test(json) ? [media] : []))

/**
 * The most that one request of a step can cost: its prompt written to a cache, its answer as long as `max_tokens`.
 *
 * @param promptTokens an upper estimate
 * @returns units of 10^-18; null without a price, without a bound of the answer, or where it may call what has a price of its own
 */
export function mostOfStep(
  step: Step,
  costs: AttemptCosts,
  contract: Contract,
  promptTokens: number,
  sent: AsSent = {},
): bigint | null {
  const price = priceOf(step, costs, sent)
  if (price !== null && pricesCalls(price) && asksForCalls(step.body)) return null
  return mostOfTokens(step, costs, contract, promptTokens, sent)
}

/** The same without its calls, which nothing bounds before some were seen. */
function mostOfTokens(
  step: Step,
  costs: AttemptCosts,
  contract: Contract,
  promptTokens: number,
  sent: AsSent = {},
): bigint | null {
  const { maxTokens = step.maxTokens, atMs = Date.now(), serviceTier = serviceTierOf(step) } = sent
  const price = priceOf(step, costs, sent)
  if (price === null) return null
  const output = pricesOutput(price.price) ? mostOutputOf(step, contract, maxTokens) : 0
  if (output === null) return null
  const choices = Number(step.body.n)
  return mostUnits(
    price,
    {
      prompt: promptTokens,
      output: choices > 1 ? Math.ceil(output * choices) : output,
      hasMedia: Array.isArray(step.body.modalities),
      media: sent.media ?? [],
    },
    { atMs, serviceTier, choices: {} },
  )
}

/** The most tokens of one choice of an answer; null if nothing bounds them. */
export const mostOutputOf = (
  step: Step,
  contract: Contract,
  maxTokens = step.maxTokens,
): number | null => maxTokensOf(step.body) ?? maxTokens ?? contract.limits?.maxOutputTokens ?? null

/** Whether a request of a step costs nothing before its answer says more: it needs no model and asks for none, or is wrong on purpose. */
export const isFree = (step: Step, model = step.model): boolean =>
  step.wrong !== null || (askedModel(step, model) === null && !takesPrompt(step.endpoint))

function priceOf(step: Step, costs: AttemptCosts, { model = step.model }: AsSent) {
  const asked = askedModel(step, model)
  return asked === null ? null : costs.modelOf(asked)
}

/** The costs of a thread's requests; null if the contract states no prices for them. */
export class RunMoney {
  private readonly costs: AttemptCosts
  private readonly contract: Contract
  private readonly shared: SharedMoney
  private readonly startedMs: number
  /** By step: answers of known cost, and the dearest request. */
  private readonly seen: { known: number; dearest: bigint }[]

  static of(
    scenario: Scenario,
    contract: Contract,
    shared: SharedMoney,
    startedMs: number,
  ): RunMoney | null {
    const billing = runBilling(contract, scenario)
    return billing.kind === 'money'
      ? new RunMoney(
          scenario,
          contract,
          new AttemptCosts(contract, billing.prices),
          shared,
          startedMs,
        )
      : null
  }

  private constructor(
    scenario: Scenario,
    contract: Contract,
    costs: AttemptCosts,
    shared: SharedMoney,
    startedMs: number,
  ) {
    this.costs = costs
    this.contract = contract
    this.shared = shared
    this.startedMs = startedMs
    this.seen = scenario.steps.map(() => ({ known: 0, dearest: 0n }))
  }

  /** Reserves what a request may cost: all that is left if nothing says it. @returns null if the bound does not allow it */
  reserve(flight: Flight): bigint | null {
    if (!this.shared.isBounded) return 0n
    const units = this.estimate(flight)
    if (units === null) return this.shared.reserveRest()
    const estimate = toBound(units)
    return this.shared.reserve(estimate) ? estimate : null
  }

  private estimate({ plan, request }: Flight): bigint | null {
    const { known, dearest } = this.seen[plan.index]!
    if (known >= enoughKnown) return dearest
    const { model, maxTokens } = request
    if (isFree(plan.step, model)) return dearest
    const prompt = tokensOfBytes(request.wire.body.length)
    const media = mediaOf(request.wire.body.toString())
    const mostOf = (more: AsSent = {}) =>
      mostOfTokens(plan.step, this.costs, this.contract, prompt, {
        ...{ model, maxTokens, media },
        ...more,
      })
    // A tier without a price of its own counts as much as the usual one: nobody knows more.
    return mostOf() ?? (known > 0 ? dearest : mostOf({ serviceTier: null }))
  }

  /** Ends the reservation of a request that was not sent. */
  release(flight: Flight): void {
    if (flight.reserved > 0n) this.shared.settle(flight.reserved, 0n)
    flight.reserved = 0n
  }

  /** Counts what a request cost. One whose cost is not known keeps its reservation. */
  ended(flight: Flight, attempt: Attempt, counters: StepCounters): void {
    const units = this.costs.unitsOf(costed(flight, attempt, this.startedMs))
    const { reserved } = flight
    flight.reserved = 0n
    if (units === null) {
      if (flight.plan.step.wrong === null) counters.costUnknown++
      const wasSent = !Number.isNaN(attempt.sentUs)
      if (this.shared.isBounded) this.shared.settle(reserved, wasSent ? reserved : 0n)
      return
    }
    counters.costUnits += units
    const seen = this.seen[flight.plan.index]!
    // A refusal or an empty answer that is free says nothing of what an answer costs.
    if (attempt.outcome === 'ok' && (units > 0n || attempt.completionTokens > 0)) seen.known++
    if (units > seen.dearest) seen.dearest = units
    if (this.shared.isBounded) this.shared.settle(reserved, toBound(units))
  }
}

const orNull = (value: number) => (Number.isNaN(value) ? null : value)

function costed(flight: Flight, attempt: Attempt, startedMs: number): CostedAttempt {
  return {
    model: flight.request.model,
    responseModel: attempt.responseModel,
    outcome: attempt.outcome,
    finishReason: attempt.finishReason,
    serviceTier: serviceTierOf(flight.plan.step),
    atMs: startedMs + attempt.sentUs / 1000,
    severalPasses: (attempt.flags & flags.severalPasses) !== 0,
    promptTokens: orNull(attempt.promptTokens),
    cachedTokens: orNull(attempt.cachedTokens),
    cacheReadAudioTokens: orNull(attempt.cacheReadAudioTokens),
    cacheWriteTokens: orNull(attempt.cacheWriteTokens),
    cacheWrite1hTokens: orNull(attempt.cacheWrite1hTokens),
    inputAudioTokens: orNull(attempt.inputAudioTokens),
    inputImageTokens: orNull(attempt.inputImageTokens),
    completionTokens: orNull(attempt.completionTokens),
    reasoningTokens: orNull(attempt.reasoningTokens),
    outputAudioTokens: orNull(attempt.outputAudioTokens),
    outputImageTokens: orNull(attempt.outputImageTokens),
    citationTokens: orNull(attempt.citationTokens),
    totalTokens: orNull(attempt.totalTokens),
  }
}

/** The names by which the requests of a scenario ask. Those of a trace are in its rows. */
export const modelsOf = ({ steps }: Scenario): readonly (string | null)[] =>
  steps.map((step) => askedModel(step, step.model))

/** In what a scenario is paid. A step without a model may get those of a trace, so any of the contract. */
export function runBilling(contract: Contract, scenario: Scenario): Billing {
  const asked = modelsOf(scenario)
  const isTraced = scenario.phases.some(({ load }) => load.kind === 'replay')
  const ofRows = isTraced && asked.includes(null) ? (contract.models ?? []) : []
  return billingOf(contract, [...asked, ...ofRows.map(({ id }) => id)])
}
