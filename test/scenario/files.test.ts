import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { planOf } from '../../src/run/plan.ts'
import { loadScenario } from '../../src/scenario/parse.ts'

const folder = resolve(import.meta.dirname, '../../scenarios')
const files = readdirSync(folder).filter((file) => /\.(yaml|ts)$/.test(file))

test.each(files)(
  '%s is a whole scenario with a question, and its files are there',
  async (file) => {
    const scenario = await loadScenario(join(folder, file))
    expect(scenario.question).toMatch(/\?/)
    const paths = [
      ...scenario.steps.flatMap(({ prompt }) => (prompt.kind === 'file' ? [prompt.path] : [])),
      ...scenario.phases.flatMap(({ load }) => (load.kind === 'replay' ? [load.path] : [])),
    ]
    expect(paths.filter((path) => !existsSync(path))).toEqual([])
  },
)

test('each load of the language has a scenario that shows it', async () => {
  const shown = new Set<string>()
  for (const file of files) {
    const { phases } = await loadScenario(join(folder, file))
    for (const { load } of phases) {
      shown.add(load.kind === 'arrivals' ? load.spacing.kind : load.kind)
    }
  }
  expect([...shown].sort()).toEqual([
    'concurrency',
    'constant',
    'gamma',
    'poisson',
    'replay',
    'saturate',
    'sweep',
  ])
})

test('a replay says before it is run how many requests its trace holds', async () => {
  const scenario = await loadScenario(join(folder, 'replay.yaml'))
  const [plan] = planOf(scenario, defaultContract, 1)
  expect(plan).toMatchObject({ load: 'replay', requests: 120, mostCredits: 120 })
})
