import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { scenarioJsonSchema } from '../../reference/schemas.ts'
import type { ScenarioError } from '../../src/scenario/issues.ts'
import { loadScenario, parseScenario, scenarioFrom } from '../../src/scenario/parse.ts'
import { durationUsOf, ratePerSOf, shareOf } from '../../src/scenario/quantity.ts'

const small = `
name: small
question: Does it answer?
model: svc-k2
steps:
  chat: { endpoint: chat }
phases:
  - { name: steady, load: poisson, rate: 20/s, duration: 10s }
`

const issuesOf = (text: string): readonly string[] => {
  try {
    parseScenario(text, 'a.yaml')
  } catch (error) {
    return (error as ScenarioError).message.split('\n').map((line) => line.trim())
  }
  return []
}

test('a small scenario is completed with defaults and frozen', () => {
  const scenario = parseScenario(small, 'a.yaml')
  expect(scenario.phases).toEqual([
    {
      name: 'steady',
      part: 'steady',
      load: {
        kind: 'arrivals',
        spacing: { kind: 'poisson' },
        rate: [{ durationUs: 10e6, fromPerS: 20, toPerS: 20 }],
      },
      durationUs: 10e6,
      maxRequests: null,
      steps: [],
    },
  ])
  expect(scenario.keys).toEqual([
    { name: 'default', source: { env: 'ASSAY_API_KEY' }, weight: 1, account: 'default' },
  ])
  expect(scenario.policy).toMatchObject({
    retries: 'none',
    connectTimeoutUs: 30e6,
    totalTimeoutUs: 600e6,
  })
  expect(scenario.steps[0]).toMatchObject({ model: 'svc-k2', prompt: { kind: 'sentence' } })
  expect(Object.isFrozen(scenario.phases[0]!.load)).toBe(true)
})

test('every issue is reported at once, each with its line, the given value and a remedy', () => {
  const lines = issuesOf(`name: quick
question: Does it hold?
sead: 3
model: svc-k2
steps:
  chat:
    endpoint: chta
    strem: true
  said: { endpoint: messages }
  other: { endpoint: chat, keys: [gold] }
phases:
  - name: a
    load: poisson
    rate: fast
    duration: 10
    steps: [chaat]
  - name: a
    load: constant
    rate: 3/s
thresholds:
  - chat.ttft.p95 < 800
  - chatt.ttft.p95 < 800ms
  - goodput > 99%
`)
  expect(lines).toEqual([
    'a.yaml has 13 errors:',
    'line 3, sead: there is no field "sead"; did you mean "seed"?',
    'line 7, steps.chat.endpoint: expected one of chat, messages, responses, embeddings, models, credits, other; got "chta".',
    'line 8, steps.chat.strem: there is no field "strem"; did you mean "stream"?',
    'line 9, steps.said: messages needs max_tokens (max_tokens: null sends none on purpose).',
    'line 10, steps.other.keys[0]: there is no key "gold"; there are none.',
    'line 14, phases[0].rate: expected a rate such as 20/s or 1200/min, or a ramp { from: 1/s, to: 50/s }; got "fast".',
    'line 15, phases[0].duration: expected a duration such as 800ms, 30s or 5m; got 10.',
    'line 16, phases[0].steps[0]: there is no step "chaat"; did you mean "chat"?',
    'line 17, phases[1].name: another phase has the name "a"; give each its own.',
    'line 17, phases[1]: this phase never ends; give it a duration or max_requests.',
    'line 21, thresholds[0]: expected a time such as 800ms, 300ms + 0.2ms/input_token or 5s + 30ms/output_token as bound of ttft; got "chat.ttft.p95 < 800".',
    'line 22, thresholds[1]: there is no step "chatt"; did you mean "chat"?',
    'line 23, thresholds[2]: goodput counts requests that meet the objectives; name some, such as ttft: 800ms.',
  ])
})

test('text that is not YAML, an empty file and a missing file are refused with one sentence', async () => {
  expect(issuesOf('name: [a')[1]).toMatch(/^line 1: this is not YAML: /)
  expect(issuesOf('name: a\nname: b\n')[1]).toMatch(/^line 2: this is not YAML: .*unique/)
  expect(issuesOf('')[1]).toBe(
    'line 1: expected a scenario: name, question, steps, phases; got null.',
  )
  await expect(loadScenario('no-such.yaml')).rejects.toThrow('no-such.yaml has an error:')
  await expect(loadScenario('no-such.ts')).rejects.toThrow('there is no such file')
})

test('a value that is part of itself is refused with one sentence, in a file and in an object', () => {
  const line = 'a value is part of itself; write it out, or leave the alias out.'
  const inFile = `line 1: this is not YAML: ${line}`
  expect(issuesOf('n: &chat { a: *chat }')[1]).toBe(inFile)
  expect(issuesOf('steps: { chat: { endpoint: chat, body: &b { tools: [*b] } } }')[1]).toBe(inFile)
  const body: Record<string, unknown> = {}
  body.again = body
  const steps = { chat: { endpoint: 'chat', body } } as const
  const phases = [{ name: 'a', load: 'constant', rate: '1/s', duration: '1s' }] as const
  expect(() =>
    scenarioFrom({ name: 'a', question: 'Does it hold?', model: 'm', steps, phases } as never),
  ).toThrow(line)
})

test('an alias that is used twice is no circle', () => {
  const text = `${small}keys:\n  gold: &key { env: A }\n  iron: *key\n`
  expect(parseScenario(text).keys.map(({ name }) => name)).toEqual(['gold', 'iron'])
})

test('a scenario may only name the source of a key, not hold it', () => {
  const lines = issuesOf(`${small}keys:\n  gold: sk-secret\n  iron: { env: A, file: b }\n`)
  expect(lines[1]).toContain('expected where a key comes from: { env: NAME } or { file: path }')
  expect(lines[2]).toContain('exactly one of them')
})

test('a step of weight 0 is refused in a phase with other steps, and alone unless the phase names it', () => {
  const scenario = (steps: string, phase: string) => `
name: a
question: Does it hold?
model: svc-k2
steps:
${steps}
phases:
  - { name: steady, load: constant, rate: 1/s, duration: 1s${phase} }
`
  const two = '  chat: { endpoint: chat }\n  never: { endpoint: chat, weight: 0 }'
  expect(issuesOf(scenario(two, ', steps: [chat, never]'))).toEqual([
    'a.yaml has an error:',
    'line 9, phases[0].steps[1]: step never has weight 0, so it is never drawn with other steps; give it a weight, or its own phase.',
  ])
  expect(issuesOf(scenario('  never: { endpoint: chat, weight: 0 }', ''))[1]).toBe(
    'line 8, phases[0]: every step has weight 0; list the steps to send in steps.',
  )
  expect(parseScenario(scenario(two, ', steps: [never]'), 'a.yaml').phases.length).toBe(1)
})

test('a replay with a session step is refused, because a trace has the length of each request', () => {
  const steps = `  turns: { endpoint: chat, session: { turns: 3 } }
  single: { endpoint: chat }`
  const scenario = (more: string) => `name: a
question: q
model: m
steps:
${steps}
phases:
  - { name: p, load: replay, file: trace.jsonl, format: azure${more} }
`
  expect(issuesOf(scenario(''))).toEqual([
    'a.yaml has an error:',
    'line 8, phases[0]: a trace gives the length of each request, but step turns has a session. Name others in steps.',
  ])
  expect(parseScenario(scenario(', steps: [single]'), 'a.yaml').phases.length).toBe(1)
})

test('every load of the language becomes a load of the engine', () => {
  const loads = [
    '{ name: a, load: constant, rate: { from: 1/s, to: 9/s }, duration: 4s }',
    '{ name: b, load: gamma, rate: 5/s, burstiness: 0.5, max_requests: 10 }',
    '{ name: c, load: stages, stages: [{ rate: 60/min, duration: 1s }, { rate: 2/s, duration: 2s }] }',
    `{ name: d, load: day, rate: 2/s, duration: 24s, weights: [${'1, '.repeat(12)}${'3, '.repeat(12)}] }`,
    '{ name: e, load: concurrency, users: { from: 1, to: 9, over: 2s }, think: { mean: 1s }, duration: 3s }',
    '{ name: f, load: saturate, connections: 8, duration: 1s }',
    '{ name: g, load: sweep, start: 5/s, max: 500/s, trial: 4s, goodput: 95% }',
    '{ name: h, load: replay, file: trace.jsonl, format: mooncake, speed: 10 }',
  ]
  const text = small.replace(
    /phases:[\s\S]*/,
    `phases:\n${loads.map((load) => `  - ${load}\n`).join('')}`,
  )
  const { phases } = parseScenario(text, '/x/a.yaml')
  expect(phases.map(({ durationUs }) => durationUs)).toEqual([
    4e6,
    null,
    3e6,
    24e6,
    3e6,
    1e6,
    null,
    null,
  ])
  const [a, b, c, d, e, f, g, h] = phases.map(({ load }) => load)
  expect(a).toMatchObject({ rate: [{ durationUs: 4e6, fromPerS: 1, toPerS: 9 }] })
  expect(b).toMatchObject({ spacing: { kind: 'gamma', shape: 0.5 } })
  expect(c).toMatchObject({
    spacing: { kind: 'poisson' },
    rate: [{ fromPerS: 1 }, { fromPerS: 2 }],
  })
  const hours = (d as { rate: readonly { fromPerS: number; durationUs: number }[] }).rate
  expect([hours.length, hours[0]!.durationUs, hours[0]!.fromPerS, hours[23]!.fromPerS]).toEqual([
    24, 1e6, 1, 3,
  ])
  expect(e).toEqual({
    kind: 'concurrency',
    fromUsers: 1,
    toUsers: 9,
    rampUs: 2e6,
    think: { kind: 'exponential', meanUs: 1e6 },
  })
  expect(f).toEqual({ kind: 'saturate', connections: 8 })
  expect(g).toEqual({
    kind: 'sweep',
    spacing: { kind: 'poisson' },
    search: {
      ...{ startPerS: 5, maxPerS: 500, goodput: 0.95, boundUs: 1e6, headroom: 1 },
      ...{ budget: 'standard', mostUs: null, precision: null, hold: null },
      ...{ trialUs: 4e6, coolDownUs: null },
    },
  })
  expect(h).toEqual({
    ...{ kind: 'replay', path: '/x/trace.jsonl', format: 'mooncake', unit: null, columns: null },
    ...{ speed: 10, gaps: null, users: null },
  })
  const gapsOf = (gaps: string) =>
    parseScenario(
      `{ name: a, question: b, model: m, steps: { c: { endpoint: chat } }, phases: [{ name: p, load: replay, file: t.jsonl, gaps: ${gaps} }] }`,
    ).phases[0]!.load
  expect(['recorded', 'none', '{ cap: 2s }'].map(gapsOf)).toMatchObject([
    { gaps: { capUs: null } },
    { gaps: { capUs: 0 } },
    { gaps: { capUs: 2_000_000 } },
  ])
})

test('a module is checked like a file, and its prompt functions are kept', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-scenario-'))
  const define = resolve(import.meta.dirname, '../../src/scenario/define.ts')
  try {
    const good = join(folder, 'good.ts')
    writeFileSync(
      good,
      `import { defineScenario } from '${define}'
export default defineScenario({
  name: 'code', question: 'Does code work?', model: 'svc-k2',
  steps: { chat: { endpoint: 'chat', prompt: ({ index }) => 'number ' + index } },
  phases: [{ name: 'steady', load: 'poisson', rate: '5/s', duration: '1s' }],
})`,
    )
    const scenario = await loadScenario(good)
    expect(scenario.steps[0]!.prompt).toEqual({ kind: 'function' })
    expect(scenario.modulePath).toBe(good)
    const bad = join(folder, 'bad.mjs')
    writeFileSync(bad, `export default { name: 'x', question: 'y', steps: {}, phases: [] }`)
    await expect(loadScenario(bad)).rejects.toThrow(
      /2 errors:\n.*at least one phase.*\n.*at least one step/,
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the published schema matches the one that scenarios are checked by', async () => {
  const published = await readFile(
    resolve(import.meta.dirname, '../../scenarios/scenario.schema.json'),
    'utf8',
  )
  expect(JSON.parse(published), 'run `npm run schema`').toEqual(
    JSON.parse(JSON.stringify(scenarioJsonSchema())),
  )
})

test('quantities are read in every unit, and other text is refused', () => {
  expect(['250us', '800ms', '30s', '1m30s', '1.5h', '2d'].map(durationUsOf)).toEqual([
    250, 800e3, 30e6, 90e6, 5400e6, 172_800e6,
  ])
  expect(['', '5', 's', '5 s', '-5s', '5x', '1e3s'].map(durationUsOf)).toEqual(Array(7).fill(null))
  expect(durationUsOf(`${'9'.repeat(400)}s`)).toBe(null)
  expect(['20/s', '1200/min', '3600/h'].map(ratePerSOf)).toEqual([20, 20, 1])
  expect(['20', '/s', '20/x'].map(ratePerSOf)).toEqual([null, null, null])
  expect(['5%', '99.9%', '5'].map(shareOf)).toEqual([0.05, 0.999, null])
})

test('every field of the schema has a description', () => {
  const bare: string[] = []
  const walk = (node: unknown, path: string) => {
    if (typeof node !== 'object' || node === null) return
    for (const [name, value] of Object.entries(node)) {
      if (name === 'properties') {
        for (const [field, schema] of Object.entries(value as Record<string, object>)) {
          if (!('description' in schema)) bare.push(`${path}/${field}`)
        }
      }
      walk(value, `${path}/${name}`)
    }
  }
  walk(scenarioJsonSchema(), '')
  expect(bare).toEqual([])
})

test('an expectation that no answer can hold is refused, with its line', () => {
  const lines = issuesOf(`
name: a
question: Is it right?
model: m
steps:
  none: { endpoint: chat, expect: {} }
  aborted: { endpoint: chat, abort: after-headers, expect: { contains: a } }
  list: { endpoint: models, expect: { contains: a } }
  broken: { endpoint: chat, expect: { matches: '(' } }
  free: { endpoint: chat }
phases: [{ name: a, load: constant, rate: 1/s, duration: 1s }]
thresholds: [free.correct > 9%]
`)
  expect(lines.slice(1)).toEqual([
    'line 6, steps.none.expect: expected something that the answer must hold; got nothing.',
    'line 7, steps.aborted.expect: a step with abort has no whole answer; leave out expect.',
    'line 8, steps.list.expect: expect is for chat, messages, responses, other; this step requests models.',
    expect.stringContaining('line 9, steps.broken.expect.matches: expected a regular expression; '),
    'line 12, thresholds[0]: correct needs expect: step free does not say what its answers must hold.',
  ])
})

test('a task that cannot be sent is refused, with its line', () => {
  const lines = issuesOf(`
name: a
question: Does it end?
model: m
steps:
  ask: { endpoint: chat }
  list: { endpoint: models }
tasks:
  t:
    turns:
      - { name: a, step: ask, after: c }
      - { name: b, step: list, after: nobody }
      - { name: c, step: ask, after: [a], takes: b }
      - { name: c, step: gone }
phases:
  - { name: a, load: constant, rate: 1/s, duration: 1s, tasks: [t, u] }
  - { name: b, load: saturate, connections: 1, duration: 1s, tasks: [t] }
thresholds: [ask.task.p50 < 1s, 'task_success{code=429} > 9%']
`)
  expect(lines.slice(1).map((line) => line.replace(/^line (\d+), /, '$1 '))).toEqual([
    '11 tasks.t.turns[0].after: turn a waits for itself, through c.',
    '12 tasks.t.turns[1].step: a turn is a request of chat, messages, responses; step list is none.',
    '12 tasks.t.turns[1].after: there is no turn "nobody"; known: a, b, c, c.',
    '13 tasks.t.turns[2].after: turn c waits for itself, through a.',
    '13 tasks.t.turns[2].takes: turn c takes the answer of b, but does not wait for it; name it in after.',
    '14 tasks.t.turns[3].name: another turn has the name "c"; give each its own.',
    '14 tasks.t.turns[3].step: there is no step "gone"; known: ask, list.',
    '16 phases[0].tasks[1]: there is no task "u"; did you mean "t"?',
    '17 phases[1].tasks: a phase of load saturate sends requests, not tasks; use an open load, concurrency, or a sweep.',
    '18 thresholds[0]: there is no task "ask"; known: t.',
    '18 thresholds[1]: task_success is of whole tasks, so it takes no filter.',
  ])
})

test('a circle of turns is named by its own turns, and an unknown step by itself', () => {
  const lines = issuesOf(`
name: a
question: Does it end?
model: m
steps: { ask: { endpoint: chat } }
tasks:
  t:
    turns:
      - { name: a, step: ask, after: [x, b], tools: true }
      - { name: b, step: ask, after: [y, c] }
      - { name: c, step: ask, after: a }
      - { name: x, step: ask, after: x }
      - { name: y, step: gone }
phases: [{ name: p, load: constant, rate: 1/s, duration: 1s, tasks: [t] }]
`)
  expect(lines.slice(1).map((line) => line.replace(/^line (\d+), /, '$1 '))).toEqual([
    '9 tasks.t.turns[0].after: turn a waits for itself, through b, c.',
    '10 tasks.t.turns[1].after: turn b waits for itself, through c, a.',
    '11 tasks.t.turns[2].after: turn c waits for itself, through a, b.',
    '12 tasks.t.turns[3].after: turn x waits for itself.',
    '13 tasks.t.turns[4].step: there is no step "gone"; known: ask.',
  ])
})

test('tools, prefixes, starts and objectives of tasks are refused where they mean nothing', () => {
  const lines = issuesOf(`
name: a
question: Does it end?
model: m
steps:
  ask: { endpoint: chat }
  say: { endpoint: messages, max_tokens: 9 }
tasks:
  t:
    prefix: { tokens: 5, shared: group }
    turns: [{ name: a, step: ask, tools: true }, { name: b, step: say, after: a }]
phases: [{ name: a, load: constant, rate: 1/s, duration: 1s, steps: [ask], start: middle }]
thresholds: [goodput > 9%]
objectives: { task: 5s }
`)
  expect(lines.slice(1).map((line) => line.replace(/^line (\d+), /, '$1 '))).toEqual([
    '10 tasks.t.prefix: shared: group needs the number of groups, such as groups: 20.',
    '11 tasks.t.turns[0].tools: a task with tools keeps to one endpoint; turn a is of chat, turn b of messages.',
    '12 phases[0].start: only tasks have a middle to start in; name the tasks of the phase.',
    '13 thresholds[0]: goodput counts requests that meet the objectives; name some, such as ttft: 800ms.',
    '14 objectives.task: no search would judge it; give a phase of load sweep tasks: [t], or write the threshold task.p95 < 60s.',
  ])
  expect(
    issuesOf(`
name: a
question: Does it end?
steps: { ask: { endpoint: models } }
phases: [{ name: a, load: constant, rate: 1/s, duration: 1s }]
objectives: { task: 5s }
`).slice(1),
  ).toEqual(['line 6, objectives.task: this is a time of whole tasks, and the scenario has none.'])
})
