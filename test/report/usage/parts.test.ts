import { expect, onTestFinished, test } from 'vitest'
import * as api from '../../../src/index.ts'
import { usageParts } from '../../../src/report/usage/shape.ts'
import { openStore } from '../../store/opened.ts'
import { enterMarked, others, subject } from '../marked-accounts.ts'

async function storeOfThree() {
  const store = await openStore(':memory:')
  onTestFinished(() => store.close())
  await enterMarked(store, [subject, others[0]!, others[1]!])
  return store
}

const query = { account: subject.name, nowUs: Date.UTC(2026, 11, 20) * 1000 }
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

test('usage of one account has the parts that were asked, each as on the whole page', {
  tags: 'whole',
}, async () => {
  const store = await storeOfThree()
  const whole = await api.readUsage(store, { ...query, parts: usageParts })
  expect(Object.keys(whole)).toEqual(['scope', ...usageParts])
  const { scope, totals, plan, anomalies } = whole
  const few = await api.readUsage(store, { ...query, parts: ['anomalies', 'plan'] })
  expect(few).toEqual({ scope, plan, anomalies })
  expect(await api.readUsage(store, { ...query, parts: ['totals'] })).toEqual({ scope, totals })
  expect(totals.money.map(({ unit }) => unit)).toEqual(['credits'])
})

test('the hours, most of a page, come only if they are asked', { tags: 'whole' }, async () => {
  const store = await storeOfThree()
  const usual = await api.readUsage(store, query)
  expect(Object.keys(usual)).toEqual(['scope', ...usageParts.filter((part) => part !== 'hours')])
  const { hours } = await api.readUsage(store, { ...query, parts: ['hours'] })
  expect(hours.length).toBeGreaterThan(24)
  expect(bytesOf(hours)).toBeGreaterThan(3 * bytesOf(usual.days))
  expect(bytesOf(await api.readUsage(store, { ...query, parts: ['totals'] }))).toBeLessThan(2_000)
})

test('a part that does not exist is named, with the one that was meant', async () => {
  const store = await storeOfThree()
  const asked = api.readUsage(store, { ...query, parts: ['total' as 'totals'] })
  await expect(asked).rejects.toThrow('"total" is no part of usage. Did you mean totals?')
})
