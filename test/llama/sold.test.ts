import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { assay } from '../e2e/command.ts'
import { type Cheat, startProxy } from './proxy.ts'
import { type LlamaServer, makeModel, startLlama } from './server.ts'

// Runs if LLAMA_PYTHON names a Python with the packages of requirements.txt. llama.cpp's own server is honest, and none of us wrote it. Its weights are random, so it cannot list codes: SOLD-03 has only counts.
const isGiven = process.env.LLAMA_PYTHON !== undefined
const scenarios = resolve(import.meta.dirname, '../../scenarios')
const folder = mkdtempSync(join(tmpdir(), 'assay-llama-sold-'))
const path = (name: string) => join(folder, name)
const servers: LlamaServer[] = []
let [own, smaller, quantized] = ['', '', '']

beforeAll(async () => {
  if (!isGiven) return
  makeModel(path('own.gguf'), '3', 'F32', path('tokenizer.json'))
  makeModel(path('smaller.gguf'), '2', 'F32')
  makeModel(path('quantized.gguf'), '3', 'Q4_0')
  // 1,500 repeats of a word have up to 10,500 tokens.
  for (const name of ['own', 'smaller', 'quantized'])
    servers.push(await startLlama(path(`${name}.gguf`), '1', '16384'))
  ;[own, smaller, quantized] = servers.map(({ origin }) => origin) as [string, string, string]
  cpSync(join(scenarios, 'data'), path('data'), { recursive: true })
  const counts = readFileSync(join(scenarios, 'audit-integrity.yaml'), 'utf8')
  // A word has about six tokens by this tokenizer.
  const short = counts.replace(
    /synthetic: (1024|2048|4096)/g,
    (_, size) => `synthetic: ${size / 8}`,
  )
  writeFileSync(path('counts.yaml'), short.replaceAll('think: 1s', 'think: 1ms'))
  writeFileSync(path('context.yaml'), contextScenario)
  const session = readFileSync(join(scenarios, 'integrity-session.yaml'), 'utf8')
  const quick = session.replace('think: 200ms', 'think: 1ms')
  writeFileSync(path('session.yaml'), quick)
  const phase = /^ {2}- \{ name: session,.*$/m
  const line = phase.exec(quick)![0]
  const all = Array.from({ length: 40 }, (_, at) => line.replace('session', `session-${at}`))
  writeFileSync(path('watch.yaml'), quick.replace(phase, all.join('\n')))
  for (const [name, more] of [
    ['named', ', tokenizer: tokenizer.json'],
    ['unnamed', ''],
  ] as const)
    writeFileSync(
      path(`${name}.yaml`),
      `extends: none
name: llama
currency: USD
models:
  - { id: svc-k2, template_tokens: 24, context_window_tokens: 7500, fixed: true, price: { input: 1, output: 4 }${more} }
`,
    )
}, 600_000)

afterAll(() => {
  for (const server of servers) server.stop()
  rmSync(folder, { recursive: true, force: true })
})

const contextScenario = `name: context
question: Is all of a long prompt read?
model: svc-k2
capture: all
steps:
  control: { endpoint: chat, max_tokens: 64, prompt: { synthetic: 600, script: codes } }
  window: { endpoint: chat, max_tokens: 64, prompt: { synthetic: 1600, script: codes } }
phases:
  - { name: control, load: concurrency, users: 1, max_requests: 1, steps: [control] }
  - { name: window, load: concurrency, users: 1, max_requests: 2, steps: [window] }
`

/** Requests of a shipped session. */
const perSession = 100

const audited = z.object({
  findings: z.array(
    z.object({
      rule: z.string(),
      verdict: z.looseObject({
        verdict: z.string(),
        observed: z.string().optional(),
        why: z.string().optional(),
        note: z.string().optional(),
      }),
    }),
  ),
})

const env = { ASSAY_API_KEY: 'none' }
let stores = 0

/** Sends scenarios by the command, each to its server. @returns the store */
async function sent(...runs: readonly (readonly [scenario: string, origin: string])[]) {
  const db = path(`${stores++}.duckdb`)
  for (const [scenario, origin] of runs) {
    const run = ['run', `${scenario}.yaml`, '--base-url', origin, '--db', db]
    const { code, stderr } = await assay(run, { cwd: folder, env }).ended
    // 4 says that the machine is too busy for times; counts and answers stay.
    if (code !== 4) expect([code, stderr.slice(-500)]).toEqual([0, expect.any(String)])
  }
  return db
}

async function sentBehind(cheat: Cheat, scenario: string) {
  const proxy = await startProxy(own, cheat)
  try {
    return await sent([scenario, proxy.origin])
  } finally {
    proxy.stop()
  }
}

/** The verdicts on a store, and what they say. They are printed: the sentences are what a person reads. */
async function verdictsOf(db: string, contract: string, rules = 'SOLD') {
  const args = ['audit', '--contract', `${contract}.yaml`, '--rule', rules, '--db', db]
  const { stdout } = await assay([...args, '--format', 'json'], { cwd: folder, env }).ended
  const { findings } = audited.parse(JSON.parse(stdout))
  return new Map(
    findings.map(({ rule, verdict: { verdict, observed, why = '', note = '' } }) => {
      const said = observed ?? `${why}${note}`
      process.stdout.write(`${contract} ${rule} ${verdict}: ${said}\n`)
      return [rule, { verdict, said }]
    }),
  )
}

const failed = (verdicts: Awaited<ReturnType<typeof verdictsOf>>) =>
  [...verdicts].filter(([, { verdict }]) => verdict === 'fail').map(([rule]) => rule)

const minutes = (count: number) => ({ timeout: count * 60_000 })

test.skipIf(!isGiven)(
  'nothing of llama.cpp fails: by its tokenizer.json its counts pass, and without it its words have several tokens',
  minutes(20),
  async () => {
    const db = await sent(['counts', own], ['context', own])
    const named = await verdictsOf(db, 'named')
    expect(failed(named)).toEqual([])
    for (const rule of ['SOLD-01', 'SOLD-02', 'SOLD-09'])
      expect([rule, named.get(rule)!.verdict]).toEqual([rule, 'pass'])
    expect(named.get('SOLD-03')!.said).toContain('cut by max_tokens')
    const unnamed = await verdictsOf(db, 'unnamed')
    expect(failed(unnamed)).toEqual([])
    expect(unnamed.get('SOLD-01')).toEqual({
      verdict: 'inconclusive',
      said: expect.stringContaining('an encoding of small pieces'),
    })
    expect(unnamed.get('SOLD-02')!.verdict).toBe('pass')
  },
)

test.skipIf(!isGiven)(
  'a proxy that counts 5 % more is told, with and without the tokenizer',
  minutes(20),
  async () => {
    const db = await sentBehind({ factor: 1.05 }, 'counts')
    expect((await verdictsOf(db, 'named')).get('SOLD-01')).toEqual({
      verdict: 'fail',
      said: expect.stringMatching(/counts 1\.0(?:49|50|51) tokens .* which cost 0\.\d+ USD/),
    })
    expect((await verdictsOf(db, 'unnamed')).get('SOLD-01')).toEqual({
      verdict: 'fail',
      said: expect.stringContaining('which no encoding gives'),
    })
  },
)

test.skipIf(!isGiven)(
  'a proxy that puts 30 tokens before each prompt is told, with and without the tokenizer',
  minutes(20),
  async () => {
    const db = await sentBehind({ before: `${Array(15).fill('bako ritulo').join(' ')} ` }, 'counts')
    for (const contract of ['named', 'unnamed']) {
      const verdicts = await verdictsOf(db, contract)
      expect(failed(verdicts)).toEqual(['SOLD-02'])
      // 18 of the template and 30 that are put before, less what merges with the text: the tokenizer is made anew, and 41 to 50 were seen.
      expect(verdicts.get('SOLD-02')!.said).toMatch(
        /counted (?:3[89]|4\d|50) tokens more than its text; .* at most 24/,
      )
    }
  },
)

test.skipIf(!isGiven)(
  'a proxy that drops half of a long prompt is told by what is counted',
  minutes(10),
  async () => {
    const db = await sentBehind({ dropped: 0.5 }, 'context')
    expect((await verdictsOf(db, 'named')).get('SOLD-03')).toEqual({
      verdict: 'fail',
      said: expect.stringContaining('the rest was not read'),
    })
  },
)

test.skipIf(!isGiven)(
  'a model of another size, and one of another quantization, is told from the one before it; the same is not',
  minutes(20),
  async () => {
    // A quantization changes less than a layer, so that more sessions are needed to tell it.
    for (const [other, before, expected] of [
      [undefined, 29, { verdict: 'pass', said: expect.any(String) }],
      [
        smaller,
        29,
        { verdict: 'fail', said: expect.stringContaining('from the 29 sessions before') },
      ],
      [
        quantized,
        19,
        { verdict: 'fail', said: expect.stringMatching(/from the (?:18|19|20) sessions before/) },
      ],
    ] as const) {
      const answers = (nth: number) => (nth < before * perSession ? undefined : other)
      const db = await sentBehind({ answers }, 'watch')
      expect((await verdictsOf(db, 'named', 'SOLD-05')).get('SOLD-05')).toEqual(expected)
    }
  },
)

test.skipIf(!isGiven)(
  'by a reference, another size and another quantization differ, and the same model does not',
  minutes(30),
  async () => {
    const named = readFileSync(path('named.yaml'), 'utf8')
    writeFileSync(
      path('referenced.yaml'),
      named.replace('fixed: true', `reference: { base_url: ${own} }`),
    )
    for (const [other, expected] of [
      [undefined, 'pass'],
      [smaller, 'fail'],
      [quantized, 'fail'],
    ] as const) {
      const proxy = await startProxy(own, { answers: () => other })
      const pair = [
        ['session', proxy.origin],
        ['session', own],
      ] as const
      const db = await sent(...Array.from({ length: 12 }, () => pair).flat())
      proxy.stop()
      expect((await verdictsOf(db, 'referenced', 'SOLD-06')).get('SOLD-06')!.verdict).toBe(expected)
    }
  },
)
