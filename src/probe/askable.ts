import type { Contract, FullContract, FullModel } from '../contract/contract.ts'
import { usualOf } from '../contract/usual.ts'
import { UserError } from '../user/user-error.ts'

/**
 * The contract by which a probe asks: usual values for what requests need, and nothing for other promises that are
 * absent, so questions about them have an obstacle.
 *
 * @throws UserError without a model, or without the price of one: the credits that a probe costs would have no bound
 */
export function askable(contract: Contract): FullContract {
  const { headers, ...usual } = usualOf(contract)
  const { creditsRemaining, rateLimit, rateRemaining, rateReset } = headers
  const models = (contract.models ?? []).map((model): FullModel => {
    const { costCredits, contextWindowTokens = usual.limits.maxTotalTokens } = model
    if (costCredits === undefined) throw needs(contract, `model "${model.id}" has no cost_credits`)
    return { ...model, costCredits, contextWindowTokens }
  })
  if (models.length === 0) throw needs(contract, 'it names no models')
  return {
    ...usual,
    ...(contract.resetFormat === undefined ? {} : { resetFormat: contract.resetFormat }),
    name: contract.name,
    https: contract.https ?? false,
    crossOrigin: contract.crossOrigin ?? false,
    models,
    bands: contract.bands ?? [],
    headers: {
      creditsRemaining: creditsRemaining ?? ['x-credits-remaining'],
      rateLimit: rateLimit ?? ['x-ratelimit-limit'],
      rateRemaining: rateRemaining ?? ['x-ratelimit-remaining'],
      ...(rateReset === undefined ? {} : { rateReset }),
    },
    statuses: contract.statuses ?? [],
    chatErrors: contract.chatErrors ?? [],
    messagesErrors: contract.messagesErrors ?? [],
    finishReasons: contract.finishReasons ?? [],
    responseFields: { chat: [], credits: [], model: [], ...contract.responseFields },
    grants: { newAccount: 0, inviteRegistration: 0, inviteFirstPayment: 0, ...contract.grants },
    packages: contract.packages ?? [],
  }
}

const needs = ({ name }: Contract, why: string) =>
  new UserError(
    'contract',
    `A probe needs the price of each model, and the contract "${name}" does not have them: ${why}.`,
  )
