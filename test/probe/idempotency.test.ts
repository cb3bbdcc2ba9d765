import { expect, test } from 'vitest'
import { idempotency } from '../../src/probe/questions/keys.ts'
import { type Answer, answeredBy, told } from './answering.ts'

const served = (id?: string): Answer => ({ status: 200, json: id === undefined ? {} : { id } })

/** @param balances before the first request, between both, and after the second */
const asked = (answers: readonly Answer[], balances: readonly (number | null)[]) => {
  const left = [...balances]
  const prober = answeredBy((_, nth) => answers[nth]!, {
    idleBalance: async () => left.shift()!,
  })
  return told(idempotency, 'G-37', prober)
}

test.each([
  ['new', 'charged', ['a', 'b'], [9, 8, 7]],
  ['replayed', 'free', ['a', 'a'], [9, 8, 8]],
  ['replayed', 'charged', ['a', 'a'], [9, 8, 7]],
] as const)('an answer to a repeated key is %s and %s', async (answer, second, ids, balances) => {
  expect(await asked(ids.map(served), balances)).toMatchObject({
    status: 'answered',
    is: { answer, 'second time': second },
  })
})

test.each([503, 400, 409, null])('a second request with %s decides nothing', async (end) => {
  expect(await asked([served('a'), end], [9, 8, 8])).toEqual({
    status: 'not-askable',
    why: `one of the two was not served: statuses 200 and ${end ?? 'none'}`,
  })
})

test.each([
  ['no balance can be read', [null, null, null]],
  // A ledger that shows no charge, or a late one.
  ['no charge of the first was seen', [9, 9, 9]],
  ['the balance rose', [9, 8, 20]],
])('the charge stays open where %s', async (_, balances) => {
  expect(await asked([served('a'), served('b')], balances)).toMatchObject({
    is: { answer: 'new' },
    between: { 'second time': ['free', 'charged'] },
  })
})

test('without an id, replayed and new answers are not distinguished', async () => {
  expect(await asked([served(), served()], [9, 8, 7])).toMatchObject({
    between: { answer: ['replayed', 'new'] },
  })
})
