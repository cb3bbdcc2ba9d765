import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'

const here = import.meta.dirname
/** The Python of the clients' own environment. */
export const python = join(here, '.python/bin/python')

export const hasNodeClients = () => existsSync(join(here, 'node_modules/.package-lock.json'))
export const hasPythonClients = () => existsSync(join(here, '.python/installed'))

/** Installs what is missing, from the package registries. Some 700 MB. */
export function install(): void {
  const run = (command: string, ...more: string[]) =>
    execFileSync(command, more, { cwd: here, stdio: ['ignore', 'ignore', 'inherit'] })
  if (!hasNodeClients()) run('npm', 'ci', '--no-audit', '--no-fund')
  if (hasPythonClients()) return
  run('python3', '-m', 'venv', '.python')
  run(python, '-m', 'pip', 'install', '--quiet', '-r', 'requirements.txt')
  run('touch', '.python/installed')
}

if (argv[1] === import.meta.filename) install()
