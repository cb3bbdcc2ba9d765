import { readFileSync } from 'node:fs'

/** What all cores together have done since the machine started, in milliseconds. */
export interface MachineTime {
  /** By programs and the system, whoever's. */
  readonly busyMs: number
  /** Taken by other guests of a virtual machine's host. */
  readonly stolenMs: number
}

/** By Linux's `/proc/stat`, in steps of 10 ms; null elsewhere. */
export function machineTime(): MachineTime | null {
  try {
    const line = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]!
    const [user, nice, system, , , irq, softirq, stolen] = line
      .split(/ +/)
      .slice(1)
      .map((ticks) => Number(ticks) * 10) as [
      ...[number, number, number, number, number, number, number, number],
    ]
    return { busyMs: user + nice + system + irq + softirq, stolenMs: stolen }
  } catch {
    return null
  }
}
