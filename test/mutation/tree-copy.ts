import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../nearest.ts'

/** A copy of the tree, in which a change hurts nobody. It goes when the process ends. */
export const copy = mkdtempSync(join(tmpdir(), 'assay-mutants-'))
for (const name of [
  'src',
  'test',
  'bench',
  'reference',
  'contracts',
  'reports',
  'scenarios',
  'docs',
  'bundle.ts',
  'bundle-parts.ts',
  'bundled.json',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'vitest.config.ts',
  'README.md',
]) {
  cpSync(join(root, name), join(copy, name), { recursive: true })
}
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
/** The running tests, in their own process group. */
let running: number | null = null
process.on('exit', () => {
  if (running !== null) process.kill(-running, 'SIGKILL')
  rmSync(copy, { recursive: true, force: true })
})
process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))

/** Whether tests pass in the copy; `endless` if they do not end within some seconds. @param args files and options of Vitest */
export async function judged(
  args: readonly string[],
  mostS = 300,
): Promise<'held' | 'red' | 'endless'> {
  const run = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--bail=1', '--maxWorkers=1', ...args],
    { cwd: copy, stdio: 'ignore', detached: true },
  )
  running = run.pid!
  const ended = once(run, 'close')
  const timer = setTimeout(() => process.kill(-run.pid!, 'SIGKILL'), mostS * 1000)
  const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null]
  clearTimeout(timer)
  running = null
  if (signal === 'SIGKILL') return 'endless'
  return code === 0 ? 'held' : 'red'
}
