import type {
  AuthHeaders,
  Band,
  ChatError,
  Contract,
  Grants,
  Headers,
  MessagesError,
  Model,
  Package,
  ParameterDefaults,
  ParameterRanges,
  Paths,
  PricedModel,
  ResponseFields,
  Timeouts,
  TokenLimits,
} from './contract.ts'

import { mixedRounding } from './listed-prices.ts'
import type { PriceTerms } from './prices.ts'

/** The promises, each with the part of a contract that has it: a rule that reads one without naming it does not compile. */
interface Parts {
  https: { readonly https: true }
  cross_origin: { readonly crossOrigin: true }
  models: { readonly models: readonly Model[] }
  'models.cost_credits': { readonly models: readonly PricedModel[] }
  'models.context_window_tokens': { readonly models: readonly Model[] }
  'models.tokenizer': { readonly models: readonly Model[] }
  'models.template_tokens': { readonly models: readonly Model[] }
  'models.cache': { readonly models: readonly Model[] }
  'models.tools': { readonly models: readonly Model[] }
  'models.served_tiers': { readonly models: readonly Model[] }
  'models.fixed': { readonly models: readonly Model[] }
  'models.reference': { readonly models: readonly Model[] }
  'models.max_reasoning_tokens': { readonly models: readonly Model[] }
  prices: { readonly prices: PriceTerms }
  'evidence.balance': { readonly prices: PriceTerms }
  bands: { readonly bands: readonly Band[] }
  paths: { readonly paths: Partial<Paths> }
  'paths.credits': { readonly paths: Partial<Paths> & Pick<Paths, 'credits'> }
  'headers.credits_remaining': Named<'creditsRemaining'>
  'headers.rate_limit': Named<'rateLimit'>
  'headers.rate_remaining': Named<'rateRemaining'>
  'headers.rate_reset': Named<'rateReset'>
  'headers.rate_limit, rate_remaining or rate_reset': { readonly headers: Partial<Headers> }
  'headers.token_limit': Named<'tokenLimit'>
  'headers.token_remaining': Named<'tokenRemaining'>
  'auth.chat': { readonly auth: Partial<AuthHeaders> & Pick<AuthHeaders, 'chat'> }
  'auth.messages': { readonly auth: Partial<AuthHeaders> & Pick<AuthHeaders, 'messages'> }
  statuses: { readonly statuses: readonly number[] }
  chat_errors: { readonly chatErrors: readonly ChatError[] }
  messages_errors: { readonly messagesErrors: readonly MessagesError[] }
  /** A rule with a promise of this form judges each format by its own promise, and no other format. */
  'chat_errors or messages_errors': Pick<Contract, 'chatErrors' | 'messagesErrors'>
  'auth.chat or auth.messages': { readonly auth: Partial<AuthHeaders> }
  finish_reasons: { readonly finishReasons: readonly string[] }
  'response_fields.credits': {
    readonly responseFields: Partial<ResponseFields> & Pick<ResponseFields, 'credits'>
  }
  'limits.max_input_tokens': Limited<'maxInputTokens'>
  'limits.max_output_tokens': Limited<'maxOutputTokens'>
  'limits.max_total_tokens': Limited<'maxTotalTokens'>
  ranges: { readonly ranges: Partial<ParameterRanges> }
  defaults: { readonly defaults: Partial<ParameterDefaults> }
  'timeouts.stream_ms': { readonly timeouts: Partial<Timeouts> & Pick<Timeouts, 'streamMs'> }
  grants: { readonly grants: Partial<Grants> }
  packages: { readonly packages: readonly Package[] }
  /** One way of rounding for all of them. */
  'packages.listed_usd_per_credit': { readonly packages: readonly Package[] }
}

interface Named<H extends keyof Headers> {
  readonly headers: Partial<Headers> & Pick<Headers, H>
}

interface Limited<L extends keyof TokenLimits> {
  readonly limits: Partial<TokenLimits> & Pick<TokenLimits, L>
}

export type PromiseName = keyof Parts

type Together<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never

/** A contract with these promises. */
export type Promising<P extends PromiseName> = [P] extends [never]
  ? Contract
  : Omit<Contract, keyof Together<Parts[P]>> & Together<Parts[P]>

const some = (list: readonly unknown[] | undefined) => list !== undefined && list.length > 0
const any = (fields: object | undefined) => some(Object.values(fields ?? {}))
const anyModel = (models: readonly Model[] | undefined, field: keyof Model) =>
  models?.some((model) => model[field] !== undefined) === true

const isMade: { readonly [P in PromiseName]: (contract: Contract) => boolean } = {
  https: ({ https }) => https === true,
  cross_origin: ({ crossOrigin }) => crossOrigin === true,
  models: ({ models }) => some(models),
  'models.cost_credits': ({ models }) =>
    models !== undefined &&
    some(models) &&
    models.every((model) => model.costCredits !== undefined),
  'models.context_window_tokens': ({ models }) => anyModel(models, 'contextWindowTokens'),
  'models.tokenizer': ({ models }) => anyModel(models, 'tokenizer'),
  'models.template_tokens': ({ models }) => anyModel(models, 'templateTokens'),
  'models.cache': ({ models }) => anyModel(models, 'cache'),
  'models.tools': ({ models }) => anyModel(models, 'tools'),
  'models.served_tiers': ({ models }) => anyModel(models, 'servedTiers'),
  'models.fixed': ({ models }) => anyModel(models, 'fixed'),
  'models.reference': ({ models }) => anyModel(models, 'reference'),
  'models.max_reasoning_tokens': ({ models }) => anyModel(models, 'maxReasoningTokens'),
  prices: ({ prices }) => prices?.models.some(({ price }) => any(price)) === true,
  'evidence.balance': ({ prices }) => prices !== undefined && prices.evidence.balance !== null,
  bands: ({ bands }) => some(bands),
  paths: ({ paths }) => any(paths),
  'paths.credits': ({ paths }) => paths?.credits !== undefined,
  'headers.credits_remaining': ({ headers }) => headers?.creditsRemaining !== undefined,
  'headers.rate_limit': ({ headers }) => headers?.rateLimit !== undefined,
  'headers.rate_remaining': ({ headers }) => headers?.rateRemaining !== undefined,
  'headers.rate_reset': ({ headers }) => headers?.rateReset !== undefined,
  'headers.rate_limit, rate_remaining or rate_reset': ({ headers }) =>
    [headers?.rateLimit, headers?.rateRemaining, headers?.rateReset].some(
      (names) => names !== undefined,
    ),
  'headers.token_limit': ({ headers }) => headers?.tokenLimit !== undefined,
  'headers.token_remaining': ({ headers }) => headers?.tokenRemaining !== undefined,
  'auth.chat': ({ auth }) => auth?.chat !== undefined,
  'auth.messages': ({ auth }) => auth?.messages !== undefined,
  statuses: ({ statuses }) => some(statuses),
  chat_errors: ({ chatErrors }) => some(chatErrors),
  messages_errors: ({ messagesErrors }) => some(messagesErrors),
  'chat_errors or messages_errors': ({ chatErrors, messagesErrors }) =>
    some(chatErrors) || some(messagesErrors),
  'auth.chat or auth.messages': ({ auth }) =>
    auth?.chat !== undefined || auth?.messages !== undefined,
  finish_reasons: ({ finishReasons }) => some(finishReasons),
  'response_fields.credits': ({ responseFields }) => some(responseFields?.credits),
  'limits.max_input_tokens': ({ limits }) => limits?.maxInputTokens !== undefined,
  'limits.max_output_tokens': ({ limits }) => limits?.maxOutputTokens !== undefined,
  'limits.max_total_tokens': ({ limits }) => limits?.maxTotalTokens !== undefined,
  ranges: ({ ranges }) => any(ranges),
  defaults: ({ defaults }) => any(defaults),
  'timeouts.stream_ms': ({ timeouts }) => timeouts?.streamMs !== undefined,
  grants: ({ grants }) => any(grants),
  packages: ({ packages }) => some(packages),
  'packages.listed_usd_per_credit': ({ packages }) =>
    packages !== undefined && some(packages) && mixedRounding(packages) === null,
}

export const promiseNames = Object.keys(isMade) as readonly PromiseName[] as [
  PromiseName,
  ...PromiseName[],
]

export function promises<P extends PromiseName>(
  contract: Contract,
  names: readonly P[],
): contract is Contract & Promising<P> {
  return missingPromises(contract, names).length === 0
}

export function missingPromises(
  contract: Contract,
  names: readonly PromiseName[],
): readonly PromiseName[] {
  return names.filter((name) => !isMade[name](contract))
}
