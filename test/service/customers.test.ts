import { expect, test } from 'vitest'
import { expiryUs } from '../../src/service/customers.ts'
import { manualClock } from './manual-clock.ts'
import { serving } from './serving.ts'

const dayUs = 86_400e6
const startUs = Date.parse('2026-01-31T12:00:00Z') * 1000

async function opened(faults: readonly string[] = []) {
  const clock = manualClock(startUs)
  const { service } = await serving({ clock, accounts: [], faults })
  const { customers, operator } = service
  return { clock, customers, balance: (account: number) => operator.balance(account) }
}

test('a new account has 100 credits, and its inviter gets 50', async () => {
  const { customers, balance } = await opened()
  const inviter = customers.register('ann', 'ann-code')
  const invitee = customers.register('ben', 'ben-code', { inviteCode: 'ann-code' })
  expect([balance(inviter), balance(invitee)]).toEqual([150, 100])
})

test('the first payment of an invited account pays its inviter 500, once', async () => {
  const { customers, balance } = await opened()
  const inviter = customers.register('ann', 'ann-code')
  const invitee = customers.register('ben', 'ben-code', { inviteCode: 'ann-code' })
  expect(customers.buy(invitee, 'Starter').balance).toBe(600)
  expect(balance(inviter)).toBe(650)
  expect(customers.buy(invitee, 'Standard').balance).toBe(5_600)
  expect(balance(inviter)).toBe(650)
})

test('an account cannot invite itself or be invited twice', async () => {
  const { customers, balance } = await opened()
  const ann = customers.register('ann', 'ann-code')
  const ben = customers.register('ben', 'ben-code')
  expect(() => customers.redeemInvite(ann, 'ann-code')).toThrow('cannot invite itself')
  customers.redeemInvite(ben, 'ann-code')
  expect(() => customers.redeemInvite(ben, 'ann-code')).toThrow('entered before')
  expect([balance(ann), balance(ben)]).toEqual([150, 100])
})

test('expiring credits are spent first, and cannot be spent after their month', async () => {
  const { clock, customers, balance } = await opened()
  const ann = customers.register('ann', 'ann-code')
  customers.buy(ann, 'Starter')
  customers.buy(ann, 'Standard')
  expect(balance(ann)).toBe(5_600)
  clock.advance(28 * dayUs - 1)
  expect(balance(ann)).toBe(5_600)
  clock.advance(1)
  expect(balance(ann)).toBe(600)
  clock.advance(400 * dayUs)
  expect(balance(ann)).toBe(600)
})

test('spent credits come from those that expire soonest', async () => {
  const clock = manualClock(startUs)
  const target = await serving({ clock, accounts: [{ name: 'ann', balance: 100 }] })
  const { customers, keys, operator } = target.service
  const account = keys[0]!.account
  customers.buy(account, 'Standard')
  for (let request = 0; request < 30; request++) {
    expect((await target.chat({ model: 'svc-k2.5' }, keys[0]!.apiKey)).status).toBe(200)
  }
  expect(operator.balance(account)).toBe(5_040)
  clock.advance(40 * dayUs)
  expect(operator.balance(account)).toBe(100)
})

test('a month from the 31st ends on the last day of the next', () => {
  const pack = { name: 'p', credits: 1, priceUsdCents: 1, listedUsdPerCredit: 1, validMonths: 1 }
  expect(expiryUs(pack, startUs)).toBe(Date.parse('2026-02-28T12:00:00Z') * 1000)
  expect(expiryUs({ ...pack, validMonths: null }, startUs)).toBe(null)
})
