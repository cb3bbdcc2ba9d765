import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { samplesNeeded } from '../../src/measure/percentile.ts'
import { planOf } from '../../src/run/plan/plan.ts'
import { loadScenario } from '../../src/scenario/parse.ts'

const folder = resolve(import.meta.dirname, '../../scenarios')
const files = readdirSync(folder).filter((file) => /\.(yaml|ts)$/.test(file))

test.each(files)('%s is a complete scenario with a question, and its files exist', async (file) => {
  const scenario = await loadScenario(join(folder, file))
  expect(scenario.question).toMatch(/\?/)
  const paths = [
    ...scenario.steps.flatMap(({ prompt }) => (prompt.kind === 'file' ? [prompt.path] : [])),
    ...scenario.phases.flatMap(({ load }) => (load.kind === 'replay' ? [load.path] : [])),
  ]
  expect(paths.filter((path) => !existsSync(path))).toEqual([])
})

test('each load type has a shipped scenario', async () => {
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

test('the plan of a replay shows how many requests its trace has', async () => {
  const scenario = await loadScenario(join(folder, 'replay.yaml'))
  const [plan] = planOf(scenario, defaultContract, 1)
  expect(plan).toMatchObject({ load: 'replay', requests: 120, mostCredits: 120 })
})

test('thresholds of shipped scenarios use only percentiles that their samples can decide', {
  tags: 'whole',
}, async () => {
  const asked: string[] = []
  for (const file of files) {
    const scenario = await loadScenario(join(folder, file))
    const plan = planOf(scenario, defaultContract, scenario.seed)
    for (const { text, statistic, step, phase } of scenario.thresholds) {
      const phases = plan.filter((each) =>
        phase === null ? each.part === 'steady' : each.phase === phase,
      )
      // The number of requests of a closed load or a search depends on the answers.
      const isOpen = phases.some(({ phase: name, requests }) => {
        const { steps } = scenario.phases.find((each) => each.name === name)!
        return requests === null && (steps.length === 0 || step === null || steps.includes(step))
      })
      if (statistic.kind !== 'percentile' || isOpen) continue
      const turns = scenario.steps.find(({ name }) => name === step)?.session?.turns ?? 1
      const samples =
        turns *
        phases.reduce(
          (sum, { requests, bySteps }) =>
            sum + (step === null ? (requests ?? 0) : (bySteps[step] ?? 0)),
          0,
        )
      asked.push(`${file}: ${text}`)
      expect([file, text, samples >= samplesNeeded(statistic.p / 100)]).toEqual([file, text, true])
    }
  }
  expect(asked).toContain('quick.yaml: chat-stream.ttft.p50 < 2s')
})
