import { stringify } from 'yaml'
import type { BalanceTerms } from '../../contract/prices.ts'
import type { Probe } from './probes.ts'

/** A probe that is left out, and why. */
export interface LeftOut {
  readonly probe: Probe
  readonly because: string
}

/**
 * A scenario file that sends probes one after the other, and reads the balance or spend between them.
 *
 * @param contract its file, for the head
 * @param maxCost the most that it may spend, as a decimal
 */
export function trafficScenario(
  probes: readonly Probe[],
  leftOut: readonly LeftOut[],
  balance: BalanceTerms | null,
  { contract, maxCost }: { readonly contract: string; readonly maxCost: string | null },
): string {
  const reads = balance !== null && balance.get !== null
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
    ...(reads ? [readPhase(at + 1, waits)] : []),
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
