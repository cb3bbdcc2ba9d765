import type { BalanceTerms } from '../../contract/prices.ts'
import { takesPrompt } from '../../contract/request.ts'
import type { Phase } from '../../scenario/loads.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import type { Step } from '../../scenario/steps.ts'
import { hasRows } from '../../store/has-rows.ts'
import type { Session } from '../../store/session/session.ts'
import type { Coordinator, Loads } from '../crew/coordinator.ts'
import { enforcesLength } from '../plan/step-plan.ts'
import { type Refusal, refusalOf } from '../send/refusal.ts'

/** The phase of first requests: its rows are stored, but count toward no figure. */
export const firstPhase = 'first requests'

/** A service may take long: after this the load begins, although first requests are in flight. */
const mostWaitUs = 10e6

const onceASecond = [{ durationUs: 1e6, fromPerS: 1, toPerS: 1 }]

/**
 * Sends one request of each kind before the load, one at a time, and one read of the balance if the scenario reads it. A
 * permanent refusal stops the run, because a wrong path or key would fail the whole load, or leave it without a balance. So does a page
 * that has no balance.
 *
 * @param look says what is wrong with a page of the balance that answers
 * @returns what it said
 */
export async function sendFirstRequests(
  coordinator: Coordinator,
  scenario: Scenario,
  loads: Loads,
  balance: BalanceTerms | null,
  look: (balance: BalanceTerms) => Promise<string | null>,
): Promise<string | null> {
  const endUs = coordinator.now() + mostWaitUs
  const reads = balanceReads(scenario.steps, balance)
  for (const step of [...reads, ...oneOfEachKind(scenario.steps)]) {
    const phase: Phase = {
      name: firstPhase,
      part: 'warmup',
      load: { kind: 'arrivals', spacing: { kind: 'constant' }, rate: onceASecond },
      durationUs: 1e6,
      maxRequests: 1,
      steps: [step.name],
    }
    const sendOnce = async () => {
      const { length } = coordinator.phases
      await coordinator.runPhases([phase], loads)
      await coordinator.untilDrained(endUs)
      return coordinator.tally
        .countersWhere((run) => run.ordinal >= length)
        .flatMap(({ errors }) => [...errors.keys()])
    }
    let errors = await sendOnce()
    const isStopped = () => coordinator.stopReason !== null || coordinator.now() > endUs
    let again = 0
    for (; again < mostAgain && errors.some(isFailure) && !isStopped(); again++)
      errors = await sendOnce()
    const stillFails = again === mostAgain && errors.some(isFailure)
    if (errors.some(isForGood) || stillFails) coordinator.stop('first-request')
    if (isStopped()) return null
    const issue = reads.includes(step) ? await look(balance!) : null
    if (issue === null) continue
    coordinator.stop('first-request')
    return issue
  }
  return null
}

/** A step that reads the page where the contract has the balance. */
function balanceReads(steps: readonly Step[], balance: BalanceTerms | null): readonly Step[] {
  const read = steps.find(
    ({ endpoint, path, wrong, weight }) =>
      endpoint === 'other' &&
      wrong === null &&
      weight > 0 &&
      path !== null &&
      pageOf(path) === pageOf(balance?.get ?? ''),
  )
  return read === undefined ? [] : [read]
}

/** A path without its query, as an audit compares it. */
const pageOf = (path: string) => path.split('?')[0]

/**
 * Steps that are meant to succeed: one for each endpoint, stream or not, model, list of keys, and way to ask for a length. A step with fields of
 * its own represents its kind only if no plain one does, because its fields may be wrong on purpose.
 */
function oneOfEachKind(steps: readonly Step[]): readonly Step[] {
  const right = steps.filter(
    (step) => takesPrompt(step.endpoint) && step.wrong === null && step.weight > 0,
  )
  const complete = right.filter((step) => !leavesOutField(step))
  const hasFields = (step: Step) => (Object.keys(step.body).length > 0 ? 1 : 0)
  const kinds = new Map<string, Step>()
  for (const step of complete.length > 0 ? complete : right) {
    const kind = JSON.stringify([
      ...[step.endpoint, step.stream, step.model, step.keys],
      enforcesLength(step),
    ])
    const other = kinds.get(kind)
    if (other === undefined || hasFields(step) < hasFields(other)) kinds.set(kind, step)
  }
  return [...kinds.values()]
}

/** Whether it lacks a field that its format requires, which may be its purpose. */
const leavesOutField = ({ endpoint, model, maxTokens }: Step) =>
  model === null || (endpoint === 'messages' && maxTokens === null)

/** Statuses that would refuse every request of a kind: a wrong field, key, account or address. */
const forGood = new Set([400, 401, 402, 403, 404, 405, 422])

/** Reasons without a response head, from a server that does not speak HTTP. */
const noHttp = new Set(['protocol', 'tls'])

/** Reasons without a response head that may be by chance: the connection was cut. */
const cut = new Set(['closed-early', 'closed-idle', 'reset'])

/**
 * Whether the load would fail the same way. Another 4xx is permanent only if its code names the model; a 500 or 501 is, and
 * a cut connection, if it comes again (`sendFirstRequests`).
 *
 * @param words an error as it is counted: `404 code`, `200 closed-early`, or only a reason
 */
function isForGood(words: string): boolean {
  const [, status, code = ''] = /^(\d{3})\b ?(.*)$/.exec(words) ?? []
  return status === undefined
    ? noHttp.has(words)
    : forGood.has(Number(status)) || (status.startsWith('4') && /model/.test(code))
}

/** Times that a first request that failed or was cut is sent again: one may be by chance. */
const mostAgain = 2

/** A status of a service that fails, other than one under load, or a cut connection. */
const isFailure = (words: string) => /^50[01]\b/.test(words) || cut.has(words)

interface Refused extends Refusal {
  readonly method: string
  readonly path: string
  readonly step: string
}

/** A sentence on the permanent refusal: the request, the response, the remedy. */
export async function firstRefusal(
  session: Session,
  runId: string,
  baseUrl: string,
  steps: readonly Step[],
): Promise<string> {
  const [refused] = await session.rows<Refused>(
    `SELECT templates.method, templates.path, attempts.step, status, reason, bodies.body
     FROM attempts JOIN templates USING (run_id, template)
     LEFT JOIN bodies USING (run_id, slot, retry)
     WHERE run_id = $1 AND phase = $2 AND outcome <> 'ok' ORDER BY slot DESC LIMIT 1`,
    [runId, firstPhase],
  )
  if (refused === undefined) return 'The first request was refused.'
  const { method, path, step, ...answer } = refused
  const sent = `${method} ${new URL(path, baseUrl).href} (step ${step})`
  const answered = 'attempts WHERE run_id = $1 AND status IS NOT NULL'
  return answer.status === null && (await hasRows(session, answered, [runId]))
    ? `${sent} got no HTTP answer (${answer.reason}), ${mostAgain + 1} times in a row. The service answered other requests, so the base URL is right; its own log may say why it ends this connection.`
    : `${refusalOf(sent, answer)}${enforcementText(
        answer,
        steps.find(({ name }) => name === step),
      )}`
}

/** A further remedy, if the step sent fields that some services do not know. */
function enforcementText({ status }: Refusal, step: Step | undefined): string {
  if (step === undefined || !enforcesLength(step) || (status !== 400 && status !== 422)) return ''
  return `\nStep ${step.name} asks for its length by min_tokens and ignore_eos. If the service refuses them, enforce_output: false in the step leaves them out (--no-enforce-output of bench).`
}
