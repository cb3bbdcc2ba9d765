import { expect, test } from 'vitest'
import { joinsUs, leavesUs } from '../../src/schedule/users.ts'

test('users of a ramp join one by one, the last at its end', () => {
  const ramp = { fromUsers: 1, toUsers: 5, rampUs: 400 }
  expect([0, 1, 2, 3, 4].map((user) => joinsUs(ramp, user))).toEqual([0, 100, 200, 300, 400])
  expect(leavesUs(ramp, 4)).toBe(Infinity)
})

test('users of a ramp down leave one by one, the latest first', () => {
  const ramp = { fromUsers: 4, toUsers: 2, rampUs: 200 }
  expect([0, 1, 2, 3].map((user) => joinsUs(ramp, user))).toEqual([0, 0, 0, 0])
  expect([0, 1, 2, 3].map((user) => leavesUs(ramp, user))).toEqual([Infinity, Infinity, 200, 100])
})
