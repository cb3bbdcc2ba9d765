import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cpus } from 'node:os'
import { createInterface } from 'node:readline'

/** Whether processes can be held to a core here. */
export const canPin = existsSync('/usr/bin/taskset') && cpus().length >= 2

/** Starts a script of this folder in a process of its own, on these cores where that is possible. */
export function startOn(cores: string, script: string, args: readonly string[] = []): ChildProcess {
  const command = [process.execPath, new URL(script, import.meta.url).pathname, ...args]
  const [file, ...rest] = canPin ? ['taskset', '-c', cores, ...command] : command
  return spawn(file!, rest, { stdio: ['ignore', 'pipe', 'inherit'] })
}

/** The first line that a process prints, parsed. */
export async function firstLine<T>(child: ChildProcess): Promise<T> {
  for await (const line of createInterface({ input: child.stdout! })) return JSON.parse(line) as T
  throw new Error('the process ended without a word')
}
