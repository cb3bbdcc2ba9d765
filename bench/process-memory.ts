import { readFileSync } from 'node:fs'

/** Resident memory of a process; null once it is gone, or where the system does not tell. */
export function rssMiB(pid: number): number | null {
  try {
    const [, kib] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kib === undefined ? null : Number(kib) / 1024
  } catch {
    return null
  }
}
