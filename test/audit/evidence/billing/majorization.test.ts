import { expect, test } from 'vitest'
import { readMajorization } from '../../../../src/audit/evidence/billing/majorization.ts'
import { type Operation, operationsOf } from './made-operations.ts'

const charge = (callUs: number, after: number | null, costCredits = 1): Operation => ({
  ...{ callUs, untilUs: callUs + 5, after, costCredits, certain: true },
})

test.each([
  ['no charge observes nothing', [], 100, { observations: 0, conflict: null }],
  [
    'charges that took what the balance fell by are no conflict',
    [charge(0, 99), charge(10, 97, 2)],
    100,
    { observations: 2, conflict: null },
  ],
  ['nor is a balance that fell by more', [charge(0, 90)], 100, { observations: 1, conflict: null }],
  [
    'two charges that show the same credits took more than the balance fell by',
    [charge(20, 98), charge(10, 99), charge(0, 99)],
    100,
    {
      observations: 3,
      conflict: { row: 1, beside: 2, charges: 2, costCredits: 2, allowedCredits: 1 },
    },
  ],
  [
    'a single charge is its own neighbour',
    [charge(0, 99, 3)],
    100,
    {
      observations: 1,
      conflict: { row: 0, beside: 0, charges: 1, costCredits: 3, allowedCredits: 1 },
    },
  ],
  [
    'of conflicts as bad the first is reported',
    [charge(0, 99), charge(1, 99), charge(2, 98), charge(3, 98), charge(4, 97)],
    100,
    {
      observations: 5,
      conflict: { row: 3, beside: 2, charges: 4, costCredits: 4, allowedCredits: 2 },
    },
  ],
  [
    'what shows no value, costs nothing or may not have happened is not counted',
    [
      ...[charge(0, null), charge(1, 99, 0), { ...charge(2, 99), certain: false }],
      ...[charge(3, 99)],
    ],
    100,
    { observations: 1, conflict: null },
  ],
] as const)('%s', (_, operations, start, found) => {
  expect(readMajorization(operationsOf(operations), start)).toEqual(found)
})
