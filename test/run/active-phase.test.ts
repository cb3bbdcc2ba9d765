import { expect, test } from 'vitest'
import { stepsOf } from '../../src/run/plan/phase-steps.ts'
import { ActivePhase } from '../../src/run/send/active-phase.ts'
import { parseScenario } from '../../src/scenario/parse.ts'

const scenario = parseScenario(
  `
name: a
question: Which steps are drawn?
model: svc-k2
steps:
  often: { endpoint: chat, weight: 3 }
  seldom: { endpoint: chat }
  probe: { endpoint: credits, weight: 0 }
  list: { endpoint: models, weight: 0 }
phases:
  - { name: mix, load: constant, rate: 1/s, duration: 1s }
  - { name: named, load: constant, rate: 1/s, duration: 1s, steps: [probe] }
  - { name: both, load: constant, rate: 1/s, duration: 1s, steps: [probe, list] }
`,
  'a.yaml',
)

function activeOf(name: string): ActivePhase {
  const phase = scenario.phases.find((each) => each.name === name)!
  return new ActivePhase(
    {
      ...phase,
      ordinal: 0,
      load: phase.load as Extract<typeof phase.load, { kind: 'arrivals' }>,
      startUs: 0,
      steps: stepsOf(scenario, phase.steps),
      slotBase: 0,
    },
    scenario,
    1,
  )
}

/** How often a phase draws each step, of a thousand draws. */
function drawn(name: string): Readonly<Record<string, number>> {
  const active = activeOf(name)
  const counts: Record<string, number> = {}
  for (let index = 0; index < 1000; index++) {
    const step = scenario.steps[active.stepAt(index)]!.name
    counts[step] = (counts[step] ?? 0) + 1
  }
  return counts
}

test('steps are drawn by weight, and a step of weight 0 is never drawn from the whole mix', () => {
  const { often, seldom, ...others } = drawn('mix')
  expect(others).toEqual({})
  expect(Math.abs(often! - 750)).toBeLessThan(45)
  expect(often! + seldom!).toBe(1000)
})

test('turns of one conversation share no draws, however many a prompt takes', () => {
  const active = activeOf('mix')
  const all = [0, 1, 2].flatMap((turn) => {
    const random = active.drawsOfPrompt(7, turn)
    return Array.from({ length: 300 }, random)
  })
  expect(new Set(all).size).toBe(900)
  expect(active.drawsOfPrompt(7, 1)()).toBe(all[300])
})

test('a phase that names steps of weight 0 sends them, all equally often', () => {
  expect(drawn('named')).toEqual({ probe: 1000 })
  const { probe, list } = drawn('both')
  expect(Math.abs(probe! - 500)).toBeLessThan(50)
  expect(probe! + list!).toBe(1000)
})
