import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defaultContract } from '../../../src/contract/default.ts'
import { makeReport, summarise } from '../../../src/public/report.ts'
import { terminalFigures } from '../../../src/report/summary/terminal.ts'
import { planOf } from '../../../src/run/plan/plan.ts'
import { run } from '../../../src/run/run.ts'
import { parseScenario } from '../../../src/scenario/parse.ts'
import { openStore } from '../../../src/store/session/open.ts'
import { randomTask } from '../../schedule/random-tasks.ts'
import { answerChat, key, query, refuse, startTarget, withStorePath } from '../target.ts'

const scenarioOf = (turns: string, more = '', thresholds = '[]', phase = 'max_requests: 6') =>
  parseScenario(`
name: agents
question: Do tasks end?
model: svc-k2
threads: 2
steps:
  think: { endpoint: chat, prompt: Think., weight: 0 }
  read: { endpoint: chat, prompt: Read. }
tasks:
  fix:
    turns:
${turns}
${more}
phases: [{ name: steady, load: constant, rate: 20/s, ${phase}, tasks: [fix] }]
thresholds: ${thresholds}
`)

const graph = `
      - { name: plan, step: think }
      - { name: look, step: read, after: plan, repeat: 2, delay: 20ms }
      - { name: search, step: read, after: plan, children: 3, context: new, delay: 10ms }
      - { name: write, step: think, after: [look, search], takes: [search], delay: 30ms }`

interface Row {
  readonly session: number
  readonly turn: number
  readonly task_turn: string
  readonly intended_us: number
  readonly done_us: number
  readonly slot: number
}

test('turns wait for those before them and their delay, carry their context, and make a task with its time', {
  tags: 'whole',
}, async () => {
  const bodies: { messages: { role: string; content: string }[]; session: unknown }[] = []
  const target = await startTarget((request, response, body) => {
    const { messages } = JSON.parse(body)
    bodies.push({ messages, session: request.headers['x-session-id'] })
    setTimeout(() => answerChat(response, `Answer to ${messages.length}.`), 50)
  })
  const limits = `['fix.task.p50 >= 270ms', 'task_success >= 99%', 'tasks >= 6', 'fix.task_service.max < 60s', 'fix.task_credits <= 7', 'task_credits.max < 7']`
  const scenario = scenarioOf(graph, '    affinity: { header: x-session-id }', limits)
  await withStorePath(async (dbPath) => {
    const result = await run(scenario, {
      ...{ dbPath, baseUrl: target.baseUrl, keys: { default: key } },
    })
    const rows = await query<Row>(
      dbPath,
      'SELECT session, turn, task_turn, intended_us, done_us, slot FROM attempts ORDER BY session, turn',
    )
    expect(rows).toHaveLength(6 * 7)
    const tasks = [...Map.groupBy(rows, ({ session }) => session).values()]
    expect(tasks).toHaveLength(6)
    for (const task of tasks) {
      const of = (turn: string) => task.filter(({ task_turn }) => task_turn === turn)
      const end = (turn: string) => Math.max(...of(turn).map(({ done_us }) => done_us))
      const [plan, look, write] = [of('plan')[0]!, of('look'), of('write')[0]!]
      expect([look.length, of('search').length]).toEqual([2, 3])
      expect(look[0]!.intended_us).toBeGreaterThanOrEqual(plan.done_us + 20_000 - 1)
      expect(look[1]!.intended_us).toBeGreaterThanOrEqual(look[0]!.done_us + 20_000 - 1)
      for (const { intended_us } of of('search')) {
        expect(intended_us).toBeGreaterThanOrEqual(plan.done_us + 10_000 - 1)
      }
      const last = Math.max(end('look'), end('search'))
      expect(write.intended_us).toBeGreaterThanOrEqual(last + 30_000 - 1)
      expect(task.every(({ slot }, nth) => slot === task[0]!.slot + nth)).toBe(true)
    }
    // The requests of one task share a header that no other task has.
    const headers = Map.groupBy(bodies, ({ session }) => session)
    expect([...headers.values()].map(({ length }) => length)).toEqual([7, 7, 7, 7, 7, 7])
    const lengths = bodies.map(({ messages }) => messages.length).toSorted((a, b) => a - b)
    // A plan, and a search with its own context: 1. The looks: 3 and 5. The write continues the looks: 7.
    expect(lengths).toEqual([
      ...Array(24).fill(1),
      ...Array(6).fill(3),
      ...Array(6).fill(5),
      ...Array(6).fill(7),
    ])
    const writes = bodies.filter(({ messages }) => messages.length === 7)
    for (const { messages } of writes) {
      const three = 'Answer to 1.\n\nAnswer to 1.\n\nAnswer to 1.\n\nThink.'
      expect(messages.map(({ content }) => content)).toEqual([
        ...['Think.', 'Answer to 1.', 'Read.', 'Answer to 3.', 'Read.', 'Answer to 5.', three],
      ])
    }
    expect(result.thresholds.map((threshold) => threshold.result).slice(1)).toEqual([
      ...['inconclusive', 'held', 'held', 'held', 'missed'],
    ])
    expect(result.thresholds.slice(-2).map(({ value, unit }) => [value, unit])).toEqual([
      [7, 'amount'],
      [7, 'amount'],
    ])
    const store = await openStore(dbPath)
    const summary = await summarise(store, { runId: result.runId })
    const { html, warnings } = await makeReport(store, { page: 'launch', runIds: [result.runId] })
    store.close()
    expect(warnings).toEqual([])
    expect(html).toContain('<h3>Tasks')
    const [fix] = summary.tasks
    expect(fix).toMatchObject({ task: 'fix', success: 1, requestsEach: 7, creditsEach: 7 })
    // Four requests of 50 ms on the longest path, and the delays of 20, 20 and 30 ms on it.
    const { task, taskService } = fix!.times
    expect(task.minUs).toBeGreaterThanOrEqual(270_000 - 5_000)
    expect(task.minUs! - taskService.minUs!).toBeGreaterThanOrEqual(69_000)
    expect(terminalFigures(summary)).toContain(
      'fix: 100 % of 6 tasks succeeded; 7 requests, 7 credits each',
    )
  })
  target.close()
})

test('a failed turn ends its task, a deadline cuts it off, and neither is a success', {
  tags: 'whole',
}, async () => {
  let nth = 0
  const target = await startTarget((_, response, body) => {
    const isRoot = JSON.parse(body).messages.length === 1
    if (isRoot) nth++
    if (isRoot && nth % 3 === 1) return refuse(response, 500, 'api_error')
    setTimeout(() => answerChat(response), isRoot && nth % 3 === 2 ? 20_000 : 5)
  })
  const turns = `
      - { name: plan, step: think }
      - { name: write, step: think, after: plan }`
  const scenario = scenarioOf(
    turns,
    '    deadline: 2500ms',
    `['task_success >= 50%', 'task_success == 50%']`,
  )
  await withStorePath(async (dbPath) => {
    const result = await run(scenario, {
      ...{ dbPath, baseUrl: target.baseUrl, keys: { default: key } },
    })
    const tasks = await query<{ outcome: string; n: number; least: number }>(
      dbPath,
      `SELECT outcome, count(*)::INTEGER AS n, min(ended_us - intended_us)::DOUBLE AS least
       FROM tasks GROUP BY ALL ORDER BY ALL`,
    )
    expect(tasks.map(({ outcome, n }) => [outcome, n])).toEqual([
      ['deadline', 2],
      ['failed', 2],
      ['ok', 2],
    ])
    expect(tasks[0]!.least).toBeGreaterThanOrEqual(2_500_000)
    expect(result.thresholds).toMatchObject([
      { result: 'inconclusive', value: 2 / 6 },
      { result: 'missed', value: 2 / 6 },
    ])
    const cut = await query<{ outcome: string; reason: string }>(
      dbPath,
      `SELECT DISTINCT outcome, reason FROM attempts WHERE reason IS NOT NULL`,
    )
    expect(cut).toEqual([{ outcome: 'aborted', reason: 'deadline' }])
  })
  target.close()
})

test('users of a closed load do one task after the other', { tags: 'whole' }, async () => {
  const target = await startTarget((_, response) => setTimeout(() => answerChat(response), 10))
  const scenario = parseScenario(`
name: agents
question: How many agents at once?
model: svc-k2
threads: 2
steps: { think: { endpoint: chat, prompt: Think. } }
tasks: { two: { turns: [{ name: a, step: think }, { name: b, step: think, after: a }] } }
phases: [{ name: steady, load: concurrency, users: 3, max_requests: 9, tasks: [two] }]
`)
  await withStorePath(async (dbPath) => {
    const { counts } = await run(scenario, {
      ...{ dbPath, baseUrl: target.baseUrl, keys: { default: key } },
    })
    expect(counts.ok).toBe(18)
    const [tasks] = await query<{ n: number }>(
      dbPath,
      `SELECT count(*)::INTEGER AS n FROM tasks WHERE outcome = 'ok'`,
    )
    expect(tasks!.n).toBe(9)
  })
  target.close()
})

test('the plans of any number of shards add up to the whole plan', () => {
  const scenario = scenarioOf(
    `
      - { name: plan, step: think }
      - { name: look, step: read, after: plan, repeat: { min: 1, max: 9 } }`,
    '',
    '[]',
    'duration: 20s',
  )
  const [whole] = planOf({ ...scenario, threads: 1 }, defaultContract, 3)
  expect(whole!.tasks).toMatchObject({ count: 400, least: 2, most: 10 })
  expect(whole!.bySteps.think).toBe(400)
  for (let of = 1; of <= 8; of++) {
    const parts = Array.from(
      { length: of },
      (_, index) => planOf({ ...scenario, threads: 1 }, defaultContract, 3, { index, of })[0]!,
    )
    const sum = (pick: (part: (typeof parts)[number]) => number) =>
      parts.reduce((total, part) => total + pick(part), 0)
    expect(sum(({ tasks }) => tasks!.count)).toBe(400)
    expect(sum(({ requests }) => requests!)).toBe(whole!.requests)
    expect(sum(({ bySteps }) => bySteps.read!)).toBe(whole!.bySteps.read)
  }
})

test('of any graph, in the middle or not, the plans of one to eight shards add up to the whole plan', () => {
  const base = parseScenario(`
name: agents
question: Do tasks end?
model: svc-k2
threads: 1
steps: { ask: { endpoint: chat } }
tasks: { task: { turns: [{ name: ask, step: ask }] } }
phases: [{ name: steady, load: poisson, rate: 20/s, duration: 2s, tasks: [task] }]
`)
  fc.assert(
    fc.property(randomTask, fc.nat(99), fc.nat(9), (task, seed, middle) => {
      const phases = base.phases.map((phase) => ({ ...phase, ...(middle > 0 ? { middle } : {}) }))
      const scenario = { ...base, tasks: [task], phases }
      const planned = (index: number, of: number) =>
        planOf(scenario, defaultContract, seed, { index, of })[0]!
      const whole = planned(0, 1)
      expect(whole.tasks?.begun).toBe(middle)
      for (let of = 2; of <= 8; of++) {
        const parts = Array.from({ length: of }, (_, index) => planned(index, of))
        const sum = (pick: (part: typeof whole) => number | undefined) =>
          parts.reduce((total, part) => total + (pick(part) ?? 0), 0)
        expect(sum(({ requests }) => requests!)).toBe(whole.requests)
        expect(sum(({ tasks }) => tasks?.count)).toBe(whole.tasks!.count)
        expect(sum(({ tasks }) => tasks?.begun)).toBe(middle)
      }
    }),
    { numRuns: 20 },
  )
})

test('any number of threads sends the same requests of the same tasks', {
  tags: 'whole',
}, async () => {
  const target = await startTarget((_, response) => answerChat(response))
  const whole = scenarioOf(
    `
      - { name: plan, step: think }
      - { name: look, step: read, after: plan, repeat: { min: 1, max: 5 }, delay: { min: 1ms, max: 9ms } }
      - { name: write, step: think, after: look }`,
    '',
    '[]',
    'max_requests: 20',
  )
  const sentBy = (threads: number) =>
    withStorePath(async (dbPath) => {
      const scenario = { ...whole, threads }
      await run(scenario, { dbPath, baseUrl: target.baseUrl, keys: { default: key }, seed: 5 })
      const rows = await query<{ shard: number }>(
        dbPath,
        'SELECT slot, task, task_turn, turn, step FROM attempts ORDER BY slot',
      )
      const [by] = await query<{ most: number }>(
        dbPath,
        'SELECT max(n)::INTEGER AS most FROM (SELECT count(DISTINCT shard) AS n FROM attempts GROUP BY session)',
      )
      return { rows, most: by!.most }
    })
  const [one, three] = [await sentBy(1), await sentBy(3)]
  expect(three.rows).toEqual(one.rows)
  expect([one.most, three.most]).toEqual([1, 1])
  const [plan] = planOf({ ...whole, threads: 1 }, defaultContract, 5)
  expect(one.rows).toHaveLength(plan!.requests!)
  target.close()
})
