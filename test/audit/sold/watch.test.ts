import { expect, test } from 'vitest'
import { drawsOf } from '../../../src/audit/evidence/sold/chance.ts'
import {
  alarmAt,
  changeOf,
  judgeWatch,
  referenceSessions,
  scoresOf,
  wealthOf,
} from '../../../src/audit/evidence/sold/watch.ts'

const prompts = 20
const samples = 5

/** A model: for each prompt the log-odds of its two likeliest first tokens. */
type LogOdds = readonly number[]

const normal = (draw: () => number) =>
  Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw())
const modelOf = (draw: () => number): LogOdds =>
  Array.from({ length: prompts }, () => 1.2 * normal(draw))

/** Shares of the first token in a session, with noise from batching in log-odds. */
const session = (model: LogOdds, noise: number, draw: () => number) =>
  model.map((odds) => {
    const share = 1 / (1 + Math.exp(-(odds + noise * normal(draw))))
    return Array.from({ length: samples }, () => draw()).filter((u) => u < share).length / samples
  })

const watch = (seed: string, sessions: number, changeAt = sessions, noise = 0.3) => {
  const draw = drawsOf(seed)
  const [old, other] = [modelOf(draw), modelOf(draw)]
  const all = Array.from({ length: sessions }, (_, at) =>
    session(at < changeAt ? old : other, noise, draw),
  )
  const scores = scoresOf(all)
  const wealth = wealthOf(scores, draw)
  return { scores, alarm: wealth.findIndex((each) => each >= alarmAt) }
}

test('of 1,000 honest watches of 60 sessions at most 1 % ever alarm', { tags: 'whole' }, () => {
  const alarms = Array.from({ length: 1_000 }, (_, at) => watch(`honest ${at}`, 60)).filter(
    ({ alarm }) => alarm >= 0,
  )
  expect(alarms.length).toBeLessThanOrEqual(10)
})

test('a change at the 40th of 60 sessions is found in 19 of 20 watches, and its interval holds it in 9 of 10', {
  tags: 'whole',
}, () => {
  const found = Array.from({ length: 200 }, (_, at) => watch(`changed ${at}`, 60, 39)).flatMap(
    ({ scores, alarm }) =>
      alarm < 0 ? [] : [{ alarm, date: changeOf(scores.slice(0, alarm + 1))! }],
  )
  const change = 39 - referenceSessions
  expect(found.filter(({ alarm }) => alarm < change).length).toBeLessThanOrEqual(2)
  expect(found.length).toBeGreaterThanOrEqual(190)
  const held = found.filter(({ date }) => date.from <= change && change <= date.to)
  expect(held.length / found.length).toBeGreaterThanOrEqual(0.9)
})

test('wealth is a fair bet: of a first session, whose p-value is uniform, its mean is 1', () => {
  const grid = Array.from({ length: 100_000 }, (_, at) => (at + 0.5) / 100_000)
  const mean = grid.reduce((sum, u) => sum + wealthOf([0], () => u)[0]!, 0) / grid.length
  expect(mean).toBeCloseTo(1, 2)
})

test('an alarm within the first sessions waits until a change can be dated', () => {
  // Draws of nearly 1 make each p-value of equal scores small: the wealth passes 100 at the second.
  const few = Array.from({ length: 13 }, () => [0.5])
  expect(judgeWatch(few, 1, () => 0.999)).toMatchObject({ is: 'inconclusive', since: 3 })
  const enough = Array.from({ length: 20 }, () => [0.5])
  expect(judgeWatch(enough, 1, () => 0.999)).toMatchObject({ is: 'fail', since: 10 })
})

test('scores that are all alike are split nowhere by their size', () => {
  expect(changeOf([1, 1, 1, 1, 1, 1])).toEqual({ at: 4, from: 4, to: 5 })
  expect(changeOf([1, 1])).toBe(null)
})
