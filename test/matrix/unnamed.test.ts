import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Composition, changed, composed, type Effect } from './composed.ts'

import { alarmsOf, compositions, outcomeOf } from './unnamed.ts'
import { verdictsOf } from './verdicts.ts'

const onContext = (rest: number): Composition => ({
  when: { on: 'key', of: 1, rest },
  effect: { does: 'charge-refusal', refusal: 'context', credits: 2 },
})

/** `npm run matrix -- unnamed` plays hundreds, with a fresh seed. */
test('a composed fault is found', { tags: 'whole' }, async () => {
  expect(await outcomeOf(onContext(0))).toEqual({
    ...{ is: 'found', by: ['BILL-10', 'USE-04'], wrongly: [] },
  })
})

const verdictsUnder = async (effect: Effect) => {
  const fault = composed({ when: { on: 'always' }, effect }, { count: 0 })
  const verdicts = await verdictsOf({ faults: [fault] }, ['limits'])
  return (...ids: readonly string[]) => ids.map((id) => verdicts.get(id)?.verdict.verdict)
}

test('rejections by a limit that all accounts share are put down to RATE-14 alone', {
  tags: 'whole',
}, async () => {
  const of = await verdictsUnder({ does: 'scope', by: 'address' })
  expect(of('RATE-14', 'RATE-05', 'RATE-11')).toEqual(['fail', 'inconclusive', 'inconclusive'])
})

test('a balance for each worker puts no row of limits in the wrong', {
  tags: 'whole',
}, async () => {
  const of = await verdictsUnder({ does: 'workers', count: 4 })
  expect(of('BILL-11', 'BILL-12')).toEqual(['fail', 'fail'])
  expect(of('RATE-01', 'RATE-02', 'RATE-18', 'BILL-05', 'BILL-17')).not.toContain('fail')
})

test('a composition that affects no request is missed for lack of traffic', {
  tags: 'whole',
}, async () => {
  expect(await outcomeOf(onContext(1))).toEqual({ is: 'missed', because: 'no traffic for it' })
})

test('ten concurrent compositions without effect raise no alarm', { tags: 'whole' }, async () => {
  const ofContext = compositions(800, 5).filter(
    ({ effect }) => effect.does === 'charge-refusal' && effect.refusal === 'context',
  )
  expect(await alarmsOf(ofContext.slice(0, 10))).toEqual([])
})

test('a seed repeats its compositions', () => {
  expect(compositions(50, 3)).toEqual(compositions(50, 3))
  expect(compositions(50, 3)).not.toEqual(compositions(50, 4))
})

test('a null change and a change of a missing field leave every body as it is', () => {
  fc.assert(
    fc.property(fc.json(), fc.oneof(fc.string(), fc.constantFrom('0', '1')), (text, name) => {
      const body = JSON.parse(text) as unknown
      expect(changed(body, [name, '*', name], { plus: 0 })).toEqual(body)
      expect(changed(body, ['no such field'], 'dropped')).toEqual(body)
    }),
  )
})

test('a field is changed in each element on its path', () => {
  const body = { data: [{ id: 1, at: 5 }, { id: 2 }] }
  expect(changed(body, ['data', '*', 'at'], { plus: 2 })).toEqual({
    data: [{ id: 1, at: 7 }, { id: 2 }],
  })
  expect(changed(body, ['data', '*', 'id'], 'dropped')).toEqual({ data: [{ at: 5 }, {}] })
})
