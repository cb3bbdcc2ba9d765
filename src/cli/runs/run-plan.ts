import { shownBaseUrl } from '../../contract/base-url.ts'
import type { Billing } from '../../contract/billing.ts'
import type { Contract } from '../../contract/contract.ts'
import { modelPriceOf } from '../../contract/model-price.ts'
import type { PriceTerms } from '../../contract/prices.ts'
import { maxTokensOf } from '../../contract/request-fields.ts'
import { shownAmount, shownNumber } from '../../money/money.ts'
import { add, compare, readNumber, zero } from '../../money/rational.ts'
import { asksForCalls, pricesCalls } from '../../price/calls.ts'
import { formatDuration } from '../../report/format.ts'
import type { Shard } from '../../run/crew/shard.ts'
import type { PhasePlan } from '../../run/plan/plan.ts'
import { repeatedTexts } from '../../run/plan/repeated-tokens.ts'
import { traceText } from '../../run/plan/trace-plan.ts'
import { askedModel } from '../../scenario/asked-model.ts'
import type { Load } from '../../scenario/loads.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import type { Step } from '../../scenario/steps.ts'
import { undecidable } from '../../scenario/undecidable.ts'
import { counted } from '../../user/grouped.ts'
import { wrapped } from '../../user/wrapped.ts'
import { duration } from '../terminal/duration.ts'
import { table } from '../terminal/table.ts'

/**
 * The plan of a scenario as text.
 *
 * @param threads that send
 * @param unpriced the steps whose model has no price
 */
export function planText(
  scenario: Scenario,
  plan: readonly PhasePlan[],
  shard: Shard,
  threads: number,
  billing: Billing,
  unpriced: readonly string[] = [],
): string {
  const unit = unitOf(billing)
  const head = [
    'phase',
    'part',
    'load',
    'lasts',
    'requests',
    ...(unit === '' ? [] : [`at most ${unit}`]),
  ]
  const rows = plan.map((phase) => [
    phase.phase,
    phase.part,
    phase.load,
    lastsText(phase, scenario),
    phase.requests === null ? 'open' : String(phase.requests),
    ...(billing.kind === 'credits'
      ? [phase.mostCredits === null ? 'open' : String(phase.mostCredits)]
      : billing.kind === 'money'
        ? [phase.mostCost === null ? 'open' : shownNumber(readNumber(phase.mostCost.amount)!, unit)]
        : []),
  ])
  const steps = plan.flatMap(({ phase, bySteps }) => {
    const counts = Object.entries(bySteps).map(([step, count]) => `${step} ${count}`)
    return counts.length === 0 ? [] : wrapped(`${phase}: ${counts.join(', ')}`, '  ')
  })
  const tasks = plan.flatMap((phase) => {
    if (phase.tasks === undefined) return []
    const { count, begun, least, mean, most } = phase.tasks
    const middle = begun === 0 ? '' : `, ${begun} of them from their middle`
    const each = least === most ? `${most}` : `${least} to ${most} (mean ${mean.toFixed(1)})`
    return wrapped(
      `${phase.phase}: ${counted(count, 'task')} of ${each} ${most === 1 ? 'request' : 'requests'} each${middle}`,
      '  ',
    )
  })
  const traces = plan.flatMap(({ phase, trace }) => {
    const load = scenario.phases.find(({ name }) => name === phase)?.load
    if (trace === null || load?.kind !== 'replay') return []
    const lines = [...traceText(trace, load.speed), ...timesText(load)]
    return lines.flatMap((line) => wrapped(`${phase}: ${line}`, '  '))
  })
  return [
    `${scenario.name}: ${scenario.question}`,
    ...table([head, ...rows], 'words'),
    ...steps,
    ...tasks,
    ...traces,
    ...(shard.of === 1 ? [] : [`The part of shard ${shard.index} of ${shard.of}.`]),
    ...wrapped(lengthText(scenario, plan), ''),
    `Sends on ${threads === 1 ? '1 thread' : `${threads} threads`}.`,
    ...wrapped(costText(scenario, plan, billing, unpriced), ''),
    ...repeatedTexts(scenario, scenario.seed, (step) => requestsOf(plan, step)).flatMap((text) =>
      wrapped(text, ''),
    ),
    ...undecidable(scenario).flatMap((text) => wrapped(text, '')),
    ...targetsText(scenario),
    'Nothing was sent.',
    '',
  ].join('\n')
}

/** The unit of costs; empty if nothing has a price. */
function unitOf(billing: Billing): string {
  if (billing.kind === 'money') return billing.prices.currency.name
  return billing.kind === 'credits' ? 'credits' : ''
}

/** What a run of two targets doubles. */
function targetsText({ targets }: Scenario): readonly string[] {
  if (targets === undefined) return []
  const { a, b } = targets
  const what =
    a.contract === b.contract
      ? 'counts and costs are those of each'
      : 'counts are those of each, and costs those of a by its contract'
  return wrapped(
    `Each request goes to both targets, ${shownBaseUrl(a.baseUrl)} and ${shownBaseUrl(b.baseUrl)}; ${what}.`,
    '',
  )
}

/** A search lasts as long as it must, or at most as long as it may. */
function lastsText({ phase, durationUs, requests }: PhasePlan, { phases }: Scenario): string {
  const load = phases.find(({ name }) => name === phase)?.load
  if (load?.kind === 'sweep' && load.search.mostUs !== null)
    return `at most ${formatDuration(load.search.mostUs / 1e6)}`
  if (durationUs !== null) return duration(durationUs)
  const waitsUs = waitsOf(load, requests)
  return waitsUs === 0 ? 'until answered' : `at least ${formatDuration(waitsUs / 1e6)}`
}

/** Time that the users of a closed load wait between its requests, in microseconds; 0 if that is not fixed. */
function waitsOf(load: Load | undefined, requests: number | null): number {
  if (load?.kind !== 'concurrency' || load.think.kind !== 'fixed' || requests === null) return 0
  const users = Math.max(1, load.fromUsers, load.toUsers)
  const rounds = Math.ceil(requests / users)
  return Math.max(0, rounds - 1) * load.think.us
}

/** How long the whole plan lasts. */
function lengthText({ phases }: Scenario, plan: readonly PhasePlan[]): string {
  const loadOf = (name: string) => phases.find((phase) => phase.name === name)?.load
  let [knownUs, isOpen, searchUs] = [0, false, 0]
  for (const { phase, durationUs, requests } of plan) {
    const load = loadOf(phase)
    if (durationUs !== null) knownUs += durationUs
    else if (load?.kind === 'sweep' && load.search.mostUs !== null) searchUs += load.search.mostUs
    else {
      knownUs += waitsOf(load, requests)
      isOpen = true
    }
  }
  const known = formatDuration(knownUs / 1e6)
  const search = searchUs === 0 ? '' : ` A search adds at most ${formatDuration(searchUs / 1e6)}.`
  return isOpen
    ? `Lasts at least ${known}, and as long as the answers take.${search}`
    : `Lasts ${known}, and until the last answer.${search}`
}

/** What the whole plan costs at most. */
function costText(
  scenario: Scenario,
  plan: readonly PhasePlan[],
  billing: Billing,
  unpriced: readonly string[],
): string {
  if (billing.kind === 'money') {
    const { prices } = billing
    return `${moneyText(scenario, plan, prices.currency.name)}${endsText(scenario, unpriced)}${callsText(scenario, prices)}`
  }
  const unkept =
    scenario.policy.maxCost === null
      ? ''
      : ' max_cost bounds nothing: the contract has no price of a model of this scenario.'
  return `${creditsSaid(scenario, plan, billing)}${unkept}`
}

function creditsSaid(
  { policy }: Scenario,
  plan: readonly PhasePlan[],
  billing: Exclude<Billing, { kind: 'money' }>,
): string {
  if (billing.kind === 'none') {
    const { maxCredits } = policy
    return maxCredits === null
      ? 'No contract states what these requests cost.'
      : `No contract states what these requests cost; max_credits counts each as 1, up to ${maxCredits.toLocaleString('en-US')}.`
  }
  const known = plan.reduce((sum, { mostCredits }) => sum + (mostCredits ?? 0), 0)
  const open = plan.filter(({ mostCredits }) => mostCredits === null).map(({ phase }) => phase)
  const { maxCredits } = policy
  const credits = (count: number) => counted(count, 'credit')
  if (open.length === 0) {
    const most = Math.min(known, maxCredits ?? Infinity)
    return `At most ${credits(most)} in all${most < known ? ', by max_credits' : ''}.`
  }
  return maxCredits === null
    ? `No bound on the credits: answers decide how many requests ${open.join(', ')} ${open.length === 1 ? 'sends' : 'send'}. Set max_credits.`
    : `At most ${credits(maxCredits)} in all, by max_credits.`
}

function moneyText({ policy, steps }: Scenario, plan: readonly PhasePlan[], unit: string): string {
  const known = plan
    .flatMap(({ mostCost }) => (mostCost === null ? [] : [readNumber(mostCost.amount)!]))
    .reduce(add, zero)
  const bound = policy.maxCost === null ? null : readNumber(policy.maxCost)!
  const open = plan.filter(({ mostCost }) => mostCost === null).map(({ phase }) => phase)
  const how = 'without a cache, each answer as long as max_tokens'
  if (open.length === 0) {
    return bound !== null && compare(bound, known) < 0
      ? `At most ${shownAmount(bound, unit)} in all, by max_cost; the plan could cost ${shownAmount(known, unit)}.`
      : `At most ${shownAmount(known, unit)} in all: ${how}.`
  }
  if (bound !== null) return `At most ${shownAmount(bound, unit)} in all, by max_cost.`
  const endless = steps.filter(
    ({ maxTokens, model, body }) =>
      model !== null && maxTokens === null && maxTokensOf(body) === null,
  )
  const missing = endless.map(({ name }) => name).join(', ')
  return `No bound on the cost of ${open.join(', ')}: answers decide how much is sent, a price is missing, or a step has no max_tokens. Set max_cost${missing === '' ? '' : `, or max_tokens in ${missing}`}.`
}

/** The steps whose model has no price: what an answer of them costs is never known. */
export const unpricedSteps = (contract: Contract, { steps }: Scenario): readonly string[] =>
  steps
    .filter((step) => {
      const asked = askedModel(step, step.model)
      return asked !== null && step.wrong === null && modelPriceOf(contract, asked) === null
    })
    .map(({ name }) => name)

const endsText = ({ policy }: Scenario, unpriced: readonly string[]): string =>
  policy.maxCost === null || unpriced.length === 0
    ? ''
    : ` max_cost ends the run at the first answer of ${unpriced.join(' or ')}: the contract has no price of its model.`

/** What `max_cost` does not count: calls of the service's own tools, which no answer of a run is read for. */
function callsText({ policy, steps }: Scenario, { models }: PriceTerms): string {
  if (policy.maxCost === null) return ''
  const mayCall = (step: Step) => {
    const asked = models.find(({ id }) => id === askedModel(step, step.model))
    return asksForCalls(step.body) && (asked === undefined ? models : [asked]).some(pricesCalls)
  }
  const names = steps.filter(mayCall).map(({ name }) => name)
  return names.length === 0
    ? ''
    : ` max_cost counts tokens alone: the calls of ${names.join(', ')} have a price of their own, which is added to it.`
}

function timesText({ gaps, users }: Extract<Load, { kind: 'replay' }>): readonly string[] {
  if (gaps === null) return ['each request keeps its recorded start']
  const cap = gaps.capUs === null ? '' : `, at most ${formatDuration(gaps.capUs / 1e6)}`
  return [
    `each request waits for the answer that it waited for, and then for the recorded gap${cap}`,
    users === null
      ? 'each session keeps its recorded start'
      : `${counted(users, 'user')} ${users === 1 ? 'does' : 'do'} one session after the other, in the order of their recorded starts`,
  ]
}

/** Planned requests of a step; null if a phase leaves them open. */
function requestsOf(plan: readonly PhasePlan[], step: string): number | null {
  const isOpen = plan.some(
    ({ requests, bySteps }) =>
      requests === null || (requests > 0 && Object.keys(bySteps).length === 0),
  )
  return isOpen ? null : plan.reduce((sum, { bySteps }) => sum + (bySteps[step] ?? 0), 0)
}
