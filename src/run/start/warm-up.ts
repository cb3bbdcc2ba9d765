import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ResponseMemory } from '../../client/bytes/memory.ts'
import { AttemptClient } from '../../client/call/client.ts'
import { pathOfEndpoint } from '../../client/call/request.ts'
import { Http1Transport } from '../../client/wire/http1/transport.ts'
import { takesPrompt } from '../../contract/request.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import type { SenderData } from '../crew/messages.ts'
import { SharedNumbers } from '../crew/shared.ts'
import { nullService } from '../self-test/null-service.ts'
import { Sender } from '../send/sender.ts'

/** Below this rate, a slow first request delays no other. */
const lowestRatePerS = 100

/** Whether a load is so fast that its first second would include the compilation of code. */
export function wantsWarmUp({ phases, transport }: Scenario, proxy: string | null): boolean {
  const isFast = phases.some(
    ({ load }) =>
      load.kind === 'replay' ||
      (load.kind === 'arrivals' &&
        load.rate.some(({ fromPerS, toPerS }) => Math.max(fromPerS, toPerS) >= lowestRatePerS)),
  )
  return isFast && transport === 'own' && proxy === null
}

/** Enough to compile the code of a request, within a fifth of a second. */
const requests = 1000
const ratePerS = 5000
const eventsOfStream = 16
const memoryBytes = 64 << 20
const deadlineUs = 1e6

/**
 * Sends requests of the scenario's steps to a null service within this thread, so that the first request
 * of a run finds compiled code. Nothing of it reaches the real service, a row, a count or the budget. See
 * docs/decisions/0206-the-client-warms-itself.md.
 *
 * @param now the clock of the run, in microseconds
 * @returns the number of successes; 0 if no step is plain (without conversation, function, abort or
 *   fault), or if this machine has no 127.0.0.1
 */
export async function warmUp(data: SenderData, now: () => number): Promise<number> {
  const steps = data.scenario.steps.flatMap((step, index) => {
    const { endpoint, wrong, abort, session, prompt } = step
    const isPlain = wrong === null && abort === null && session === null
    return isPlain && takesPrompt(endpoint) && prompt.kind !== 'function'
      ? [{ step, index, endpoint }]
      : []
  })
  if (steps.length === 0) return 0
  const { contract, scenario } = data
  // An answer in another format would be a failure, and leave the code that reads a success cold.
  const endpoints = new Map(
    steps.map(({ step, endpoint }) => [step.path ?? pathOfEndpoint(contract, endpoint), endpoint]),
  )
  const service = nullService(eventsOfStream, (path) => endpoints.get(path) ?? 'chat')
  const listens = await new Promise<boolean>((resolve) => {
    service.once('error', () => resolve(false))
    service.listen(0, '127.0.0.1', () => resolve(true))
  })
  // A network namespace may have no loopback address; the run then starts cold.
  if (!listens) return 0
  const { port } = service.address() as AddressInfo
  const { policy } = scenario
  const baseUrl = `http://127.0.0.1:${port}`
  const transport = new Http1Transport({
    origin: baseUrl,
    maxConnections: 8,
    connectTimeoutMs: deadlineUs / 1000,
  })
  let isOver = false
  const sender = new Sender({
    data: {
      ...data,
      runId: 'warm-up',
      shard: 0,
      shards: 1,
      baseUrl,
      checker: undefined,
      scenario: {
        ...scenario,
        threads: 1,
        shards: 'by index' as const,
        capture: 'none' as const,
        steps: steps.map(({ step }) => ({ ...step, keys: [], expect: [] })),
        policy: { ...policy, maxCredits: null, maxCost: null },
      },
      prompts: steps.map(({ index }) => data.prompts[index] ?? null),
      keys: [{ name: 'warm-up', account: 'warm-up', weight: 1, key: 'none' }],
      shared: new SharedNumbers().buffer,
    },
    now,
    client: new AttemptClient({
      transport,
      contract,
      now,
      memory: new ResponseMemory(memoryBytes),
      deadlines: {
        connectUs: deadlineUs,
        firstByteUs: deadlineUs,
        idleUs: deadlineUs,
        totalUs: deadlineUs,
      },
    }),
    prompts: [],
    tokenText: null,
    handOver: () => {},
    onIssued: () => {},
    onDueSooner: () => {},
    onDrained: () => {},
    onIdle: () => {
      isOver = true
    },
  })
  const rate = [{ durationUs: 1e6, fromPerS: ratePerS, toPerS: ratePerS }]
  sender.addPhase({
    ordinal: 0,
    name: 'warm-up',
    part: 'warmup',
    startUs: now(),
    durationUs: 1e6,
    load: { kind: 'arrivals', spacing: { kind: 'constant' }, rate },
    maxRequests: requests,
    steps: steps.map((_, at) => at),
    slotBase: 0,
  })
  sender.finish()
  while (!isOver) {
    sender.tick()
    await nextTurn()
  }
  await transport.close()
  service.close()
  return sender.report().steps.reduce((sum, { counters }) => sum + counters.ok, 0)
}
