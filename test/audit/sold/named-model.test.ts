import { expect, test } from 'vitest'
import { judgeNamed } from '../../../src/audit/evidence/sold/apart.ts'
import { drawsOf } from '../../../src/audit/evidence/sold/chance.ts'
import { parseContract } from '../../../src/contract/load.ts'
import {
  firstUs,
  halfDayUs,
  modelOf,
  otherThan,
  type Session,
  type TokenModel,
  verdictOnSessions,
} from './sessions.ts'
import { words } from './texts.ts'

const official = 'https://official.example'
const model = modelOf('named')
const promise = { reference: { base_url: official, model: 'big-2026-07' } }

/** Sessions of the service and of the reference in turn. */
const inTurn = (count: number, service: TokenModel, reference = model): readonly Session[] =>
  Array.from({ length: count }, (_, at): readonly Session[] => [
    { model: service, atUs: firstUs + at * halfDayUs },
    {
      model: reference,
      atUs: firstUs + at * halfDayUs + 60e6,
      baseUrl: official,
      named: 'big-2026-07',
    },
  ]).flat()

const verdictOf = (sessions: readonly Session[], more: object = promise) =>
  verdictOnSessions('SOLD-06', sessions, more)

test('a service that answers as its reference passes, though the newest run is one of the reference', {
  tags: 'whole',
}, async () => {
  expect(await verdictOf(inTurn(10, model))).toMatchObject({
    verdict: 'pass',
    observations: 20,
    note: expect.stringMatching(/first tokens differ from the reference by 0\.\d\d on average/),
  })
})

test('another model fails by its difference, which is not yet called another model', {
  tags: 'whole',
}, async () => {
  expect(await verdictOf(inTurn(10, otherThan(model)))).toMatchObject({
    verdict: 'fail',
    observed: expect.stringMatching(
      /^svc-k2: First tokens differ from the reference by 0\.4\d on average \(p 0\.002, 10 pairs of sessions\): another model, quantization, hardware/,
    ),
  })
})

test('another model at night alone is told beside the reference', { tags: 'whole' }, async () => {
  const sessions = inTurn(20, model).map((session, at) =>
    session.baseUrl === undefined && at % 4 === 0
      ? { ...session, model: otherThan(model) }
      : session,
  )
  expect(await verdictOf(sessions)).toMatchObject({ verdict: 'fail', observations: 40 })
})

test('four pairs decide nothing, and ten sessions after ten others are one pair', {
  tags: 'whole',
}, async () => {
  expect(await verdictOf(inTurn(4, otherThan(model)))).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('10 pairs decide'),
  })
  const apart = inTurn(10, otherThan(model)).map((session) =>
    session.baseUrl === official ? { ...session, atUs: session.atUs + 30 * halfDayUs } : session,
  )
  expect(await verdictOf(apart)).toMatchObject({ verdict: 'inconclusive', observations: 2 })
})

test('without sessions of the reference nothing is observed, and without a reference nothing is promised', {
  tags: 'whole',
}, async () => {
  const own = inTurn(10, model).filter(({ baseUrl }) => baseUrl === undefined)
  expect(await verdictOf(own)).toMatchObject({ verdict: 'not-observed' })
  expect(await verdictOf(own, {})).toMatchObject({
    ...{ verdict: 'not-promised', promises: ['models.reference'] },
  })
})

test('the distance has no bias: of equal shares with noise it is 0 on average', {
  tags: 'whole',
}, () => {
  const draw = drawsOf('bias')
  const session = () => model.map((share) => [1, 2, 3, 4].filter(() => draw() < share).length / 4)
  const all = Array.from({ length: 200 }, () =>
    judgeNamed(
      Array.from({ length: 10 }, () => ({ service: session(), reference: session() })),
      draw,
    ),
  )
  const fails = all.filter(({ is }) => is === 'fail').length
  expect(fails).toBeLessThanOrEqual(1)
  const near = all.filter((each) => 'apart' in each && each.apart < 0.1).length
  expect(near).toBeGreaterThanOrEqual(180)
})

test('the most that ten pairs can differ always fails: no two ways to exchange them are the same', () => {
  const session = (share: number) => Array(20).fill(share)
  const pairs = Array.from({ length: 10 }, (_, at) => ({
    service: session(0.2 + at / 100),
    reference: session(0.7 + at / 100),
  }))
  for (let seed = 0; seed < 40; seed++)
    expect(judgeNamed(pairs, drawsOf(`seed ${seed}`))).toMatchObject({ is: 'fail', p: 1 / 512 })
})

test.each([
  [{ base_url: official, key: 'sk-abcdef' }, 'key'],
  [{ base_url: 'https://me:secret@official.example' }, 'an http or https URL without user'],
  [{ base_url: 'official.example' }, 'an http or https URL'],
])('a reference %j is refused, and no key is said', (reference, said) => {
  const read = () => parseContract({ name: 'c', models: [{ id: 'm', reference }] }, 'c.yaml')
  expect(read).toThrow(said)
  expect(read).not.toThrow(/sk-abcdef|secret/)
})

test('sessions with other prompts than those of the reference compare nothing, and are no pass', {
  tags: 'whole',
}, async () => {
  const sessions = inTurn(10, model).map((session) =>
    session.baseUrl === official
      ? { ...session, prompts: words.map((word) => `${word}s`) }
      : session,
  )
  expect(await verdictOf(sessions)).toMatchObject({
    verdict: 'inconclusive',
    why: 'svc-k2: only 0 of 5 prompts were asked at both, the service and the reference; sessions with the same prompts decide',
  })
})

test('answers without any text, as of a model that reasons in its one token, compare nothing', {
  tags: 'whole',
}, async () => {
  const sessions = inTurn(10, model).map((session) => ({ ...session, text: '' }))
  expect(await verdictOf(sessions)).toMatchObject({ verdict: 'not-observed' })
})
