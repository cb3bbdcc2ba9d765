import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  clientCore,
  cpuSeconds,
  module,
  type Server,
  serve,
  serverCore,
  timed,
} from '../processes.ts'
import type { Figures, Trial } from './figures.ts'
import type { Peer } from './peer.ts'
import type { Work } from './works.ts'

/** Starts what a work is sent to: nginx, or the Go server with stamps of its own. */
export const serverOf = (work: Work, goServer: string): Promise<Server> =>
  serve(serverCore, work.server === null ? module('null-server.ts') : [goServer, ...work.server])

/** One run of one tool, in a folder of its own that is gone afterwards. */
export async function trial(
  peer: Peer,
  program: string,
  work: Work,
  server: Server,
): Promise<Trial> {
  const home = mkdtempSync(join(tmpdir(), `assay-peer-${peer.name}-`))
  const baseUrl = `http://127.0.0.1:${server.port}`
  const truth = async () =>
    work.server === null
      ? null
      : ((await (await fetch(`${baseUrl}/truth`)).json()) as Figures & { seconds: number })
  try {
    await truth() // forgets what came before
    const { command, env, read } = peer.play({ home, baseUrl, work }, program)
    const began = performance.now()
    const child = spawn(...timed(clientCore, command), {
      cwd: home,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (piece) => (stdout += piece))
    child.stderr.on('data', (piece) => (stderr += piece))
    let peakMB = 0
    const watch = setInterval(() => {
      peakMB = Math.max(peakMB, memoryMB(child.pid!))
    }, 100)
    const limit = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), (work.seconds + 90) * 1000)
    await once(child, 'close')
    clearInterval(watch)
    clearTimeout(limit)
    const wallS = (performance.now() - began) / 1000
    const lines = stdout.trimEnd().split('\n')
    const cpuS = cpuSeconds(lines.pop() ?? '')
    lines.pop() // the shell's own
    try {
      const own = read(lines.join('\n'))
      return { ...own, cpuS, wallS, peakMB, truth: await truth() }
    } catch (cause) {
      const said = (stderr || stdout).slice(-300)
      throw new Error(
        `${peer.name} told nothing that can be read (${(cause as Error).message}): ${said}`,
        { cause },
      )
    }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** Resident memory of a process group, where the kernel tells it. */
function memoryMB(group: number): number {
  let pages = 0
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (Number(fields[2]) === group) pages += Number(fields[21])
    } catch {
      // It ended between the listing and the look.
    }
  }
  return (pages * 4096) / 1e6
}
