import { readFileSync } from 'node:fs'
import { cpus, platform, release, totalmem } from 'node:os'

/** What a run was measured on; figures of different machines are not compared unseen. */
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

/** Version of this Assay. */
export function assayVersion(): string {
  const file = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(file) as { readonly version: string }).version
}
