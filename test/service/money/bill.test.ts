import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readPrices } from '../../../src/contract/read-prices.ts'
import { decimalText } from '../../../src/money/rational.ts'
import { billFor } from '../../../src/service/money/bill.ts'
import { honestCharge, making, type Place, places } from '../../../src/service/money/charge.ts'
import { moneyFaults } from '../../../src/service/money/faults/list.ts'
import type { Metered } from '../../../src/service/money/metered.ts'
import { usageReport } from '../../../src/service/money/usage-dialects.ts'
import { answerDialectNames } from '../../../src/tokens/dialects.ts'
import { readUsage } from '../../../src/tokens/read-usage.ts'
import type { JsonObject } from '../../../src/user/json.ts'
import { type PriceVector, priceVectors } from '../../contract/price-vectors/vectors.ts'

function termsOf({ model, unit }: PriceVector) {
  const { id: _, aliases: __, ...fields } = model
  const { terms, issues } = readPrices({ currency: unit }, [
    { id: 'm', fields: fields as JsonObject },
  ])
  expect(issues).toEqual([])
  return terms
}

function meteredOf({ context = {}, normal, usage, model }: PriceVector): Metered {
  const { at = '2026-11-25T12:00:00Z', service_tier, group, outcome = 'success', counts } = context
  const atMs = Date.parse(at as string)
  return {
    counts: (normal as Metered['counts']) ?? {},
    calls: { ...readUsage(usage, model.usage).calls, ...((counts as object) ?? {}) },
    outcome: outcome as Metered['outcome'],
    ...{ asked: 'm', meant: 'm', served: 'm', endpoint: 'chat', stream: false, innerFailures: 0 },
    serviceTier: (service_tier as string) ?? null,
    choices: group === undefined ? {} : { group: group as string },
    ...{ startMs: atMs, endMs: atMs },
  }
}

test('the service charges every price vector to the last digit, by its own arithmetic', () => {
  expect(priceVectors.length).toBeGreaterThan(80)
  for (const vector of priceVectors) {
    const { cost } = billFor(termsOf(vector), meteredOf(vector))
    expect([vector.id, decimalText(cost)]).toEqual([vector.id, vector.cost])
  }
})

test('usage in every dialect says what the service counted', () => {
  const count = fc.nat(100_000)
  const counts = fc.record({
    ...{ input_uncached: count, cache_read: count, output_visible: count, reasoning: count },
  })
  fc.assert(
    fc.property(counts, fc.constantFrom(...answerDialectNames), (given, dialect) => {
      const { member, value } = usageReport(dialect, given, {})
      const body = member === 'meta' ? { meta: value } : value
      const { parts, flags } = readUsage(member === 'meta' ? body : value, dialect)
      expect(flags).toEqual([])
      const sum = (names: readonly (keyof typeof parts)[]) =>
        names.reduce((all, name) => all + (parts[name] ?? 0), 0)
      expect(sum(['input_uncached', 'cache_read'])).toBe(given.input_uncached + given.cache_read)
      expect(sum(['output_visible', 'reasoning'])).toBe(given.output_visible + given.reasoning)
      if (parts.cache_read !== null) expect(parts.cache_read).toBe(given.cache_read)
      if (parts.reasoning !== null) expect(parts.reasoning).toBe(given.reasoning)
    }),
    { numRuns: 500 },
  )
})

test('faults charge what the vectors say that each fault would charge', () => {
  let compared = 0
  for (const vector of priceVectors) {
    const terms = termsOf(vector)
    const metered = meteredOf(vector)
    for (const [name, cost] of Object.entries(vector.wrong ?? {})) {
      const fault = moneyFaults.find((each) => each.name === name)
      if (fault === undefined) continue
      const made = making(terms, metered, {
        deposit: { numerator: 1n, denominator: 1n },
        whole: metered.counts,
        ...{ atStart: 0, isResent: false },
      })
      const wrong = fault.distort(honestCharge(made), made, places as readonly Place[])
      const posted = wrong?.stated ?? null
      expect([vector.id, name, posted && decimalText(posted)]).toEqual([vector.id, name, cost])
      compared++
    }
  }
  expect(compared).toBeGreaterThan(30)
})
