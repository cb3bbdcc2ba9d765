import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'
import { hasPython, installPython, pythonOf } from './python.ts'

const here = import.meta.dirname
/** The Python of the clients' own environment. */
export const python = pythonOf(here)

export const hasNodeClients = () => existsSync(join(here, 'node_modules/.package-lock.json'))
export const hasPythonClients = () => hasPython(here)

/** Installs what is missing, from the package registries. Some 700 MB. */
export function install(): void {
  if (!hasNodeClients()) {
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], {
      cwd: here,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  }
  installPython(here)
}

if (argv[1] === import.meta.filename) install()
