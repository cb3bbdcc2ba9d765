import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { others, subject } from '../report/marked-accounts.ts'
import { bytesOf, everyPath, type Served, served, settingsOf, tokenOf } from './portal.ts'

const mutation = vi.hoisted(() => ({ isOn: false }))
vi.mock('../../src/store/session/account.ts', async (original) => {
  const real = await original<typeof import('../../src/store/session/account.ts')>()
  return {
    ...real,
    accountCondition: (scope: Parameters<typeof real.accountCondition>[0]) =>
      mutation.isOn ? 'true' : real.accountCondition(scope),
    limitTo: (...all: Parameters<typeof real.limitTo>) =>
      mutation.isOn ? real.setAccount(all[0], all[1]) : real.limitTo(...all),
  }
})

let all: Served
beforeAll(async () => {
  const budget = `accounts: { ${subject.name}: { budget: '1' } }\n`
  all = await served([subject, others[0]!, others[1]!], settingsOf(budget))
}, 60_000)
afterAll(() => all.close())

// Alerts are read from their file, whose accounts the test of isolation tries.
test.each(everyPath.filter((path) => path !== '/v1/alerts'))(
  '%s changes when the account is taken out of its query',
  { tags: 'whole', timeout: 60_000 },
  async (path) => {
    const ask = async (isOn: boolean) => {
      mutation.isOn = isOn
      // Forecasts are kept for each account, so the mutant asks for one key list more.
      const token = await tokenOf(subject.name, {
        jti: path,
        ...(isOn ? { keys: undefined } : {}),
      })
      const served = await bytesOf(await all.ask(path, token, {}))
      return served.replace(/ratelimit: .*/i, '')
    }
    const right = await ask(false)
    all.portal.forget()
    const mutant = await ask(true)
    all.portal.forget()
    mutation.isOn = false
    expect(mutant === right).toBe(false)
  },
)
