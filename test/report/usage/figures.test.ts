import { expect, test } from 'vitest'
import { cardValue } from '../../../src/report/usage/figures.ts'
import { readUsageIn } from '../../../src/report/usage/read.ts'
import { openStore } from '../../store/opened.ts'
import { enterEvents, usageOptions, utc } from '../usage-events.ts'

test('the card of what was used has its digits, and a count has no amount', async () => {
  const store = await openStore(':memory:')
  const at = (minute: number) => utc(2026, 11, 3, 9, minute)
  await enterEvents(store, [
    { atUs: at(1), unit: 'EUR', credits: '0.123456' },
    { atUs: at(2), unit: 'EUR', credits: '2' },
  ])
  const page = await readUsageIn(store, usageOptions())
  store.close()
  const values = Object.fromEntries(
    page.cards.map((card) => [card.name, cardValue(card, page, 'none')]),
  )
  expect(values.credits).toEqual({ text: '2.12', exactly: '2.123456' })
  expect(values.requests).toEqual({ text: '2', exactly: null })
})
