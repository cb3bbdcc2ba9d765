import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { loadFullContract } from '../../src/contract/load.ts'
import { readKeys } from '../../src/probe/questions/models.ts'
import { answeredBy, type Sent, told } from './answering.ts'

type Statuses = Partial<Record<NonNullable<Sent['auth']>, number | null>>

const asked = (statuses: Statuses) =>
  told(
    readKeys,
    'G-06',
    answeredBy(({ auth }) => statuses[auth!]!),
  )

test.each([
  ['none', 200, 200, 200, 200],
  ['either', 401, 200, 200, 200],
  ['bearer', 401, 200, 401, 200],
  ['x-api-key', 401, 403, 200, 200],
  // A service may answer 404 for resources that need a key.
  ['bearer', 404, 200, 404, 200],
])('the key that a read takes: %s', async (key, none, chat, messages, both) => {
  expect(await asked({ none, chat, messages, both })).toMatchObject({
    status: 'answered',
    is: { key },
  })
})

test.each([
  ['the chat header', { none: 401, chat: 503, messages: 200, both: 200 }, ['either', 'x-api-key']],
  [
    'the messages header',
    { none: 401, chat: 200, messages: null, both: 200 },
    ['either', 'bearer'],
  ],
  ['no header', { none: 429, chat: 200, messages: 200, both: 200 }, ['none', 'either']],
])('a failure with %s leaves the possible keys open', async (_, statuses, key) => {
  expect(await asked(statuses)).toMatchObject({ status: 'ambiguous', between: { key } })
})

test.each([503, 401])('the question is not askable if nothing is served: %i', async (each) => {
  const statuses = { none: each, chat: each, messages: each, both: each }
  expect(await asked(statuses)).toMatchObject({
    status: 'not-askable',
    why: expect.stringMatching(/^no header opens it/),
  })
})

test.each([
  ['bearer', 401, 200],
  ['none', 200, 200],
])('one header of both formats is tried once: %s', async (key, none, chat) => {
  const contract = loadFullContract(
    resolve(import.meta.dirname, '../../contracts/open-gateway.yaml'),
  )
  const sent: (string | undefined)[] = []
  const prober = answeredBy(
    ({ auth }) => {
      sent.push(auth)
      return auth === 'none' ? none : chat
    },
    { contract },
  )
  expect(await told(readKeys, 'G-07', prober)).toMatchObject({ status: 'answered', is: { key } })
  expect(sent).toEqual(['none', 'chat', 'none', 'chat'])
})
