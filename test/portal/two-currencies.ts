import type { EventChange } from '../report/usage-events.ts'
import { utc } from '../report/usage-events.ts'

/** A log of 30 accounts with two currencies and refunds, of October and November 2026; the same in each run. */
export function twoCurrencies(): readonly (EventChange & { readonly atUs: number })[] {
  let seed = 59
  const draw = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const models = ['nova', 'nova-mini', 'orion-large', 'lyra']
  const cents = (amount: number) => (amount / 10_000).toFixed(4)
  const events: (EventChange & { readonly atUs: number })[] = []
  for (let account = 0; account < 30; account++) {
    for (let day = 0; day < 58; day++) {
      const requests = 1 + draw(4)
      for (let at = 0; at < requests; at++) {
        const model = models[draw(models.length)]!
        // One day of one account is dear, by one model and one key.
        const isDear = account === 0 && day === 55
        events.push({
          atUs: utc(2026, 10, 1) + day * 86_400e6 + draw(86_400) * 1e6,
          account: `acct-${account}`,
          keyFp: `${account}${isDear ? 1 : draw(4)}`.padStart(12, 'a'),
          model: isDear ? 'orion-large' : model,
          outcome: draw(40) === 0 ? 'http_error' : 'ok',
          // Euros since 15 October: dollars before.
          unit: day < 14 ? 'USD' : 'EUR',
          credits: cents((isDear ? 40 : 1) * (1000 + draw(60_000))),
          promptTokens: 100 + draw(9000),
          completionTokens: 10 + draw(900),
        })
      }
    }
    for (const [day, unit] of [
      [10, 'USD'],
      [40, 'EUR'],
    ] as const) {
      events.push({
        atUs: utc(2026, 10, 1) + day * 86_400e6 + 3600e6,
        account: `acct-${account}`,
        ...{ keyFp: null, model: null, type: 'refund', requests: 0, unit },
        ...{ credits: `-${cents(1000 + draw(3000))}`, promptTokens: null, completionTokens: null },
      })
    }
  }
  return events
}
