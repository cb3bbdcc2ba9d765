import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

/** Bytes of all files below a folder. */
export function bytesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0)
}

/**
 * Compiles a program that imports each entry of the package, in a folder where it is installed without optional packages: strict,
 * and with the declarations of every library checked. Returns the errors, empty if there is none.
 */
export function strictErrors(folder: string): string {
  const { exports } = manifest()
  const entries = Object.keys(exports).map((path) => path.replace(/^\./, 'assay'))
  const imports = entries.map((entry, at) => `export * as entry${at} from '${entry}'\n`)
  writeFileSync(join(folder, 'all-entries.ts'), imports.join(''))
  return strictErrorsOf(folder, ['all-entries.ts'])
}

/** Compiles programs of a folder in the same way. */
export function strictErrorsOf(
  folder: string,
  files: readonly string[],
  lib: readonly string[] = ['es2024'],
): string {
  const types = `@types/node@${manifest().devDependencies['@types/node']}`
  execFileSync('npm', ['install', '--no-save', types], { cwd: folder, stdio: 'ignore' })
  const compilerOptions = {
    ...{ target: 'es2024', lib, module: 'nodenext', types: ['node'] },
    ...{ strict: true, skipLibCheck: false, noEmit: true },
  }
  const project = join(folder, 'tsconfig.json')
  writeFileSync(project, JSON.stringify({ compilerOptions, files }))
  return spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', project], { encoding: 'utf8' })
    .stdout
}

interface Manifest {
  readonly exports: Readonly<Record<string, unknown>>
  readonly devDependencies: Readonly<Record<string, string>>
}

const manifest = () => JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
