import { spawnSync } from 'node:child_process'

/** Simulated machines: a network namespace each, with a link to one service. */
export interface Namespaces {
  /** Where the service listens. */
  readonly address: string
  readonly service: readonly string[]
  /** The prefix that starts a command on a machine. */
  readonly machines: readonly (readonly string[])[]
  remove(): void
}

const address = '10.77.0.1'
const within = (name: string) => ['ip', 'netns', 'exec', name]

function ip(words: string): string | null {
  const { status, stderr, error } = spawnSync('ip', words.split(' '), { encoding: 'utf8' })
  return status === 0 ? null : (error?.message ?? stderr.trim())
}

/** Why this machine allows no network namespaces; null if it allows them. */
export function whyNoNamespaces(): string | null {
  const name = `assay-${process.pid}-try`
  const why = ip(`netns add ${name}`) ?? ip(`-n ${name} link set lo up`)
  ip(`netns del ${name}`)
  return why
}

export function namespaces(count: number): Namespaces {
  const service = `assay-${process.pid}-s`
  const machines = Array.from({ length: count }, (_, at) => `assay-${process.pid}-${at}`)
  const remove = () => {
    for (const name of [service, ...machines]) ip(`netns del ${name}`)
  }
  const steps = [
    `netns add ${service}`,
    `-n ${service} link set lo up`,
    `-n ${service} addr add ${address}/32 dev lo`,
    ...machines.flatMap((name, at) => [
      `netns add ${name}`,
      `link add wire netns ${name} type veth peer name wire${at} netns ${service}`,
      `-n ${service} addr add 10.77.${at + 1}.1/24 dev wire${at}`,
      `-n ${service} link set wire${at} up`,
      `-n ${name} addr add 10.77.${at + 1}.2/24 dev wire`,
      `-n ${name} link set wire up`,
      `-n ${name} route add ${address} via 10.77.${at + 1}.1`,
    ]),
  ]
  for (const step of steps) {
    const why = ip(step)
    if (why === null) continue
    remove()
    throw new Error(`ip ${step}: ${why}`)
  }
  return { address, service: within(service), machines: machines.map(within), remove }
}
