import type { Contract, FullContract } from '../../contract/contract.ts'
import { defaultContract } from '../../contract/default.ts'

/**
 * A contract with prices as the service keeps it: a promise that it does not have is taken from the
 * default contract, because a service has some conduct there, too.
 */
export function completed(contract: Contract): FullContract {
  const { models = [], ...rest } = contract
  return {
    ...defaultContract,
    ...rest,
    paths: { ...defaultContract.paths, ...rest.paths },
    headers: { ...defaultContract.headers, ...rest.headers },
    auth: { ...defaultContract.auth, ...rest.auth },
    limits: { ...defaultContract.limits, ...rest.limits },
    ranges: { ...defaultContract.ranges, ...rest.ranges },
    defaults: { ...defaultContract.defaults, ...rest.defaults },
    timeouts: { ...defaultContract.timeouts, ...rest.timeouts },
    retry: { ...defaultContract.retry, ...rest.retry },
    grants: { ...defaultContract.grants, ...rest.grants },
    responseFields: { ...defaultContract.responseFields, ...rest.responseFields },
    models: models.map((model) => ({
      ...model,
      contextWindowTokens: model.contextWindowTokens ?? defaultWindowTokens,
      // The price of the model is among the prices, in money.
      costCredits: 0,
    })),
  }
}

const defaultWindowTokens = 1_000_000
