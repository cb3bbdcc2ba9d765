/**
 * `npm run peers -- [chat|streams|open|stall|start] [--peers wrk,oha] [--rounds 3] [--quick]
 * [--open 100,500] [--home folder] [--out docs/peers.md]`
 *
 * Gives each tool the same work, in turn, on a core of its own, and prints the figures of each with
 * those of the server. Peers are installed from their public registries into a folder of their own. In the file of
 * `--out`, only the parts of this command are written again; text around them stays.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, homedir, release } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { askedOf } from '../../test/asked.ts'
import { clientCore, cpuSeconds, has, timed } from '../processes.ts'
import type { Trial } from './figures.ts'
import { type Installed, install } from './install.ts'
import { withParts } from './page.ts'
import type { Peer } from './peer.ts'
import { peers } from './peers.ts'
import { markdown, median, tableOf } from './table.ts'
import { serverOf, trial } from './trial.ts'
import { type Work, worksOf } from './works.ts'

const usage = `npm run peers -- [chat|streams|open|stall|start] [--peers wrk,oha] [--rounds 3] [--quick]
[--open 100,500] [--home folder] [--out docs/peers.md]`
const { positionals, values } = askedOf(usage, {
  peers: { type: 'string', default: peers.map(({ name }) => name).join(',') },
  rounds: { type: 'string', default: '3' },
  open: { type: 'string', default: '100,500,1000' },
  home: { type: 'string', default: join(homedir(), '.cache', 'assay-peers') },
  out: { type: 'string' },
  quick: { type: 'boolean', default: false },
})
const home = resolve(values.home)
const rounds = Number(values.rounds)
const wanted = (name: string) => positionals.length === 0 || positionals.includes(name)
const chosen = values.peers.split(',').map((name) => {
  const peer = peers.find((each) => each.name === name)
  if (peer === undefined) {
    process.stderr.write(
      `There is no peer ${name}; expected one of ${peers.map((each) => each.name).join(', ')}.\n`,
    )
    process.exit(2)
  }
  return peer
})
const works = values.open
  .split(',')
  .flatMap((open, at) =>
    worksOf(values.quick, Number(open)).filter(({ name }) => at === 0 || name === 'streams'),
  )
  .filter(({ name }) => wanted(name))

const programOf = (at: Installed): string | null => ('missing' in at ? null : at.program)

const parts = new Map<string, string>()
/** Prints a part, which `--out` writes. */
const print = (part: string, text: string) => {
  parts.set(part, text)
  process.stdout.write(`${text}\n\n`)
}
const words = process.argv.slice(2).join(' ')
const played = `Played on ${new Date().toISOString().slice(0, 10)} on ${cpus().length} cores of ${cpus()[0]?.model ?? 'unknown kind'}, Linux ${release()},
Node ${process.versions.node}, by \`npm run peers${words === '' ? '' : ` -- ${words}`}\`.`
const installed = new Map(chosen.map((peer) => [peer, install(peer.from, join(home, peer.name))]))

const versions = markdown(['tool', 'from', 'version'], chosen.map(versionRow))
if (chosen.length === peers.length) print('tools', versions)
else process.stdout.write(`${versions}\n`)

const goServer = buildServer()
for (const work of works) await play(work)
if (wanted('start')) await starts()
if (values.out !== undefined) {
  const before = existsSync(values.out)
    ? readFileSync(values.out, 'utf8')
    : '# Compared with other tools\n'
  writeFileSync(values.out, withParts(before, parts))
}

function versionRow(peer: Peer): string[] {
  const at = installed.get(peer)!
  if ('missing' in at) return [peer.name, peer.from.registry, at.missing]
  const { stdout } = spawnSync(peer.version[0]!, peer.version.slice(1), {
    cwd: at.folder,
    env: { ...process.env, PATH: `${resolve(at.folder)}:${process.env.PATH}` },
    encoding: 'utf8',
  })
  const version = /\d+\.\d+[\w.-]*/.exec(stdout ?? '')?.[0] ?? 'unknown'
  return [peer.name, peer.from.registry, version]
}

/** The Go server, built once; without Go only the works of nginx are played. */
function buildServer(): string | null {
  if (!has('go')) {
    process.stderr.write('Go is not installed, so streams, open and stall are not played.\n')
    return null
  }
  mkdirSync(home, { recursive: true })
  const program = join(home, 'server')
  const source = fileURLToPath(new URL('server', import.meta.url))
  const { status, stderr } = spawnSync('go', ['build', '-o', program, '.'], {
    cwd: source,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the server was not built: ${stderr}`)
  return program
}

async function play(work: Work): Promise<void> {
  if (work.server !== null && goServer === null) return
  const players = chosen.flatMap((peer) => {
    const program = programOf(installed.get(peer)!)
    return program === null || !peer.works.includes(work.name) ? [] : [{ peer, program }]
  })
  const trials = new Map<string, Trial[]>()
  const failed: string[] = []
  for (let round = 0; round < rounds; round++) {
    for (const { peer, program } of players) {
      const server = await serverOf(work, goServer!)
      process.stderr.write(`${work.name} ${round + 1}/${rounds} ${peer.name} …\n`)
      try {
        const done = await trial(peer, program, work, server)
        trials.set(peer.name, [...(trials.get(peer.name) ?? []), done])
      } catch (error) {
        failed.push(
          `- ${peer.name}, round ${round + 1}: ${(error as Error).message.replace(/\s+/g, ' ')}`,
        )
      } finally {
        server.stop()
      }
    }
  }
  const table = tableOf(
    work,
    [...trials].map(([name, all]) => ({ name, trials: all })),
  )
  const heading = `## ${work.name}: ${work.title}`
  print(
    `${work.name}: ${work.title}`,
    [heading, table.trim(), ...failures(failed), played].join('\n\n'),
  )
}

function failures(lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [lines.join('\n')]
}

/** What \`--help\` costs. */
async function starts(): Promise<void> {
  const rows = chosen.flatMap((peer) => {
    const program = programOf(installed.get(peer)!)
    if (program === null || !peer.works.includes('start')) return []
    const command =
      peer.from.registry === 'here' ? [process.execPath, program, '--help'] : [program, '--help']
    const runs = Array.from({ length: Math.max(5, rounds) }, () => {
      const began = performance.now()
      const [file, args] = timed(clientCore, command)
      const { stdout } = spawnSync(file, args, { encoding: 'utf8' })
      return {
        wallS: (performance.now() - began) / 1000,
        cpuS: cpuSeconds(stdout.trimEnd().split('\n').at(-1)!),
      }
    })
    return [
      [
        peer.name,
        median(runs.map(({ wallS }) => wallS)).toFixed(2),
        median(runs.map(({ cpuS }) => cpuS)).toFixed(2),
      ],
    ]
  })
  const table = markdown(['tool', 's', 'CPU s'], rows)
  print('start', ['## start: `--help`', table.trim(), played].join('\n\n'))
}
