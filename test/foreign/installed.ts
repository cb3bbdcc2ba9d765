import { execFileSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Before the tests: installs the packages of this folder if they are missing or from another lock
 * file.
 */
export default function setup(): void {
  const changedMs = (file: string) => statSync(join(import.meta.dirname, file)).mtimeMs
  const installed = 'node_modules/.package-lock.json'
  const isThere = existsSync(join(import.meta.dirname, installed))
  if (isThere && changedMs(installed) >= changedMs('package-lock.json')) return
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
