import { readFileSync } from 'node:fs'
import { cpus, platform, release, totalmem } from 'node:os'

/** The machine that sends. Comparisons warn if it differs. */
export function machineJson(): string {
  const processors = cpus()
  return JSON.stringify({
    platform: platform(),
    release: release(),
    cores: processors.length,
    processor: processors[0]?.model ?? 'unknown',
    memoryBytes: totalmem(),
    node: process.versions.node,
  })
}

interface Package {
  readonly version: string
  readonly engines: { readonly node: string }
}

const packageJson = (): Package =>
  JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as Package

export const assayVersion = (): string => packageJson().version

/** The lowest supported version of Node, as `22.19`. */
export const neededNode = (): string => packageJson().engines.node.replace('>=', '')
