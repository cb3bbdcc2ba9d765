import { expect, test } from 'vitest'
import {
  type DeploymentProfile,
  type GapAnswer,
  type GapId,
  gapIds,
  parseDeploymentProfile,
} from '../../src/contract/profile.ts'
import { joined } from '../../src/probe/join.ts'

const unasked: GapAnswer = { status: 'not-asked', why: 'not among the questions asked' }
const dear: GapAnswer = { status: 'not-askable', why: 'the budget ended' }
const is = (value: string): GapAnswer => ({ status: 'answered', is: { value }, evidence: ['seen'] })

function profile(run: string, given: Partial<Record<GapId, GapAnswer>>): DeploymentProfile {
  const answers = Object.fromEntries(gapIds.map((gap) => [gap, given[gap] ?? unasked]))
  return {
    ...{ version: 1, base_url: 'http://127.0.0.1:1', contract: 'svc' },
    ...{ asked_at: `2026-01-0${run}T00:00:00.000Z`, run_id: run, credits_spent: 10 },
    answers: answers as DeploymentProfile['answers'],
  }
}

test('a new answer replaces the older one, and other answers keep their probe', () => {
  const first = profile('1', { 'G-01': is('a'), 'G-02': is('b'), 'G-12': is('c') })
  const second = joined(first, profile('2', { 'G-02': is('B'), 'G-22': is('d') }), ['G-02', 'G-22'])
  expect(second).toMatchObject({
    ...{ run_id: '2', asked_at: '2026-01-02T00:00:00.000Z', credits_spent: 20 },
    earlier: [{ run_id: '1', asked_at: '2026-01-01T00:00:00.000Z', gaps: ['G-01', 'G-12'] }],
    answers: { 'G-01': is('a'), 'G-02': is('B'), 'G-12': is('c'), 'G-22': is('d') },
  })
  const third = joined(second, profile('3', { 'G-01': is('A') }), ['G-01'])
  expect(third.earlier).toEqual([
    { run_id: '1', asked_at: '2026-01-01T00:00:00.000Z', gaps: ['G-12'] },
    { run_id: '2', asked_at: '2026-01-02T00:00:00.000Z', gaps: ['G-02', 'G-22'] },
  ])
  expect(parseDeploymentProfile(third, 'third')).toEqual(third)
})

test('a question that could not be asked keeps its older answer, or gets the reason if it has none', () => {
  const first = profile('1', { 'G-01': is('a') })
  const { answers } = joined(first, profile('2', { 'G-01': dear, 'G-22': dear }), ['G-01', 'G-22'])
  expect([answers['G-01'], answers['G-22'], answers['G-02']]).toEqual([is('a'), dear, unasked])
})

test('if every older answer is replaced, no earlier probe is named', () => {
  const first = profile('1', { 'G-01': is('a') })
  const second = profile('2', { 'G-01': is('A') })
  expect(joined(first, second, ['G-01'])).toEqual({ ...second, credits_spent: 20 })
})
