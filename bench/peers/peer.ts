import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Figures } from './figures.ts'
import type { Place } from './install.ts'
import type { Work } from './works.ts'

/** A run of a tool: where its files are, what it is sent to, and what it shall do. */
export interface Task {
  /** A folder of this run alone. */
  readonly home: string
  readonly baseUrl: string
  readonly work: Work
}

/** What is in the folder, what is run in it, and how its figures are read. */
interface Play {
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  read(stdout: string): Figures
}

/** A load generator, with the best settings that its documentation gives for a work. */
export interface Peer {
  readonly name: string
  readonly from: Place
  readonly works: readonly string[]
  /** Prints its version on a line. */
  readonly version: readonly string[]
  play(task: Task, program: string): Play
}

export const path = '/v1/chat/completions'
export const json = 'content-type: application/json'

export function file(task: Task, name: string, text: string): string {
  const at = join(task.home, name)
  writeFileSync(at, text)
  return at
}

/**
 * What a tool wrote as JSON; a shape that a later version changes ends the trial with an error. Python writes NaN for
 * what it does not know, which is null here.
 */
export const parsed = <Shape>(text: string) =>
  JSON.parse(text.replaceAll(/: NaN(?=[,\s}])/g, ': null')) as Shape
export const parsedFile = <Shape>(...at: readonly string[]) =>
  parsed<Shape>(readFileSync(join(...at), 'utf8'))
export type Table = Readonly<Record<string, number>>
export const first = (text: string, pattern: RegExp): number =>
  Number(pattern.exec(text)?.[1] ?? Number.NaN)

/** `12.34ms`, `1.2s` or `340us` in milliseconds. */
export function milliseconds(text: string): number {
  const [, value, unit] = /([\d.]+)(us|ms|s)/.exec(text) ?? []
  return Number(value) * { us: 0.001, ms: 1, s: 1000 }[unit as 'ms']
}
