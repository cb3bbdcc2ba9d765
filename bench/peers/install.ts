import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { has } from '../processes.ts'

/** Where a peer comes from, and where its program then is in a folder of its own. */
export type Place =
  | { readonly registry: 'here'; readonly program: string }
  | {
      readonly registry: 'Debian' | 'Go' | 'crates.io' | 'npm' | 'PyPI'
      readonly names: readonly string[]
      readonly program: string
      /** Of PyPI: the version of Python that it needs, where that is not the machine's own. */
      readonly python?: string
    }

/** A program that is there, or the reason why it is not. */
export type Installed =
  | { readonly program: string; readonly folder: string }
  | { readonly missing: string }

/** Longer than a build of a peer from source takes. */
const limitMs = 20 * 60_000

/** Installs what is not in the folder yet. */
export function install(place: Place, folder: string): Installed {
  if (place.registry === 'here') return { program: place.program, folder: '.' }
  mkdirSync(folder, { recursive: true })
  if (place.registry === 'Debian') {
    if (has(place.program)) return { program: place.program, folder }
    return { missing: `install it: apt-get install ${place.names.join(' ')}` }
  }
  const program = join(folder, place.program)
  if (existsSync(program)) return { program, folder }
  const { command, env } = installer(place, folder)
  process.stderr.write(`installing ${place.names.join(' ')} …\n`)
  const { status, stderr, error } = spawnSync('sh', ['-c', command], {
    cwd: folder,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    timeout: limitMs,
  })
  if (existsSync(program)) return { program, folder }
  const last = error?.message ?? stderr.trim().split('\n').at(-1) ?? ''
  return {
    missing: `${place.registry} gave no ${place.program} (${status}): ${last.slice(0, 200)}`,
  }
}

function installer(place: Exclude<Place, { registry: 'here' }>, folder: string) {
  const names = place.names.join(' ')
  switch (place.registry) {
    case 'Go':
      return { command: `go install ${names}`, env: { GOBIN: folder } }
    case 'crates.io':
      return { command: `cargo install ${names} --locked --root . && cp bin/* .`, env: {} }
    case 'npm':
      return { command: `npm install --no-audit --no-fund --prefix . ${names}`, env: {} }
    case 'PyPI':
      return {
        command: `python${place.python ?? '3'} -m venv . && bin/pip install --quiet ${names}`,
        // pyenv takes a whole version number alone.
        env: place.python === undefined ? {} : pyenv(place.python),
      }
    case 'Debian':
      throw new Error('Debian installs by hand')
  }
}

function pyenv(version: string): Readonly<Record<string, string>> {
  const { stdout } = spawnSync('pyenv', ['latest', version], { encoding: 'utf8' })
  return stdout ? { PYENV_VERSION: stdout.trim() } : {}
}
