import { expect, test } from 'vitest'
import { parseContract } from '../../../src/contract/load.ts'
import {
  firstUs,
  halfDayUs,
  modelOf,
  otherThan,
  type Session,
  verdictOnSessions,
  watched,
} from './sessions.ts'
import { words } from './texts.ts'

const fixed = { fixed: true }
const verdictOf = (sessions: readonly Session[], more: object = fixed) =>
  verdictOnSessions('SOLD-05', sessions, more)

const said = /^svc-k2: Since (.+) UTC \((.+) UTC to (.+) UTC\) the answers to 14 fixed prompts/

test('a watch of 60 sessions whose model changes at the 40th fails, and the interval of its date holds the change', {
  tags: 'whole',
}, async () => {
  const sessions = watched(60, 39)
  const verdict = await verdictOf(sessions)
  expect(verdict).toMatchObject({ verdict: 'fail', observations: 60 })
  const { observed, tables } = verdict as Extract<typeof verdict, { verdict: 'fail' }>
  const [since, from, to] = said
    .exec(observed)!
    .slice(1)
    .map((time) => Date.parse(`${time.replace(' ', 'T')}Z`) * 1000)
  // It changed between the 39th and the 40th session.
  expect(from).toBeLessThanOrEqual(sessions[38]!.atUs)
  expect(to).toBeGreaterThanOrEqual(sessions[39]!.atUs)
  expect(Math.abs(since! - sessions[39]!.atUs)).toBeLessThanOrEqual(2 * 43_200e6)
  expect(tables![0]!.rows.length).toBe(14)
})

test('a watch of 60 sessions of one model passes, and says what it would not see', {
  tags: 'whole',
}, async () => {
  expect(await verdictOf(watched(60))).toMatchObject({
    verdict: 'pass',
    observations: 60,
    note: expect.stringMatching(/50 sessions since the 10 of the reference fit .* quarter/),
  })
})

test('25 sessions are too few for a pass, and 10 are the reference alone', {
  tags: 'whole',
}, async () => {
  expect(await verdictOf(watched(25))).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('only 15 of 20 sessions since the 10 of the reference'),
  })
  expect(await verdictOf(watched(10))).toMatchObject({
    verdict: 'not-observed',
    requires: expect.stringContaining('10 were seen'),
  })
})

test('from the day of a change that was told on, a new watch has a reference of its own', {
  tags: 'whole',
}, async () => {
  // The 40th session is on the evening of March 20.
  expect(await verdictOf(watched(80, 39), { fixed: '2026-03-21' })).toMatchObject({
    verdict: 'pass',
    observations: 40,
  })
})

test('sessions with other prompts are another watch, not a changed model', {
  tags: 'whole',
}, async () => {
  const sessions = watched(60).map((session, at) =>
    at < 30
      ? session
      : { ...session, model: modelOf('other'), prompts: words.map((word) => `${word}s`) },
  )
  expect(await verdictOf(sessions)).toMatchObject({
    verdict: 'pass',
    note: expect.stringMatching(/20 sessions since .*; svc-k2: 20 sessions since/),
  })
})

test('a model that is not sold as fixed may change, and a watch without a promise accuses nobody', {
  tags: 'whole',
}, async () => {
  expect(await verdictOf(watched(60, 39), {})).toMatchObject({ verdict: 'not-promised' })
})

const other = otherThan(modelOf('watch'))
/** A watch of which every second session, which is at night, is of another model from some session on. */
const atNight = (count: number, from: number, more: Partial<Session> = {}) =>
  watched(count).map((session, at) =>
    at % 2 === 0 ? session : { ...session, ...more, ...(at >= from ? { model: other } : {}) },
  )

test('another model at night from the 40th session on does not pass', {
  tags: 'whole',
}, async () => {
  const { verdict } = await verdictOf(atNight(80, 40))
  expect(['fail', 'inconclusive']).toContain(verdict)
})

test.each([
  ['between 15:00 and 03:00 UTC', {}],
  // All at nine in the morning, by two keys in turn.
  ['with the key own', { keyFp: 'other' }],
] as const)(
  'another model from the first session on, %s, is no change, and no pass',
  { tags: 'whole' },
  async (which, more) => {
    const sessions = atNight(60, 0, more).map((session, at) =>
      'keyFp' in more ? { ...session, atUs: firstUs + at * 2 * halfDayUs } : session,
    )
    expect(await verdictOf(sessions)).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringMatching(
        new RegExp(
          `the 30 sessions ${which} answer otherwise than the others, by 0\\.\\d\\d on average \\(p 0\\.001\\), and did from the beginning`,
        ),
      ),
    })
  },
)

test.each([false, 'soon', '2026-02-30', 1])('fixed: %j is no day', (written) => {
  expect(() =>
    parseContract({ name: 'c', models: [{ id: 'm', fixed: written }] }, 'c.yaml'),
  ).toThrow('true, or the day in UTC from which on it holds, such as 2026-03-14')
})

test.each([
  ['the same model passes', 30, 'pass'],
  ['another model fails', 31, 'fail'],
] as const)(
  'a load of 21 times as many answers is cut into equal sessions: %s',
  {
    tags: 'whole',
  },
  async (_, count, verdict) => {
    const rest = watched(30)
    const { model } = watched(count, 30)[count - 1]!
    const load = { model, atUs: rest[29]!.atUs + 43_200e6, samples: 105 }
    expect(await verdictOf([...rest, load])).toMatchObject({ verdict, observations: 51 })
  },
)

test('a watch whose answers have no text, as of a model that reasons in its one token, does not pass', {
  tags: 'whole',
}, async () => {
  const sessions = watched(40).map((session) => ({ ...session, text: '' }))
  expect(await verdictOf(sessions)).toMatchObject({
    verdict: 'not-observed',
    requires: expect.stringContaining('short prompts with max_tokens: 1'),
  })
})
