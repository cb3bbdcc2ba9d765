/**
 * A run of so many requests, flat out, from its first thread to its closed file:
 *
 *     node [--import ./bench/without-recorder.ts] bench/recording-client.ts PORT CONNECTIONS REQUESTS
 *
 * Prints the CPU time of a request, of all threads. The recorder yields to those that send, so only a
 * run to its end tells what it costs.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defaultContract } from '../src/contract/default.ts'
import { monotonicNs } from '../src/run/clock.ts'
import { Coordinator } from '../src/run/crew/coordinator.ts'
import { unsharded } from '../src/run/crew/shard.ts'
import { phaseLoads } from '../src/run/plan/loads.ts'
import { promptPools } from '../src/run/plan/prompts.ts'
import { resolveKeys } from '../src/run/send/keys.ts'
import { parseScenario } from '../src/scenario/parse.ts'

const [, , port, connections, requests] = process.argv
const baseUrl = `http://127.0.0.1:${port}`
const home = mkdtempSync(join(tmpdir(), 'assay-bench-'))
const scenario = parseScenario(
  JSON.stringify({
    name: 'bench',
    question: 'What does recording cost?',
    model: 'svc-k2',
    capture: 'none',
    steps: { chat: { endpoint: 'chat', prompt: 'Say something short.', max_tokens: 64 } },
    phases: [
      {
        name: 'load',
        load: 'concurrency',
        users: Number(connections),
        max_requests: Number(requests),
      },
    ],
  }),
  'bench',
)
const coordinator = new Coordinator({
  shard: unsharded,
  scenario: { ...scenario, threads: 1 },
  contract: defaultContract,
  run: {
    runId: 'bench',
    kind: 'run',
    scenario: scenario.name,
    scenarioJson: '{}',
    seed: 1,
    baseUrl,
    contract: defaultContract.name,
    startedAtUs: Date.now() * 1000,
    timeScale: 1,
    assayVersion: '0',
    machineJson: '{}',
  },
  zeroNs: monotonicNs(),
  seed: 1,
  baseUrl,
  dbPath: join(home, 'bench.duckdb'),
  store: null,
  onAttempts: null,
  keys: resolveKeys(scenario, { default: 'sk-bench-pQ7wZx4mTd' }),
  prompts: promptPools(scenario, 1),
  tls: {},
  proxy: null,
  team: null,
  onProgress: () => {},
  progressEveryMs: Infinity,
})
await coordinator.start()
const before = process.cpuUsage()
await coordinator.runPhases(scenario.phases, phaseLoads(scenario))
await coordinator.finish()
const { user, system } = process.cpuUsage(before)
const { ok } = coordinator.tally.counts()
if (ok !== Number(requests) || coordinator.figures.recorded !== ok) {
  throw new Error(`${requests} requests, ${ok} answers, ${coordinator.figures.recorded} rows`)
}
console.log(JSON.stringify({ cpuUs: (user + system) / ok }))
rmSync(home, { recursive: true })
