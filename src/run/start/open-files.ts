import { readdirSync, readFileSync } from 'node:fs'

/** Descriptors for what opens files during a run: the store, its journal and bodies, certificates, names of hosts. */
const reserve = 24
/** Descriptors of a sending thread itself. */
const ofThread = 12

/**
 * How many connections each sending thread may open, so that the recorder never lacks a descriptor. A run then counts
 * requests as `not sent`, and keeps its rows.
 *
 * @returns Infinity where the system does not say its limit
 */
export function connectionsOf(threads: number): number {
  const limit = openFileLimit()
  if (limit === null) return Number.POSITIVE_INFINITY
  const left = limit - openFiles() - reserve - threads * ofThread
  return Math.max(1, Math.floor(left / threads))
}

function openFileLimit(): number | null {
  try {
    const [, limit] =
      /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return limit === undefined ? null : Number(limit)
  } catch {
    return null
  }
}

const openFiles = () => readdirSync('/proc/self/fd').length
