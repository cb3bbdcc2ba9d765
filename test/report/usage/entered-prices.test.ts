import { expect, test } from 'vitest'
import { defaultContract } from '../../../src/contract/default.ts'
import { enterPrices } from '../../../src/report/usage/prepare.ts'
import { inSession } from '../../../src/store/session/session.ts'
import { openStore } from '../../store/opened.ts'

/** The contract svc under a name, with one price for all models. */
const contractOf = (name: string, costCredits: number) => ({
  ...{ ...defaultContract, name },
  models: defaultContract.models!.slice(0, 2).map((model) => ({ ...model, costCredits })),
})

test('a contract that is entered again replaces its own prices, and no others', async () => {
  const store = await openStore(':memory:')
  const prices = await inSession(store, {}, async (session) => {
    for (const [name, credits] of [
      ['a', 1],
      ['b', 2],
      ['a', 3],
    ] as const)
      await enterPrices(session, contractOf(name, credits))
    return session.rows(
      'SELECT contract, model, credits::DOUBLE AS credits FROM model_prices ORDER BY ALL',
    )
  })
  store.close()
  expect(prices).toEqual([
    { contract: 'a', model: 'svc-k2', credits: 3 },
    { contract: 'a', model: 'svc-k2-0905', credits: 3 },
    { contract: 'b', model: 'svc-k2', credits: 2 },
    { contract: 'b', model: 'svc-k2-0905', credits: 2 },
  ])
})
