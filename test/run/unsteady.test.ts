import { expect, test } from 'vitest'
import { figureText } from '../../src/cli/runs/run-judgement.ts'
import { runJunit } from '../../src/cli/runs/run-junit.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { readPageVerdict } from '../../src/report/page-verdict.ts'
import { run } from '../../src/run/run.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import { answerChat, key, query, startTarget, withStorePath } from './target.ts'

const thresholds = {
  held: 'chat.service.p50 < 10s',
  between: 'chat.service.p50 < 900ms',
  missed: 'chat.service.p50 < 5ms',
  fact: 'not_sent == 0%',
}

const scenario = parseScenario(
  `name: a
question: b
model: svc-k2
steps:
  chat: { endpoint: chat }
phases:
  - { name: steady, load: constant, rate: 150/s, duration: 4s }
thresholds:
${Object.values(thresholds)
  .map((text) => `  - ${text}`)
  .join('\n')}
`,
  'a.yaml',
  defaultContract,
)

/** Answers after 300 ms; from the 300th request on after `laterMs`. */
async function runWith(laterMs: number, check: (dbPath: string, result: Result) => Promise<void>) {
  const target = await startTarget((_, response) => {
    setTimeout(() => answerChat(response), target.requests > 300 ? laterMs : 300)
  })
  try {
    await withStorePath(async (dbPath) => {
      const { baseUrl } = target
      await check(dbPath, await run(scenario, { baseUrl, dbPath, keys: { default: key } }))
    })
  } finally {
    target.close()
  }
}
type Result = Awaited<ReturnType<typeof run>>

test('a run that gets slower in its middle is degraded, and passes no threshold on what the service did', async () => {
  await runWith(2_500, async (dbPath, result) => {
    const level = result.verdict.tests.find(({ name }) => name === 'level')
    expect(level).toMatchObject({
      result: 'degraded',
      figure: expect.stringMatching(/^chat (response|TTFT) \d+ % slower from \d\d:\d\d:\d\d UTC$/),
    })
    expect(result.verdict.verdict).not.toBe('valid')
    const of = (text: string) => result.thresholds.find((each) => each.text === text)!
    expect(of(thresholds.held).result).toBe('inconclusive')
    expect(of(thresholds.between).result).toBe('inconclusive')
    // Both sides of the change miss it.
    expect(of(thresholds.missed)).toMatchObject({ result: 'missed', unsteady: null })
    // What this client sent is a fact.
    expect(of(thresholds.fact).result).toBe('held')
    const why = `not of one level: ${level!.figure}`
    expect(figureText(of(thresholds.held))).toContain(why)
    expect(runJunit(result, new Date(0))).toContain(why)
    const [stored] = await query<{ json: string }>(dbPath, 'SELECT verdict_json AS json FROM runs')
    const page = readPageVerdict(stored!.json)
    expect(page.tests.find(({ name }) => name === 'level')!.figure).toContain(level!.figure)
    expect(page.thresholds.find(({ name }) => name === thresholds.held)!.remedy).toBe(why)
  })
})

test('a run of one level says nothing of levels, and its thresholds hold', async () => {
  await runWith(300, async (_, { verdict, thresholds: results }) => {
    expect(verdict.tests.map(({ name }) => name)).not.toContain('level')
    expect(results.find(({ text }) => text === thresholds.held)!.result).toBe('held')
  })
})
