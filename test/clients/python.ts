import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The Python of a folder of tests: an environment of its own, with the packages of its `requirements.txt`. */
export const pythonOf = (folder: string) => join(folder, '.python/bin/python')

export const hasPython = (folder: string) => existsSync(join(folder, '.python/installed'))

/** Installs what is missing, from PyPI. @param maker the Python that makes the environment */
export function installPython(folder: string, maker = 'python3'): void {
  if (hasPython(folder)) return
  const run = (command: string, ...more: string[]) =>
    execFileSync(command, more, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  run(maker, '-m', 'venv', '.python')
  run(pythonOf(folder), '-m', 'pip', 'install', '--quiet', '-r', 'requirements.txt')
  run('touch', '.python/installed')
}
