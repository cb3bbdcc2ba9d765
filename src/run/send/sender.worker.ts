import { parentPort, workerData } from 'node:worker_threads'
import { ResponseMemory } from '../../client/bytes/memory.ts'
import { AttemptClient } from '../../client/call/client.ts'
import type { PromptFunction, ScenarioInput } from '../../scenario/define.ts'
import { importScenario } from '../../scenario/module.ts'
import { secrets } from '../../user/secrets/secrets.ts'
import { runClock } from '../clock.ts'
import type {
  FromRecorder,
  FromSender,
  SenderData,
  ToRecorder,
  ToSender,
} from '../crew/messages.ts'
import { TokenText } from '../plan/token-text.ts'
import { wantsWarmUp, warmUp } from '../start/warm-up.ts'
import { type Pace, pace } from './pacing.ts'
import { Sender } from './sender.ts'
import { SenderHealth } from './sender-health.ts'
import { transportOf } from './transport.ts'

/** A sending thread: the sender, its clock, its timer, and its ports. */
const reportEveryMs = 1000

const port = parentPort!
const data = workerData as SenderData
const say = (message: FromSender) => port.postMessage(message)
const { shard, scenario } = data

process.on('uncaughtException', (error) => {
  say({ type: 'failed', shard, message: error.stack ?? error.message })
  process.exit(1)
})

for (const secret of data.secrets) secrets.add(secret)
const now = runClock(data.zeroNs)
if (wantsWarmUp(scenario, data.proxy)) await warmUp(data, now)
const transport = await transportOf(scenario, data.baseUrl, data)
const { policy } = scenario
const memory = new ResponseMemory(Math.floor(policy.maxMemoryBytes / scenario.threads))
const client = new AttemptClient({
  transport,
  contract: data.contract,
  now,
  memory,
  deadlines: {
    connectUs: policy.connectTimeoutUs,
    firstByteUs: policy.firstByteTimeoutUs,
    idleUs: policy.idleTimeoutUs,
    totalUs: policy.totalTimeoutUs,
  },
})
const sender = new Sender({
  data,
  now,
  client,
  prompts: await promptFunctions(),
  tokenText: new TokenText(data.seed),
  handOver: (batch) => {
    const message = { batch, ...sender.takeEvidence(), last: false }
    data.recorder.postMessage(message satisfies ToRecorder, [batch.buffer])
  },
  onIssued: (ordinal) => say({ type: 'issued', shard, ordinal, atUs: now() }),
  onDrained: (phases) => {
    report()
    say({ type: 'drained', phases })
  },
  onIdle: () => void end(),
  onDueSooner: () => pacing.look(),
})
const health = new SenderHealth(now, () => pacing.nappedUs)

data.recorder.on('message', (message: FromRecorder) => {
  if (typeof message === 'number') sender.bodies.written(message)
  else sender.rows.giveBack(message)
})
data.recorder.unref()

const pacing: Pace = pace(
  {
    get nextUs() {
      return sender.nextUs
    },
    get expectsAnswers() {
      return sender.inFlight > 0
    },
    get readUs() {
      return client.readUs
    },
    tick() {
      sender.tick()
      sender.rows.handOverInTime(now())
    },
  },
  scenario.pacing,
  now,
)
const reports = setInterval(report, reportEveryMs)

port.on('message', (message: ToSender) => {
  switch (message.type) {
    case 'phase':
      sender.addPhase(message.phase)
      break
    case 'finish':
      sender.finish()
      break
    case 'end-phase':
      sender.endPhase(message.ordinal)
      break
    case 'stop':
      sender.stop(message.now)
      break
    case 'drain':
      sender.drain(message.phases)
      break
  }
})
say({ type: 'ready', shard })

function report(): void {
  const row = health.take({
    runId: data.runId,
    shard,
    atUs: now(),
    lagP99Us: sender.takeLagP99Us(),
    inFlight: sender.inFlight,
    queuedBatches: sender.rows.queued,
  })
  say({
    type: 'report',
    shard,
    atUs: now(),
    ...sender.report(),
    inFlight: sender.inFlight,
    health: row,
  })
}

let ended = false
async function end(): Promise<void> {
  if (ended) return
  ended = true
  pacing.stop()
  clearInterval(reports)
  sender.rows.flush()
  const last: ToRecorder = { batch: null, ...sender.takeEvidence(), last: true }
  data.recorder.postMessage(last)
  report()
  const { loopDelayP99Us, utilisation } = health.whole()
  health.stop()
  say({
    type: 'finished',
    shard,
    rows: sender.rows.rows,
    bodiesGivenUp: sender.bodies.givenUp,
    memory: memory.figures,
    strays: transport.strays ?? 0,
    loopDelayP99Us,
    utilisation,
  })
  await transport.close()
  port.close()
  data.recorder.close()
  sender.examiner?.close()
}

/** Functions cannot be sent between threads, so each thread imports the scenario's module. */
async function promptFunctions(): Promise<readonly (PromptFunction | undefined)[]> {
  if (scenario.modulePath === null) return []
  const module = (await importScenario(scenario.modulePath)) as ScenarioInput
  return scenario.steps.map((step) => {
    const prompt = module.steps[step.name]?.prompt
    return typeof prompt === 'function' ? prompt : undefined
  })
}
