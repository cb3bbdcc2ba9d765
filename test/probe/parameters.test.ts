import { expect, test } from 'vitest'
import { parameters } from '../../src/probe/questions/errors.ts'
import { type Answer, answeredBy, told } from './answering.ts'

/** A service that answers each parameter in its own way, and everything else with success. */
const asked = (answers: Readonly<Record<string, Answer>>) =>
  told(
    parameters,
    'G-31',
    answeredBy(({ body = {} }) => {
      const [name] = Object.entries(body).map(([field, value]) => `${field} ${value}`)
      return answers[name ?? 'plain'] ?? answers[Object.keys(body)[0] ?? ''] ?? 200
    }),
  )

test('parameters are not askable if the plain request is refused', async () => {
  expect(await asked({ plain: 400, n: 400, top_p: 400, messages: 400 })).toEqual({
    status: 'not-askable',
    why: 'the same request without them ended with status 400',
  })
})

test('the plain request is one that the service serves', async () => {
  const prober = answeredBy(({ maxTokens }) => (maxTokens === 1 ? 400 : 200))
  expect(await told(parameters, 'G-31', prober)).toMatchObject({ is: { 'top_p 0': 'accepted' } })
})

test('each parameter is accepted, refused, or has a status', async () => {
  expect(await asked({ 'top_p 1.5': 400, messages: 422, 'n 4': 400 })).toMatchObject({
    status: 'answered',
    is: {
      ...{ 'top_p 1.5': 'refused', 'top_p 0': 'accepted', 'empty messages': 'status 422' },
      ...{ 'unknown field': 'accepted', 'n accepted': 2, 'n refused': 4 },
    },
  })
})

test.each([
  ['a failure', 503],
  ['a limit', 429],
  ['no answer', { status: null }],
  ['a broken answer', { status: 200, columns: { outcome: 'broken' } }],
])('%s leaves its parameter open', async (_, end) => {
  expect(await asked({ 'top_p 1.5': end, 'n 4': end })).toMatchObject({
    is: { 'top_p 0': 'accepted', 'unknown field': 'accepted' },
    between: {
      'top_p 1.5': ['accepted', 'refused'],
      'n accepted': ['2', 'more'],
      'n refused': ['above 2', 'never'],
    },
  })
})

test('if each n is accepted, a higher one may still be refused', async () => {
  expect(await asked({})).toMatchObject({
    is: { 'n accepted': 8 },
    between: { 'n refused': ['above 8', 'never'] },
  })
})
