import { stringify } from 'yaml'
import type { BalanceTerms } from '../../contract/prices.ts'
import { commandText } from '../../user/shell-word.ts'
import type { Probe } from './probes.ts'

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
 * A scenario file that sends probes one after the other. It reads a balance or spend that is never late between them. For a late one
 * it waits: at the end, for the sum, if a log or the answers show which request cost what; else after those of each model, whose costs are
 * exact, and after those that the client leaves.
 */
export function trafficScenario(
  probes: readonly Probe[],
  leftOut: readonly LeftOut[],
  balance: BalanceTerms | null,
  { contract, maxCost, isStated }: TrafficHead,
): string {
  const reads = balance !== null && balance.get !== null
  const readAfter = readsAfter(probes, balance, isStated)
  const waits = reads && balance.withinMs > 0 ? `${Math.ceil(balance.withinMs / 1000) + 1}s` : '0s'
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
    ...(readAfter.has(probe) ? [readPhase([...readAfter].indexOf(probe) + 1, waits)] : []),
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
    `# Made by: ${commandText(['contract', 'traffic', contract])}`,
    '# The least traffic that shows each part of each price. It needs a key without other traffic.',
    ...probes.map(({ name, shows }) => `#   ${name}: ${shows}`),
    ...leftOut.map(
      ({ probe, because }) => `# Left out: ${probe.name} (${probe.shows}): ${because}`,
    ),
    stringify(document, { lineWidth: 110 }),
  ].join('\n')
}

/** The probes after which the balance is read: no more than the evidence needs. */
export function readsAfter(
  probes: readonly Probe[],
  balance: BalanceTerms | null,
  isStated: boolean,
): ReadonlySet<Probe> {
  if (balance === null || balance.get === null) return new Set()
  if (balance.withinMs === 0) return new Set(probes)
  return new Set(
    probes.filter((probe, at) => {
      const next = probes[at + 1]
      if (next === undefined) return true
      return !isStated && (next.model !== probe.model || next.isExact !== probe.isExact)
    }),
  )
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
