import { stringify } from 'yaml'
import type { BalanceTerms } from '../../contract/prices.ts'
import type { Probe } from './probes.ts'

/** A probe that is left out, and why. */
export interface LeftOut {
  readonly probe: Probe
  readonly because: string
}

export interface TrafficHead {
  /** The file of the contract. */
  readonly contract: string
  /** The most that it may spend, as a decimal. */
  readonly maxCost: string | null
  /** Whether the service says of each request what it cost, in its log or in the body of the answer. */
  readonly isStated: boolean
}

/**
 * A scenario file that sends probes one after the other. It reads the balance or spend between them, and waits
 * until a late value is there at the end, or after each of them where nothing else shows what it cost.
 */
export function trafficScenario(
  probes: readonly Probe[],
  leftOut: readonly LeftOut[],
  balance: BalanceTerms | null,
  { contract, maxCost, isStated }: TrafficHead,
): string {
  const reads = balance !== null && balance.get !== null
  // A log, or a cost in each answer, says which request cost what; a late balance then has the sum alone to show.
  const waitOf = (at: number) => (isStated && at < probes.length - 1 ? '0s' : waits)
  const waits = reads ? `${Math.ceil(balance.withinMs / 1000) + 1}s` : '0s'
  const steps = {
    ...(reads
      ? { money: { endpoint: 'other', method: 'GET', path: balance.get, model: null } }
      : {}),
    ...Object.assign({}, ...probes.map((probe) => probe.steps)),
  }
  const phases = probes.flatMap((probe, at) => [
    ...(reads && at === 0 ? [readPhase(0, '0s')] : []),
    ...Object.keys(probe.steps).map((step) => ({
      name: step,
      load: 'concurrency',
      users: 1,
      max_requests: probe.times,
      steps: [step],
    })),
    ...(reads ? [readPhase(at + 1, waitOf(at))] : []),
  ])
  const document = {
    name: 'audit-prices',
    question: 'Is each charge the price of its tokens?',
    capture: 'all',
    ...(maxCost === null ? {} : { max_cost: maxCost }),
    steps,
    phases,
  }
  return [
    '# yaml-language-server: $schema=./scenario.schema.json',
    `# Made by: assay contract traffic ${contract}`,
    '# The least traffic that shows each part of each price. It needs a key without other traffic.',
    ...probes.map(({ name, shows }) => `#   ${name}: ${shows}`),
    ...leftOut.map(
      ({ probe, because }) => `# Left out: ${probe.name} (${probe.shows}): ${because}`,
    ),
    stringify(document, { lineWidth: 110 }),
  ].join('\n')
}

/** A user reads, waits and reads again: the second value is as late as it may be. */
const readPhase = (nth: number, waits: string) => ({
  name: `money-${nth}`,
  load: 'concurrency',
  users: 1,
  ...(waits === '0s' ? {} : { think: waits }),
  max_requests: waits === '0s' ? 1 : 2,
  steps: ['money'],
})
