import { expect, test } from 'vitest'
import { makeReport, summarise } from '../../../src/public/report.ts'
import { terminalFigures } from '../../../src/report/summary/terminal.ts'
import { run } from '../../../src/run/run.ts'
import { parseScenario } from '../../../src/scenario/parse.ts'
import { openStore } from '../../../src/store/session/open.ts'
import { answerChat, key, query, startTarget, withStorePath } from '../target.ts'

const scenarioOf = (expects: string, more = '', requests = 40) =>
  parseScenario(`
name: sums
question: Are the sums right?
model: svc-k2
threads: 2
steps:
  ask: { endpoint: chat, prompt: What is 6 * 7?, expect: ${expects} }
  free: { endpoint: chat, prompt: Hello, weight: 0 }
phases:
  - { name: steady, load: constant, rate: 100/s, max_requests: ${requests}, steps: [ask] }
  - { name: free, load: constant, rate: 100/s, max_requests: 5, steps: [free] }
${more}`)

/** Every fourth answer is wrong, and every tenth request fails. */
const service = () => {
  let nth = 0
  return startTarget((_, response, body) => {
    if (body.includes('Hello')) return answerChat(response, 'Hi.')
    nth++
    if (nth % 10 === 0) {
      response.writeHead(500, { 'content-type': 'application/json' })
      return response.end('{"error":{"message":"no"}}')
    }
    answerChat(response, nth % 4 === 0 ? `It is 41, ${key}.` : 'It is 42.', 3)
  })
}

test('answers that are wrong are counted apart from failures, in rows, figures and thresholds', {
  tags: 'whole',
}, async () => {
  const target = await service()
  const thresholds = `thresholds: ['correct >= 50%', 'correct >= 95%', 'errors <= 30%', 'goodput >= 50%', 'goodput >= 70%']`
  await withStorePath(async (dbPath) => {
    const result = await run(scenarioOf(`{ contains: '42' }`, thresholds), {
      ...{ dbPath, baseUrl: target.baseUrl, keys: { default: key } },
    })
    // 40 requests: 4 fail (10, 20, 30, 40), and of the other 36 eight are wrong (4, 8, … without 20 and 40).
    const rows = await query<{ step: string; answer: string | null; n: number }>(
      dbPath,
      'SELECT step, answer, count(*)::INTEGER AS n FROM attempts GROUP BY ALL ORDER BY ALL',
    )
    expect(rows).toEqual([
      { step: 'ask', answer: 'contains', n: 8 },
      { step: 'ask', answer: 'correct', n: 28 },
      { step: 'ask', answer: null, n: 4 },
      { step: 'free', answer: null, n: 5 },
    ])
    expect(result.thresholds.map(({ result: held, value }) => [held, value])).toEqual([
      ['held', 28 / 36],
      ['missed', 28 / 36],
      ['held', 4 / 45],
      ['held', 33 / 45],
      ['inconclusive', 33 / 45],
    ])
    const store = await openStore(dbPath)
    const summary = await summarise(store, { runId: result.runId })
    const { html: page, warnings } = await makeReport(store, {
      page: 'launch',
      runIds: [result.runId],
    })
    expect(warnings).toEqual([])
    store.close()
    expect(page).toContain('The first wrong answers')
    expect(page.match(/It is 41, \[key\]\./g)).toHaveLength(8)
    expect(page).not.toContain(key)
    expect(summary.all.correctness).toEqual({
      ...{ examined: 36, correct: 28, unchecked: 0, lacks: { contains: 8 } },
    })
    expect(summary.steps.find(({ step }) => step === 'free')!.correctness).toBeNull()
    expect(summary.wrongAnswers).toHaveLength(8)
    expect(summary.wrongAnswers[0]).toMatchObject({
      ...{ step: 'ask', why: 'does not contain "42"', answer: 'It is 41, [key].' },
    })
    const text = terminalFigures(summary)
    expect(text).toContain('77.8 % correct answers: 28 of 36 (contains 8)')
    expect(text).toContain('first wrong answer, ask: does not contain "42": "It is 41, [key]."')
  })
  target.close()
})

test('a check that takes for ever decides nothing, holds nobody up, and leaves its threshold open', async () => {
  const target = await startTarget((_, response) => answerChat(response, `${'a'.repeat(40)}b`))
  await withStorePath(async (dbPath) => {
    const scenario = scenarioOf(`{ matches: '^(a+)+$' }`, `thresholds: ['correct >= 0.1%']`, 4)
    const result = await run(scenario, {
      ...{ dbPath, baseUrl: target.baseUrl, keys: { default: key } },
    })
    const rows = await query<{ answer: string; n: number }>(
      dbPath,
      `SELECT answer, count(*)::INTEGER AS n FROM attempts WHERE step = 'ask' GROUP BY ALL`,
    )
    expect(rows).toEqual([{ answer: 'unchecked', n: 4 }])
    expect(result.thresholds[0]!.result).toBe('inconclusive')
    const [why] = await query<{ why: string }>(dbPath, 'SELECT why FROM wrong_answers LIMIT 1')
    expect(why!.why).toBe('the check took more than 100 ms')
  })
  target.close()
})
