import { expect, test } from 'vitest'
import { readTiles } from '../../../../src/audit/evidence/billing/tiles.ts'
import { type SmallHistory, seeded, smallHistory } from './histories.ts'
import { type Operation, operationsOf } from './made-operations.ts'
import { isLinearizable } from './oracle.ts'

/** How often tiles and oracle agreed over seeded histories. */
function compare(shape: SmallHistory, histories: number, seed: number) {
  const random = seeded(seed)
  const counts = { clean: 0, faulty: 0, falseAlarms: 0, missed: 0 }
  for (let at = 0; at < histories; at++) {
    const history = smallHistory(random, shape)
    const explained = isLinearizable(history)
    const quiet = readTiles(operationsOf(history)).faultCount === 0
    if (explained) counts[quiet ? 'clean' : 'falseAlarms']++
    else counts[quiet ? 'missed' : 'faulty']++
  }
  return counts
}

test('tiles and a search of all orders agree on 40,000 histories with ambiguous charges of 1 and 2', () => {
  const shape = { charges: 5, unseen: 0, reads: 0, ambiguous: 3, costs: [1, 1, 2], expire: false }
  const counts = compare(shape, 40_000, 1)
  expect(counts).toMatchObject({ falseAlarms: 0, missed: 0 })
  expect(Math.min(counts.clean, counts.faulty)).toBeGreaterThan(8_000)
})

test('they agree on 20,000 histories with reads, charges that nobody saw and fills that expire', () => {
  const shape = { charges: 4, unseen: 2, reads: 2, ambiguous: 2, costs: [1], expire: true }
  const counts = compare(shape, 20_000, 2)
  expect(counts).toMatchObject({ falseAlarms: 0, missed: 0 })
  expect(Math.min(counts.clean, counts.faulty)).toBeGreaterThan(4_000)
})

test('with sizes mixed among charges that nobody saw, no history that has an explanation fails', () => {
  const shape = { charges: 4, unseen: 2, reads: 1, ambiguous: 2, costs: [1, 2, 3], expire: true }
  const counts = compare(shape, 10_000, 3)
  expect(counts.falseAlarms).toBe(0)
  expect(counts.faulty).toBeGreaterThan(2 * counts.missed)
})

const charge = (
  callUs: number,
  untilUs: number,
  after: number | null,
  costCredits = 1,
  certain = true,
): Operation => ({ callUs, untilUs, after, costCredits, certain })

test('a hole tells between which charges and when its credits went', () => {
  const { faults } = readTiles(
    operationsOf([charge(0, 10, 99), charge(20, 30, 98), charge(25, 45, 96), charge(50, 60, 95)]),
  )
  expect(faults).toEqual([
    {
      kind: 'hole',
      hole: { above: 1, below: 2, credits: 1, fromUs: 20, toUs: 45 },
      unexplained: 1,
    },
  ])
})

test('a hole is filled by an ambiguous charge that was called in time, and not by a later one', () => {
  const tiles = [charge(0, 10, 99), charge(20, 30, 97)]
  const inTime = readTiles(operationsOf([...tiles, charge(30, Infinity, null, 1, false)]))
  expect(inTime).toMatchObject({ faultCount: 0, uncertainCredits: 1 })
  const late = readTiles(operationsOf([...tiles, charge(31, Infinity, null, 1, false)]))
  expect(late.faults.map((fault) => fault.kind)).toEqual(['hole'])
})

test('two charges that show the same balance overlap', () => {
  const { faults } = readTiles(operationsOf([charge(0, 9, 99), charge(1, 8, 99)]))
  expect(faults).toEqual([{ kind: 'overlap', upper: 0, lower: 1, credits: 1 }])
})

test('a balance that goes up against the clock is out of order', () => {
  const { faults } = readTiles(operationsOf([charge(0, 9, 98), charge(10, 20, 99)]))
  expect(faults).toEqual([{ kind: 'order', earlier: 1, later: 0 }])
})

test('a charge that nobody saw and that finds no room between two reads is missing', () => {
  const { faults } = readTiles(
    operationsOf([charge(0, 1, 100, 0), charge(2, 3, null), charge(4, 5, 100, 0)]),
  )
  expect(faults).toEqual([{ kind: 'missing', row: 1 }])
})
